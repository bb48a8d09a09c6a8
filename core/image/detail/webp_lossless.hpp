// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/detail/bytes.hpp>
#include <atelier/core/shape.hpp>

#include <cstdint>
#include <optional>

namespace atelier::image::detail {

/// Returns the bytes that libwebp takes at most beside its result to decode a
/// lossless stream: colours, sub-images, and a table for each group of codes. A
/// stream of a few hundred kilobytes can name 65,536 groups, of which each
/// takes more than ten. Reads the stream up to its pixels; nothing where it is
/// broken before.
/// @param stream behind the width and height, as in a chunk ALPH
/// Source: the specification of WebP's lossless bitstream, sections 3 to 5.
std::optional<uint64_t> lossless_working_bytes(bytes_view stream,
                                               core::extent px);

} // namespace atelier::image::detail
