// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/answer_head.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

constexpr double initial_deviation = 0.02;
constexpr float never = -1e4f;

} // namespace

answer_head::answer_head(std::string name,
                         std::span<const caption_question> questions,
                         int64_t width, core::philox& from, torch::Device where)
  : name_(std::move(name)), questions_(static_cast<int64_t>(questions.size())) {
  const auto classes =
    std::ranges::max(questions, {}, &caption_question::classes).classes;
  missing_ = torch::full({questions_, classes}, never);
  for (int64_t i = 0; i < questions_; ++i)
    missing_[i].slice(0, 0, questions[static_cast<size_t>(i)].classes).zero_();
  missing_ = missing_.to(where);
  weight_ = draw_noise({questions_ * classes, width}, from)
              .mul_(initial_deviation)
              .to(where);
  weight_.set_requires_grad(true);
  bias_ =
    torch::zeros({questions_ * classes}, weight_.options().requires_grad(true));
}

void answer_head::add_parameters(std::vector<trained_parameter>& to) const {
  to.push_back({name_ + ".weight", weight_, 1, true});
  to.push_back({name_ + ".bias", bias_, 1, true});
}

torch::Tensor answer_head::replies(const torch::Tensor& states) const {
  return torch::linear(states, weight_, bias_)
           .to(torch::kFloat32)
           .unflatten(-1, {questions_, -1})
       + missing_;
}

torch::Tensor answer_loss(const torch::Tensor& replies,
                          const torch::Tensor& answers) {
  return torch::cross_entropy_loss(replies.flatten(0, -2), answers.flatten());
}

told_value tell_right(std::string name, const torch::Tensor& replies,
                      const torch::Tensor& answers) {
  const torch::NoGradGuard guard;
  const auto given = answers.gt(0);
  const auto right = replies.argmax(-1).eq(answers).logical_and(given);
  return {std::move(name), right.sum(), given.sum()};
}

} // namespace atelier::gpu
