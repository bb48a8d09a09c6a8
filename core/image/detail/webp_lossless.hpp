// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/detail/bytes.hpp>
#include <atelier/core/shape.hpp>

#include <cstdint>
#include <optional>

namespace atelier::image::detail {

/// Returns the most bytes that libwebp needs in addition to its result to
/// decode a lossless stream: for colours, sub-images, and a table for each
/// group of codes. A stream of a few hundred kilobytes can name 65,536 groups,
/// each of which needs more than ten kilobytes. Reads the stream up to its
/// pixels; returns nothing if it is broken before them.
/// @param stream starts after the width and height, as in an ALPH chunk
/// Source: the specification of WebP's lossless bitstream, sections 3 to 5.
std::optional<uint64_t> lossless_working_bytes(bytes_view stream,
                                               core::extent px);

} // namespace atelier::image::detail
