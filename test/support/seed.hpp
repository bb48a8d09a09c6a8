// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::test {

/// Returns this run's seed for generated cases. It is ATELIER_TEST_SEED, or a
/// number drawn once per process. The first call prints it to standard error,
/// so that a failure can be repeated.
/// Errors:  a value that is not an unsigned 64-bit number ends the process with
///          status 2.
/// Threads: any.
[[nodiscard]] std::uint64_t seed();

} // namespace atelier::test
