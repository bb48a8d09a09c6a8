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

/// Answers questions by a matrix from what a network makes of its input: that
/// makes the network learn what is asked, and is of no use after.
/// Threads: any, once it is made.
class answer_head {
public:
  /// `name`: what its parameters' names begin with. Draws its weights from
  /// `from`.
  answer_head(std::string name, std::span<const caption_question> questions,
              int64_t width, core::philox& from, torch::Device where);

  void add_parameters(std::vector<trained_parameter>& to) const;

  /// `states`: [..., width]. Returns the logits [..., questions, classes] in
  /// float32, as many classes as the question with the most has.
  torch::Tensor replies(const torch::Tensor& states) const;

private:
  std::string name_;
  int64_t questions_;
  torch::Tensor weight_;
  torch::Tensor bias_;
  /// Very low where a question has no such class.
  torch::Tensor missing_;
};

/// Returns the mean cross entropy of `replies` where `answers` [..., questions]
/// are not negative: a scalar.
torch::Tensor answer_loss(const torch::Tensor& replies,
                          const torch::Tensor& answers);

/// Returns how often the likeliest reply is right where there is something to
/// tell (an answer above 0): a mean for the log.
told_value tell_right(std::string name, const torch::Tensor& replies,
                      const torch::Tensor& answers);

} // namespace atelier::gpu
