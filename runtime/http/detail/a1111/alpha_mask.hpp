// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace atelier::runtime::http::detail {

/// Converts a mask that is transparent where the image is to be edited, as
/// OpenAI's clients send it, into a PNG that is white there. Half transparent
/// counts as transparent. A mask with more pixels than an image may have is
/// reduced by an integer factor.
/// @param stop is polled during the work; true cancels it
/// Errors: ec::bad_payload if the file is not an image or has no transparency;
///         ec::out_of_resources.
core::result<std::vector<uint8_t>> white_mask_of(
  std::span<const uint8_t> file, const core::limits& within,
  const std::function<bool()>& stop = {});

/// Returns the same mask of an image that is edited without a mask of its own:
/// white where the image is transparent. Returns no bytes if it is opaque.
/// @param stop is polled during the work; true cancels it
/// Errors: ec::bad_payload if the file is not an image; ec::out_of_resources.
core::result<std::vector<uint8_t>> mask_within_image(
  std::span<const uint8_t> file, const core::limits& within,
  const std::function<bool()>& stop = {});

} // namespace atelier::runtime::http::detail
