// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/gpu/models/denoiser.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/layers/placement.hpp>
#include <atelier/gpu/models/tokenizer/prompt_text.hpp>
#include <atelier/gpu/models/vae/autoencoder.hpp>
#include <atelier/gpu/models/vae/latent_preview.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace atelier::gpu {

/// A denoiser's inputs for one text.
struct condition {
  /// Tensors of shape [1, ...] in the model's type, in an order defined by the
  /// family. Empty: no condition.
  std::vector<torch::Tensor> tensors;
  /// Tokens of the text in the denoiser's input.
  int64_t tokens = 0;
  /// Tokens of the text that did not fit the encoders.
  uint32_t left_out = 0;
  /// Notes on parts of the text that the model ignores; empty if it does not
  /// state what it knows.
  std::vector<core::note> notes;
};

/// All networks of one model in one placement, combined as in its diffusers
/// pipeline. Family-specific behaviour is virtual.
/// Threads: one at a time; records no autograd state.
class model {
public:
  virtual ~model();
  model(const model&) = delete;
  model& operator=(const model&) = delete;

  virtual const denoiser& net() const = 0;

  /// Encodes the part of a text that the model uses (text_to_encode). Throws
  /// c10::Error, and model_error (ec::invalid_argument) if the text cannot be
  /// encoded in the way requested.
  virtual condition encode(const prompt_text& asked) const = 0;

  /// Creates inputs for passes of that key, with undefined values.
  virtual pass_inputs make_inputs(const pass_key& key) const = 0;

  /// Writes the inputs that a place's passes share: the text's condition, and
  /// other inputs of the denoiser from the request. `sample` and `timestep`,
  /// which each step changes, are not written.
  virtual void write(const condition& from, const core::recipe& how,
                     bool negative, int64_t place, pass_inputs& to) const = 0;

  /// Returns whether guidance is an embedding, so that no second prediction is
  /// computed.
  virtual bool embeds_guidance() const {
    return false;
  }

  /// Checks whether it draws images of that size, whose sides are already
  /// multiples required by core::limits.
  /// Errors: ec::invalid_argument.
  virtual core::result<void> accepts(core::extent) const {
    return {};
  }

  /// Returns the bytes of all weights on the device.
  virtual uint64_t weight_bytes() const;

  const autoencoder& vae() const {
    return *vae_;
  }

  /// Returns the preview decoder. The first call creates it, which may take as
  /// long as a small decoding.
  const latent_preview& preview() const;

  const scheduler_config& schedule() const {
    return schedule_;
  }

  const placement& where() const {
    return where_;
  }

  /// Returns the image size that the denoiser was made for.
  core::extent native_px() const {
    return native_px_;
  }

  /// Returns its recommended use.
  const model_traits& traits() const {
    return traits_;
  }

  /// Returns the part of a text that the encoders receive, and adds notes on
  /// what the model ignores. A model that lists its words ignores their
  /// weights: its text is plain.
  prompt_text text_of(const prompt_text& asked,
                      std::vector<core::note>& notes) const;

protected:
  model() = default;

  /// Creates the sample and the timesteps of a pass, and slots for this many
  /// conditions.
  pass_inputs make_common_inputs(const pass_key& key, size_t conditions) const;

  /// Creates a condition of that shape in the model's type on its device.
  torch::Tensor make_condition(torch::IntArrayRef shape) const;

  /// Loads the parts that every family has: autoencoders, schedule, traits.
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
  /// Null if the model has no such autoencoder.
  std::unique_ptr<autoencoder> preview_vae_;
  mutable std::unique_ptr<latent_preview> preview_;
};

/// Loads a model by its family.
/// Errors: those of the parts.
core::result<std::shared_ptr<const model>> load_model(const model_files& from,
                                                      const placement& where);

} // namespace atelier::gpu
