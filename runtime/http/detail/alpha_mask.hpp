// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace atelier::runtime::http::detail {

/// Turns a mask that is transparent where the picture is to be edited, as
/// OpenAI's clients send it, into one that is white there (a PNG). Half
/// transparent counts as transparent. One with more pixels than a picture can
/// have is made smaller by a whole factor.
/// @param stop asked again and again; true gives the work up
/// Errors: ec::bad_payload if it is no image, or has no transparency;
///         ec::out_of_resources.
core::result<std::vector<uint8_t>> white_mask_of(
  std::span<const uint8_t> file, const core::limits& within,
  const std::function<bool()>& stop = {});

} // namespace atelier::runtime::http::detail
