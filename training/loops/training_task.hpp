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
  /// As it stands in checkpoints and weights.
  std::string name;
  torch::Tensor value;
  /// Multiplies the plan's rate.
  double rate = 1;
  /// Stands in checkpoints alone: it helps to learn, and is of no use after.
  bool helper = false;
};

/// Returns a network's parameters; those of its text encoder ("text_model.")
/// learn at `text_rate` of the others' rate.
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
  /// Gradients are scaled to at most this length, all parameters together.
  double longest_gradient = 1;
  double average_decay = 0.999;
};

/// Where in its training a step is.
struct step_place {
  uint64_t step = 0;
  /// Of the budget, 0..1.
  double share = 0;
};

/// A number for the log: a mean, as its sum and count. Without a graph.
struct told_value {
  std::string name;
  torch::Tensor sum;
  torch::Tensor count;
};

/// Returns a scalar as a mean of one.
inline told_value tell(std::string name, const torch::Tensor& x) {
  return {std::move(name), x.detach(), torch::ones_like(x.detach())};
}

/// The loss of one part of a step.
struct step_loss {
  /// A scalar with its graph: the mean over the part's samples.
  torch::Tensor total;
  std::vector<told_value> told;
};

/// What differs between the trainings of networks. What it draws depends on
/// the seed and the step alone: then a training that is continued gives what
/// one without a pause gives.
/// Threads: one at a time, but for `loss`.
class training_task {
public:
  virtual ~training_task() = default;

  virtual training_recipe recipe() const = 0;

  /// Returns what is learned, in an order that never changes.
  virtual std::vector<trained_parameter> parameters() = 0;

  /// Gets ready for the steps from `first` on.
  virtual void begin(uint64_t first) = 0;

  /// Draws the batch of a step, for each step in turn, and returns its number
  /// of samples.
  virtual uint64_t draw(const step_place& at) = 0;

  /// Computes the loss of the `part`th of `parts` equal parts of the batch.
  /// Threads: any number of parts at a time.
  virtual step_loss loss(size_t part, size_t parts) = 0;

  /// Measures the parameters, which are the averaged ones meanwhile, on
  /// held-out scenes, and may leave sheets in `folder`.
  virtual std::map<std::string, double> evaluate(
    const step_place& at, const std::filesystem::path& folder) = 0;

  /// Returns what stands in the weights beside what is learned.
  virtual std::vector<std::pair<std::string, torch::Tensor>> other_weights() {
    return {};
  }

  /// Makes the averaged parameters ready for use, before they are written.
  virtual void finish() {}
};

} // namespace atelier::gpu
