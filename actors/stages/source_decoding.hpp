// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the files that requests bring become pixels: alike for every stage.

#include <atelier/core/error.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/pixels.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace atelier::actors {

/// Returns the error of work on a request's file: `why` with the field's name,
/// and where `most` gave the work up, with the option that did.
core::error source_error(std::string_view field, const core::error& why,
                         const image::decode_limits& most);

/// Decodes a file as it is meant to be looked at: turned upright, without its
/// transparency.
/// @param field of the request, for messages
/// Errors: as image::decode_colours, which name the field.
/// Threads: any.
core::result<image::picture> decode_upright_source(
  std::string_view field, std::span<const uint8_t> file,
  const image::decode_limits& most);

/// Does the same, and scales the picture to `px`; `was` is its own size.
/// Errors: also those of image::resize.
/// Threads: any.
core::result<image::picture> decode_source(std::string_view field,
                                           std::span<const uint8_t> file,
                                           const image::decode_limits& most,
                                           core::extent px, core::extent& was);

} // namespace atelier::actors
