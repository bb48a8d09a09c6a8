// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/judge/discriminator_net.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <torch/torch.h>

#include <filesystem>
#include <memory>
#include <string_view>

namespace atelier::gpu {

/// Runs the family's discriminator, which returns the confidence that an image
/// is a good one for its prompt.
/// Source: DiffServe, section 3.2, whose gate accepts a light model's image if
///         its confidence is high enough.
/// Threads: one at a time.
class image_judge {
public:
  /// Opens a folder that `atelier train export` wrote for the discriminator.
  /// Errors: ec::not_found, ec::bad_payload (a file of another network).
  static core::result<std::shared_ptr<image_judge>> load(
    const std::filesystem::path& folder, torch::Device where);

  /// Returns a confidence in 0..1. Throws c10::Error.
  /// `pixels`: [3, h, w], 0..255; scaled if their size is not the network's.
  double score(const torch::Tensor& pixels, std::string_view prompt) const;

private:
  image_judge(std::shared_ptr<const tokenizer> words,
              std::shared_ptr<discriminator_net> network, torch::Device where);

  std::shared_ptr<const tokenizer> words_;
  std::shared_ptr<discriminator_net> network_;
  torch::Device where_;
};

} // namespace atelier::gpu
