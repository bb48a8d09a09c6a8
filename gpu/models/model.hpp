// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/gpu/models/denoiser.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/placement.hpp>
#include <atelier/gpu/models/vae/autoencoder.hpp>
#include <atelier/gpu/models/vae/latent_preview.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// What a denoiser takes of one text.
struct condition {
  /// [1, ...] each, in the model's type; which is which is the family's
  /// business. Empty: there is none.
  std::vector<torch::Tensor> tensors;
  /// Of the text as the denoiser takes it.
  int64_t tokens = 0;
  /// Tokens of the text that the encoders could not take.
  uint32_t left_out = 0;
  /// What the model does not do of the text; none where it does not say what
  /// it knows.
  std::vector<core::note> notes;
};

/// All networks of one model in one place, put together as its pipeline in
/// diffusers does. What is different from family to family is virtual.
/// Threads: one at a time; records no autograd state.
class model {
public:
  virtual ~model();
  model(const model&) = delete;
  model& operator=(const model&) = delete;

  virtual const denoiser& net() const = 0;

  /// Encodes what the model takes of a text (text_to_encode).
  /// Throws c10::Error.
  virtual condition encode(std::string_view asked, bool negative) const = 0;

  /// Makes inputs for passes of that key; their values are left open.
  virtual pass_inputs make_inputs(const pass_key& key) const = 0;

  /// Writes what a place's passes have in common: the text's condition, and
  /// what the denoiser takes of the request besides. `sample` and `timestep`,
  /// which each step changes, stay as they are.
  virtual void write(const condition& from, const core::recipe& how,
                     bool negative, int64_t place, pass_inputs& to) const = 0;

  /// Whether guidance goes in as an embedding, so that nothing is computed
  /// twice.
  virtual bool embeds_guidance() const {
    return false;
  }

  /// Returns whether it draws images of that size, whose sides are multiples of
  /// core::limits' already.
  /// Errors: ec::invalid_argument.
  virtual core::result<void> accepts(core::extent) const {
    return {};
  }

  /// Bytes that all weights take on the device.
  virtual uint64_t weight_bytes() const;

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

  /// Returns what of a text the encoders get, and adds what the model does not
  /// do of it.
  std::string text_of(std::string_view asked, bool negative,
                      std::vector<core::note>& notes) const;

protected:
  model() = default;

  /// Makes the sample and the timesteps of a pass, and room for so many
  /// conditions.
  pass_inputs make_common_inputs(const pass_key& key, size_t conditions) const;

  /// Makes a condition of that shape in the model's type on its device.
  torch::Tensor make_condition(torch::IntArrayRef shape) const;

  /// Loads what every family has: autoencoders, schedule, traits.
  /// Errors: those of the parts.
  core::result<void> load_common(const model_files& from,
                                 const placement& where);

private:
  placement where_;
  scheduler_config schedule_;
  known_words words_;
  model_traits traits_;
  core::extent native_px_;
  std::unique_ptr<autoencoder> vae_;
  /// Null where the model has none.
  std::unique_ptr<autoencoder> preview_vae_;
  mutable std::unique_ptr<latent_preview> preview_;
};

/// Loads a model by its family.
/// Errors: those of the parts.
core::result<std::shared_ptr<const model>> load_model(const model_files& from,
                                                      const placement& where);

} // namespace atelier::gpu
