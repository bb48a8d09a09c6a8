// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace atelier::test {

/// Scales the full count `n` of repetitions to a number that this run can
/// afford. ATELIER_TEST_SCALE, a number in (0, 1], is the factor; if unset, it
/// is 0.01, and 1 means the full count. The result is at least 1 and at most
/// `n`, and 0 for 0.
/// Errors:  a value outside (0, 1] ends the process with status 2.
/// Threads: any.
[[nodiscard]] std::size_t scaled(std::size_t n);

} // namespace atelier::test
