// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace atelier::gpu {

/// Says how well an image fits its prompt.
/// Source: CLIPScore (arXiv:2104.08718), without its factor.
/// Threads: one at a time.
class image_scorer {
public:
  virtual ~image_scorer() = default;

  /// Returns the cosine of the angle between the vectors of the image and of
  /// the prompt, -1..1. An image of another size than the network's is scaled.
  /// `rgb`: [height, width, 3].
  /// Errors: ec::out_of_resources, ec::internal.
  virtual core::result<double> score(std::span<const uint8_t> rgb,
                                     core::extent px,
                                     std::string_view prompt) const = 0;
};

/// Opens the scorer of the shipped family, or one that `atelier train export`
/// wrote. It runs on the CPU in float32. Available only in builds with models.
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload (a file of another
///         network).
/// Threads: any.
core::result<std::shared_ptr<const image_scorer>> load_image_scorer(
  const std::filesystem::path& folder);

} // namespace atelier::gpu
