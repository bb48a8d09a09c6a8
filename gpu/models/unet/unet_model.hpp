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

/// A model of Stable Diffusion: one or two text encoders and a U-Net.
/// A condition has the context and, where the denoiser takes it, the pooled
/// text.
class unet_model final : public model {
public:
  /// Errors: those of the parts.
  static core::result<std::shared_ptr<const unet_model>> load(
    const model_files& from, const placement& where);

  const unet& net() const override {
    return *unet_;
  }

  /// An empty `negative` is embedded as zeros where the model asks for that.
  condition encode(std::string_view asked, bool negative) const override;
  pass_inputs make_inputs(const pass_key& key) const override;
  void write(const condition& from, const core::recipe& how, bool negative,
             int64_t place, pass_inputs& to) const override;
  bool embeds_guidance() const override;
  uint64_t weight_bytes() const override;

  /// Whether the denoiser takes more than text: sizes, or guidance.
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

/// The family's loader.
core::result<std::shared_ptr<const model>> load_unet_model(
  const model_files& from, const placement& where);

} // namespace atelier::gpu
