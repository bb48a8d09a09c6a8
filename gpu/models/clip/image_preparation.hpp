// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/geometry.hpp>
#include <atelier/core/image/pixels.hpp>
#include <atelier/core/result.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// How an image becomes the input of an image tower: it is scaled, its centre
/// is cut out, and its colours are shifted and divided.
struct image_preparation {
  /// Pixels of a side of the input.
  uint32_t side = 224;
  /// The shorter side after scaling, at least `side`; empty: the image is
  /// scaled to the input, regardless of its proportions.
  std::optional<uint32_t> shortest = 224;
  image::scaling_filter filter = image::scaling_filter::bicubic;
  /// A byte is multiplied by `factor`; then `mean` is subtracted and the
  /// difference divided by `deviation`, for each of R, G and B.
  double factor = 1.0 / 255;
  std::array<double, 3> mean{0.48145466, 0.4578275, 0.40821073};
  std::array<double, 3> deviation{0.26862954, 0.26130258, 0.27577711};
};

/// Reads a CLIP model's preprocessor_config.json as transformers 4 and 5 write
/// it. Missing keys have the defaults of transformers 5.
/// @param file for messages
/// @param side the tower's image_size
/// Errors: ec::bad_config: an input of another size than the tower's, images
///         that are not scaled, or a key that is not supported; the text names
///         the file, the key and its value.
/// Threads: any.
/// Source: transformers, models/clip/image_processing_pil_clip.py.
core::result<image_preparation> read_image_preparation(std::string_view text,
                                                       const std::string& file,
                                                       uint32_t side);

/// Returns the input for an image: [3, side, side].
/// @param from three channels
/// Errors: ec::invalid_argument: the bytes do not fit the extent, or one side
///         of the image is so much longer that the scaled image is too large;
///         ec::out_of_resources.
/// Threads: any.
/// Source: as read_image_preparation; scaling is that of Pillow.
core::result<std::vector<float>> prepared(const image_preparation& by,
                                          const image::pixel_view& from);

} // namespace atelier::gpu
