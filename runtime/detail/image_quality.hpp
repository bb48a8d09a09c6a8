// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace atelier::runtime::detail {

/// Returns the correlation of two images' values, 0..1; a negative one counts
/// as 0. Images of one value each are alike only if they are equal.
/// @pre both have the same size
double likeness(std::span<const uint8_t> a, std::span<const uint8_t> b);

/// A measure of the quality of images.
struct image_quality {
  /// scorer_measure or likeness_measure.
  std::string_view name;
  /// Returns the quality of an image of a prompt, given the image of the
  /// prompt's full run.
  std::function<core::result<double>(std::span<const uint8_t> rgb,
                                     std::span<const uint8_t> full,
                                     core::extent px, std::string_view prompt)>
    of;
};

/// Returns the measure for a model: the scorer in the folder of the judges if
/// the model draws captions of scenes and the folder has one, otherwise the
/// likeness to the full run.
/// Errors: those of gpu::load_image_scorer.
core::result<image_quality> quality_for(const config::settings& settings,
                                        bool draws_scenes);

} // namespace atelier::runtime::detail
