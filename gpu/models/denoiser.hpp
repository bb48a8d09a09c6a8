// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/files/tensor_source.hpp>

#include <torch/torch.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace atelier::gpu {

/// What two passes must have in common to use the same inputs.
struct pass_key {
  /// Places of the batch: a guided row fills two, another one.
  int64_t places = 0;
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  /// The text has so many.
  int64_t tokens = 0;

  friend auto operator<=>(const pass_key&, const pass_key&) = default;
};

/// What one pass computes from, on the model's device. A model makes it once
/// for a key; every pass of that key writes into the same tensors.
struct pass_inputs {
  /// [places, channels, height, width], in the model's type.
  torch::Tensor sample;
  /// [places], float32: the timestep of each.
  torch::Tensor timestep;
  /// What the family's denoiser takes besides, [places, ...] each, in an order
  /// that the family knows.
  std::vector<torch::Tensor> conditions;
};

/// What every layer of one pass sees, and none changes. Layers that act on
/// masks or adapters find them here.
struct pass {
  /// [places, width]: the timestep, and what else is known of a place, embedded
  /// as the family's layers take it.
  torch::Tensor embedding;
  /// [places, tokens, width]: the text, as the first block takes it.
  torch::Tensor context;
  /// The latent has these sides.
  int64_t height = 0;
  int64_t width = 0;
};

/// What blocks hand on to each other.
struct activations {
  /// Holds the image, [places, channels, h, w] or [places, tokens, width].
  torch::Tensor image;
  /// Holds the text, [places, tokens, width]; undefined where blocks leave it
  /// as it is.
  torch::Tensor text;
  /// Results that later blocks take, the last first.
  std::vector<torch::Tensor> skips;
};

/// A part of a denoiser between whose neighbours a pass can be cut.
struct block_info {
  /// Its tensors begin with it in diffusers: "down_blocks.0".
  std::string name;
  /// Bytes of its weights on the device.
  uint64_t weight_bytes = 0;
};

/// A network that predicts noise, velocity or flow, as a row of blocks.
/// Threads: one at a time; records no autograd state. Everything throws
/// c10::Error and nothing else.
class denoiser {
public:
  virtual ~denoiser() = default;

  virtual std::span<const block_info> blocks() const = 0;

  /// Does what precedes the first block.
  virtual pass begin(const pass_inputs& x, activations& state) const = 0;

  /// @pre index < blocks().size(); all before it have run.
  virtual void run(size_t index, const pass& of, activations& state) const = 0;

  /// Returns the prediction, [places, channels, height, width] as the sample,
  /// in the model's type.
  virtual torch::Tensor end(const pass& of, activations& state) const = 0;

  /// Bytes of all weights on the device.
  virtual uint64_t weight_bytes() const = 0;
};

/// Returns the bytes of all tensors in the given type, and adds those of each
/// block to it.
uint64_t count_weights(const tensor_source& from, torch::Dtype as,
                       std::vector<block_info>& blocks);

/// Runs a whole pass. Returns what `end` returns.
torch::Tensor predict(const denoiser& net, const pass_inputs& x);

} // namespace atelier::gpu
