// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/clip/clip_encoder.hpp>
#include <atelier/gpu/models/model.hpp>
#include <atelier/gpu/models/unet/unet.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// A Stable Diffusion model: one or two text encoders and a U-Net. A condition
/// has the context and, if the denoiser uses it, the pooled text.
class unet_model final : public model {
public:
  /// Errors: those of the parts.
  static core::result<std::shared_ptr<const unet_model>> load(
    const model_files& from, const placement& where);

  const unet& net() const override {
    return *unet_;
  }

  /// An empty `negative` is embedded as zeros if the model requires it.
  condition encode(const prompt_text& asked) const override;
  pass_inputs make_inputs(const pass_key& key) const override;
  void write(const condition& from, const core::recipe& how, bool negative,
             int64_t place, pass_inputs& to) const override;
  bool embeds_guidance() const override;
  uint64_t weight_bytes() const override;

  /// Returns whether the denoiser also takes sizes or guidance.
  bool takes_more_than_text() const;

private:
  unet_model() = default;

  /// Returns the micro-conditioning of an image of `px`: 5 or 6 numbers.
  /// Source: diffusers, StableDiffusionXLPipeline._get_add_time_ids; the
  ///         refiner's aesthetic scores 6 and 2.5.
  std::vector<float> time_ids(core::extent px, bool negative) const;

  const model_pipeline* pipeline_ = nullptr;
  bool zeros_for_empty_ = false;
  bool aesthetic_ = false;
  std::unique_ptr<clip_encoder> text_;
  std::unique_ptr<clip_encoder> text_2_;
  std::unique_ptr<unet> unet_;
};

/// Loads a model of the family.
core::result<std::shared_ptr<const model>> load_unet_model(
  const model_files& from, const placement& where);

} // namespace atelier::gpu
