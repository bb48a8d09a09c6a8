// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/files/tensor_source.hpp>
#include <atelier/gpu/models/kept_results.hpp>

#include <torch/torch.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace atelier::gpu {

/// The properties that two passes must share to use the same inputs.
struct pass_key {
  /// Places of the batch: a guided row takes two, an unguided one takes one.
  int64_t places = 0;
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  /// The number of the text's tokens.
  int64_t tokens = 0;

  friend auto operator<=>(const pass_key&, const pass_key&) = default;
};

/// The inputs of one pass, on the model's device. A model creates them once per
/// key; every pass of that key writes to the same tensors.
struct pass_inputs {
  /// [places, channels, height, width], in the model's type.
  torch::Tensor sample;
  /// [places], float32: the timestep of each place.
  torch::Tensor timestep;
  /// Further inputs of the family's denoiser, [places, ...] each, in an order
  /// defined by the family.
  std::vector<torch::Tensor> conditions;
  /// What the denoiser computed from the conditions alone in earlier passes;
  /// null: nothing is kept.
  kept_results* kept = nullptr;
};

/// Values that every layer of a pass reads and none changes. Layers that use
/// masks or adapters find them here.
struct pass {
  /// [places, width]: the timestep and other properties of a place, embedded as
  /// the family's layers expect them.
  torch::Tensor embedding;
  /// [places, tokens, width]: the text, as input of the first block.
  torch::Tensor context;
  /// The sides of the latent.
  int64_t height = 0;
  int64_t width = 0;
  /// These are the kept results of the inputs (pass_inputs::kept).
  kept_results* kept = nullptr;
};

/// Values that blocks pass on to each other.
struct activations {
  /// The image, [places, channels, h, w] or [places, tokens, width].
  torch::Tensor image;
  /// The text, [places, tokens, width]; undefined if blocks do not change it.
  torch::Tensor text;
  /// Results that later blocks consume, the last first.
  std::vector<torch::Tensor> skips;
};

/// A part of a denoiser. A pass can be cut between two of them.
struct block_info {
  /// Prefix of its tensors' names in diffusers, such as "down_blocks.0".
  std::string name;
  /// Bytes of its weights on the device.
  uint64_t weight_bytes = 0;
};

/// A network that predicts noise, velocity or flow, as a sequence of blocks.
/// Threads: one at a time; records no autograd state. Members throw c10::Error
/// and nothing else.
class denoiser {
public:
  virtual ~denoiser() = default;

  virtual std::span<const block_info> blocks() const = 0;

  /// Computes everything before the first block.
  virtual pass begin(const pass_inputs& x, activations& state) const = 0;

  /// Runs one block. @pre index < blocks().size(); all earlier blocks have run.
  virtual void run(size_t index, const pass& of, activations& state) const = 0;

  /// Returns the prediction, [places, channels, height, width] like the sample,
  /// in the model's type.
  virtual torch::Tensor end(const pass& of, activations& state) const = 0;

  /// Returns whether a place's prediction has the same bits whatever the other
  /// places hold, and however many there are.
  virtual bool is_batch_invariant() const {
    return false;
  }

  /// Returns the bytes of all weights on the device.
  virtual uint64_t weight_bytes() const = 0;
};

/// Returns the bytes of all tensors in the given type, and adds each block's
/// share to that block.
uint64_t count_weights(const tensor_source& from, torch::Dtype as,
                       std::vector<block_info>& blocks);

/// Runs a whole pass. Returns the result of `end`.
torch::Tensor predict(const denoiser& net, const pass_inputs& x);

} // namespace atelier::gpu
