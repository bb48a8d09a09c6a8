// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/core/philox.hpp>
#include <atelier/training/loops/caption_answers.hpp>
#include <atelier/training/loops/training_task.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace atelier::gpu {

/// Answers questions from a network's states with one matrix. Training the
/// answers makes the network learn what the questions ask; the matrix has no
/// use afterwards.
/// Threads: any, after construction.
class answer_head {
public:
  /// Draws the weights from `from`. The parameters' names begin with `name`.
  answer_head(std::string name, std::span<const caption_question> questions,
              int64_t width, core::philox& from, torch::Device where);

  void add_parameters(std::vector<trained_parameter>& to) const;

  /// Returns the logits [..., questions, classes] in float32, with as many
  /// classes as the question that has the most. `states`: [..., width].
  torch::Tensor replies(const torch::Tensor& states) const;

private:
  std::string name_;
  int64_t questions_;
  torch::Tensor weight_;
  torch::Tensor bias_;
  /// [questions, classes]: very low for the classes that a question lacks,
  /// otherwise 0.
  torch::Tensor missing_;
};

/// Returns the mean cross entropy of `replies`, a scalar. Leaves out questions
/// whose answer in `answers` [..., questions] is -100 (scene_answers.hpp:
/// unanswerable).
torch::Tensor answer_loss(const torch::Tensor& replies,
                          const torch::Tensor& answers);

/// Returns the share of answers above 0 that the likeliest class matches, as a
/// mean for the log.
told_value tell_right(std::string name, const torch::Tensor& replies,
                      const torch::Tensor& answers);

} // namespace atelier::gpu
