// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/core/result.hpp>
#include <atelier/training/loops/learning_rate.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu {

/// One parameter that is learned.
struct trained_parameter {
  /// Name in checkpoints and in the weights.
  std::string name;
  torch::Tensor value;
  /// Multiplies the plan's rate.
  double rate = 1;
  /// Written only to checkpoints: the parameter helps learning and has no use
  /// afterwards.
  bool helper = false;
};

/// Returns a network's parameters. The parameters of its text encoder
/// ("text_model.") learn at `text_rate` times the rate of the others.
inline std::vector<trained_parameter> parameters_of(
  const torch::nn::Module& network, double text_rate) {
  std::vector<trained_parameter> out;
  for (const auto& x : network.named_parameters())
    out.push_back(
      {x.key(), x.value(), x.key().starts_with("text_model.") ? text_rate : 1});
  return out;
}

/// How a network is trained.
struct training_recipe {
  rate_plan rate;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 1e-4;
  /// Maximum length of the gradients of all parameters together; longer
  /// gradients are scaled down to it.
  double longest_gradient = 1;
  double average_decay = 0.999;
};

/// Position of a step in its training.
struct step_place {
  uint64_t step = 0;
  /// Share of the budget that is used, 0..1.
  double share = 0;
};

/// A mean for the log, as a sum and a count. The tensors have no autograd
/// graph.
struct told_value {
  std::string name;
  torch::Tensor sum;
  torch::Tensor count;
};

/// Returns a scalar as a mean over one sample.
inline told_value tell(std::string name, const torch::Tensor& x) {
  return {std::move(name), x.detach(), torch::ones_like(x.detach())};
}

/// The loss of one part of a step.
struct step_loss {
  /// Mean over the part's samples: a scalar with its autograd graph.
  torch::Tensor total;
  std::vector<told_value> told;
};

/// Defines the parts of a training that differ between networks. Random draws
/// depend only on the seed and the step, so that a resumed training gives the
/// same result as an uninterrupted one.
/// Threads: one at a time, except `loss`.
class training_task {
public:
  virtual ~training_task() = default;

  virtual training_recipe recipe() const = 0;

  /// Returns the learned parameters, in an order that never changes.
  virtual std::vector<trained_parameter> parameters() = 0;

  /// Prepares for the steps from `first` on.
  virtual void begin(uint64_t first) = 0;

  /// Draws the batch of a step and returns its number of samples. The steps
  /// must be drawn in order.
  virtual uint64_t draw(const step_place& at) = 0;

  /// Computes the loss of part number `part` of the batch's `parts` equal
  /// parts.
  /// Threads: any number of parts at a time.
  virtual step_loss loss(size_t part, size_t parts) = 0;

  /// Measures the parameters on held-out scenes. During the call, the
  /// parameters hold the averaged values. May write sheets to `folder`.
  virtual std::map<std::string, double> evaluate(
    const step_place& at, const std::filesystem::path& folder) = 0;

  /// Returns the tensors that are written to the weights in addition to the
  /// learned parameters.
  virtual std::vector<std::pair<std::string, torch::Tensor>> other_weights() {
    return {};
  }

  /// Makes the averaged parameters ready for use, before they are written.
  virtual void finish() {}
};

} // namespace atelier::gpu
