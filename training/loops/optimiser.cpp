// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/optimiser.hpp>

#include <algorithm>
#include <set>

namespace atelier::gpu {

namespace {

constexpr double eps = 1e-8;

// Avoids a division by zero if all gradients are zero.
constexpr double least_length = 1e-6;

} // namespace

optimiser::optimiser(std::vector<trained_parameter> parameters,
                     const training_recipe& recipe)
  : parameters_(std::move(parameters)), recipe_(recipe) {
  for (const auto& x : parameters_) {
    const auto value = x.value.detach();
    values_.push_back(value);
    first_moments_.push_back(torch::zeros_like(value));
    second_moments_.push_back(torch::zeros_like(value));
    averages_.push_back(value.clone());
  }
}

torch::Tensor optimiser::step(uint64_t number, double rate,
                              const std::vector<torch::Tensor>& gradients) {
  const torch::NoGradGuard guard;
  auto length = torch::stack(at::_foreach_norm(gradients)).norm();
  at::_foreach_mul_(
    gradients,
    (recipe_.longest_gradient / (length + least_length)).clamp_max(1));
  std::set<double> rates;
  for (const auto& x : parameters_)
    rates.insert(x.rate);
  for (const auto group : rates) {
    std::vector<torch::Tensor> value, gradient, first, second, count;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].rate != group)
        continue;
      value.push_back(values_[i]);
      gradient.push_back(gradients[i]);
      first.push_back(first_moments_[i]);
      second.push_back(second_moments_[i]);
      count.push_back(torch::full({}, static_cast<double>(number + 1),
                                  values_[i].options().dtype(torch::kFloat32)));
    }
    at::_fused_adamw_(value, gradient, first, second, {}, count, rate * group,
                      recipe_.beta1, recipe_.beta2, recipe_.weight_decay, eps,
                      false, false);
  }
  at::_foreach_lerp_(averages_, values_,
                     1 - average_decay_at(recipe_.average_decay, number));
  return length;
}

void optimiser::exchange_averages() {
  const torch::NoGradGuard guard;
  for (size_t i = 0; i < values_.size(); ++i) {
    const auto kept = values_[i].clone();
    values_[i].copy_(averages_[i]);
    averages_[i].copy_(kept);
  }
}

std::vector<std::pair<std::string, torch::Tensor>> optimiser::state() const {
  std::vector<std::pair<std::string, torch::Tensor>> out;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& name = parameters_[i].name;
    out.emplace_back("value/" + name, values_[i]);
    out.emplace_back("moment1/" + name, first_moments_[i]);
    out.emplace_back("moment2/" + name, second_moments_[i]);
    out.emplace_back("average/" + name, averages_[i]);
  }
  return out;
}

} // namespace atelier::gpu
