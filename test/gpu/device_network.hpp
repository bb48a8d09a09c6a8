// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/extensions.hpp>

namespace atelier::test {

/// A stage of a host's that softens each image by a small network on the
/// device: each pixel becomes the mean of itself and its eight neighbours,
/// black beyond the edges. It notes where its network is.
host_stage softening();

} // namespace atelier::test
