// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::gpu {

/// Runs AdamW on all parameters of a task and keeps an average of their values.
/// Source: Loshchilov and Hutter, Decoupled weight decay regularization (ICLR
///         2019), algorithm 2.
/// Threads: one at a time.
class optimiser {
public:
  optimiser(std::vector<trained_parameter> parameters,
            const training_recipe& recipe);

  /// Takes step `number` (from 0) at `rate` against `gradients`. They hold one
  /// tensor for each parameter and are scaled down here. Returns their length
  /// as a scalar. If it is not finite, the parameters are not finite either.
  torch::Tensor step(uint64_t number, double rate,
                     const std::vector<torch::Tensor>& gradients);

  /// Exchanges the parameters' values with the averages'.
  void exchange_averages();

  /// Returns the complete state by name: parameters, moments and averages. The
  /// tensors are not copies.
  std::vector<std::pair<std::string, torch::Tensor>> state() const;

  const std::vector<trained_parameter>& parameters() const {
    return parameters_;
  }

private:
  std::vector<trained_parameter> parameters_;
  training_recipe recipe_;
  std::vector<torch::Tensor> values_;
  std::vector<torch::Tensor> first_moments_;
  std::vector<torch::Tensor> second_moments_;
  std::vector<torch::Tensor> averages_;
};

} // namespace atelier::gpu
