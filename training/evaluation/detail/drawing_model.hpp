// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/unet/unet_model.hpp>
#include <atelier/gpu/samplers/run.hpp>
#include <atelier/training/evaluation/evaluation.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Prompts that are drawn together.
struct drawn_batch {
  std::vector<std::string> prompts;
  /// [n, c, h, w], on the CPU: standard normal.
  torch::Tensor noise;
  /// Numbers of the pictures, for the fresh noise of samplers that draw some.
  std::vector<uint64_t> numbers;
};

/// How a batch is drawn.
struct drawn_how {
  uint32_t steps = 0;
  float guidance = 1;
  core::sampler sampler = core::sampler::ddim;
  /// Steps left out: `noise` is what the one before them left.
  uint32_t first = 0;
  /// Told of what each step leaves; may be empty.
  std::function<void(size_t, const torch::Tensor&)> told = {};
};

/// A model as it is served, for evaluation.
/// Threads: one at a time; records no autograd state.
class drawing_model {
public:
  /// Errors: those of open_model and unet_model; ec::invalid_argument
  /// where the denoiser wants more than a text.
  static core::result<drawing_model> load(const std::filesystem::path& folder,
                                          torch::Device where);

  /// Plans a run.
  /// Errors: ec::invalid_argument.
  core::result<sampler_plan> plan(uint32_t steps, core::sampler with) const;

  /// Returns the last latents, float32; adds the time to `took`.
  /// Throws model_error.
  torch::Tensor draw(const drawn_batch& what, const drawn_how& how,
                     picture_times& took) const;

  /// Returns pictures [n, 3, side, side] in about -1..1, on the CPU.
  torch::Tensor decode(const torch::Tensor& latents, picture_times& took) const;

  /// Shape of the noise of one picture of the family's size: [1, c, h, w].
  std::vector<int64_t> latent_shape() const;

  const unet_model& of() const {
    return *model_;
  }

private:
  drawing_model(std::shared_ptr<const unet_model> model, torch::Device where)
    : model_(std::move(model)), where_(where) {}

  std::shared_ptr<const unet_model> model_;
  torch::Device where_;
};

} // namespace atelier::gpu::detail
