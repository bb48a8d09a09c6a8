// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/gpu/models/clip/clip_text.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/placement.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>
#include <atelier/gpu/models/unet/unet.hpp>
#include <atelier/gpu/models/vae/autoencoder.hpp>
#include <atelier/gpu/models/vae/latent_preview.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// What the denoiser takes of one text.
struct text_condition {
  /// [1, tokens, cross_attention_dim], in the model's type.
  torch::Tensor context;
  /// [1, p]; undefined where the denoiser takes none.
  torch::Tensor pooled;
  /// Tokens of the text that the encoders could not take.
  uint32_t left_out = 0;
  /// What the model does not do of the text; none where it does not say what
  /// it knows.
  std::vector<core::note> notes;
};

/// All networks of one model in one place, put together as its pipeline in
/// diffusers does.
/// Threads: one at a time; records no autograd state.
class diffusion_model {
public:
  /// Errors: those of the parts.
  static core::result<std::shared_ptr<diffusion_model>> load(
    const model_files& from, const placement& where);

  /// Encodes what the model takes of a text (text_to_encode). An empty
  /// `negative` is embedded as zeros where the model asks for that.
  text_condition encode(std::string_view asked, bool negative) const;

  /// Returns the micro-conditioning of a picture of `px`, [1, 5 or 6];
  /// undefined where the denoiser takes none.
  /// Source: diffusers, StableDiffusionXLPipeline._get_add_time_ids; the
  ///         refiner's aesthetic scores 6 and 2.5.
  torch::Tensor time_ids(core::extent px, bool negative) const;

  /// Whether guidance goes in as an embedding, so that nothing is computed
  /// twice.
  bool embeds_guidance() const;

  const unet& denoiser() const {
    return *unet_;
  }

  const autoencoder& vae() const {
    return *vae_;
  }

  /// What draws previews; made at the first call, which may take as long as a
  /// small decoding.
  const latent_preview& preview() const;

  const scheduler_config& schedule() const {
    return schedule_;
  }

  const placement& where() const {
    return where_;
  }

  /// The size of images that the denoiser was made for.
  core::extent native_px() const {
    return native_px_;
  }

  /// How it wants to be used.
  const model_traits& traits() const {
    return traits_;
  }

  /// Bytes that all weights take on the device.
  uint64_t weight_bytes() const;

private:
  diffusion_model() = default;

  placement where_;
  pipeline_kind kind_ = pipeline_kind::stable_diffusion;
  bool zeros_for_empty_ = false;
  bool aesthetic_ = false;
  scheduler_config schedule_;
  known_words words_;
  model_traits traits_;
  core::extent native_px_;
  std::shared_ptr<const tokenizer> tokenizer_;
  std::shared_ptr<const tokenizer> tokenizer_2_;
  std::unique_ptr<clip_text> text_;
  std::unique_ptr<clip_text> text_2_;
  std::unique_ptr<unet> unet_;
  std::unique_ptr<autoencoder> vae_;
  /// Null where the model has none.
  std::unique_ptr<autoencoder> preview_vae_;
  mutable std::unique_ptr<latent_preview> preview_;
};

} // namespace atelier::gpu
