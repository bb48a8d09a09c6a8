// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/unet/unet_model.hpp>
#include <atelier/training/evaluation/evaluation.hpp>
#include <atelier/training/loops/sampler_run.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Prompts drawn together.
struct drawn_batch {
  std::vector<std::string> prompts;
  /// [n, c, h, w], on the CPU: standard normal, or the latents to resume from
  /// if drawn_how::first is above 0.
  torch::Tensor noise;
  /// Numbers of the images, which seed the noise that some samplers draw in
  /// each step.
  std::vector<uint64_t> numbers;
};

/// Settings for drawing a batch.
struct drawn_how {
  uint32_t steps = 0;
  float guidance = 1;
  core::sampler sampler = core::sampler::ddim;
  /// Number of steps to skip. If above 0, drawn_batch::noise holds the latents
  /// after the last skipped step.
  uint32_t first = 0;
  /// Is called with each step's number and the latents after it; may be empty.
  std::function<void(size_t, const torch::Tensor&)> told = {};
};

/// Draws with a model as it is served, for evaluation. Records no autograd
/// state.
/// Threads: one at a time.
class drawing_model {
public:
  /// Errors: those of open_model and unet_model; ec::invalid_argument if the
  ///         denoiser needs more input than a text.
  static core::result<drawing_model> load(const std::filesystem::path& folder,
                                          torch::Device where);

  /// Plans a run.
  /// Errors: ec::invalid_argument.
  core::result<sampler_plan> plan(uint32_t steps, core::sampler with) const;

  /// Returns the last latents, float32, and adds the time to `took`.
  /// Throws model_error.
  torch::Tensor draw(const drawn_batch& what, const drawn_how& how,
                     image_times& took) const;

  /// Returns images [n, 3, side, side] in about -1..1, on the CPU, and adds
  /// the time to `took`.
  torch::Tensor decode(const torch::Tensor& latents, image_times& took) const;

  /// Returns the shape of the noise for one image of the family's size:
  /// [1, c, h, w].
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
