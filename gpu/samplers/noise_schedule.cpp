// SPDX-License-Identifier: Apache-2.0
// Built with -ffp-contract=off. Each float32 rounding of diffusers is repeated
// here: the products of a thousand factors near 1 depend on them.
#include <atelier/gpu/samplers/detail/planners.hpp>
#include <atelier/gpu/samplers/noise_schedule.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;

/// Below this value, 1 / sqrt(alpha) leaves no digits for a latent.
constexpr float least_alpha = 1e-30f;

std::vector<float> cosine_betas(uint32_t n) {
  const auto bar = [](double t) {
    const double c = std::cos((t + 0.008) / 1.008 * std::numbers::pi / 2);
    return c * c;
  };
  std::vector<float> betas(n);
  for (uint32_t i = 0; i < n; ++i) {
    const double fall = bar((i + 1.0) / n) / bar(double{1} * i / n);
    betas[i] = static_cast<float>(std::min(1 - fall, 0.999));
  }
  return betas;
}

core::result<std::vector<float>> raw_betas(const scheduler_config& config,
                                           core::sampler with) {
  const uint32_t n = config.num_train_timesteps;
  if (!config.trained_betas.empty()) {
    if (config.trained_betas.size() != n)
      return fail(ec::invalid_argument,
                  "trained_betas has {} values, num_train_timesteps is {}",
                  config.trained_betas.size(), n);
    return std::vector<float>(config.trained_betas.begin(),
                              config.trained_betas.end());
  }
  const auto& own = planner_of(with);
  const double first = config.beta_start.value_or(own.beta_start);
  const double last = config.beta_end.value_or(own.beta_end);
  if (!(first > 0 && first < 1))
    return fail(ec::invalid_argument, "beta_start {} outside 0..1", first);
  if (!(last > 0 && last < 1))
    return fail(ec::invalid_argument, "beta_end {} outside 0..1", last);
  switch (config.betas.value_or(own.betas)) {
    case beta_schedule::linear:
      return linspace_f32(static_cast<float>(first), static_cast<float>(last),
                          n);
    case beta_schedule::scaled_linear: {
      auto betas = linspace_f32(static_cast<float>(std::sqrt(first)),
                                static_cast<float>(std::sqrt(last)), n);
      for (float& x : betas)
        x = x * x;
      return betas;
    }
    case beta_schedule::squaredcos_cap_v2:
      return cosine_betas(n);
  }
  return fail(ec::internal, "unknown beta_schedule");
}

/// PyTorch multiplies in float64 and rounds each product.
std::vector<float> products(const std::vector<float>& betas) {
  std::vector<float> out(betas.size());
  double product = 1;
  for (size_t i = 0; i < betas.size(); ++i) {
    product *= double{1.0f - betas[i]};
    out[i] = static_cast<float>(product);
  }
  return out;
}

/// Shifts and scales the square roots so that the last is 0 and the first is
/// kept. Then converts them to betas, and to products again, as diffusers does.
std::vector<float> with_zero_terminal_snr(std::vector<float> alphas) {
  for (float& x : alphas)
    x = std::sqrt(x);
  const float first = alphas.front();
  const float last = alphas.back();
  const float scale = first / (first - last);
  for (float& x : alphas) {
    x = (x - last) * scale;
    x = x * x;
  }
  std::vector<float> betas(alphas.size());
  betas[0] = 1 - alphas[0];
  for (size_t i = 1; i < alphas.size(); ++i)
    betas[i] = 1 - alphas[i] / alphas[i - 1];
  return products(betas);
}

/// Written so that NaN, for which every comparison is false, is rejected.
core::result<void> check_falling(const std::vector<float>& alphas,
                                 bool may_end_at_0) {
  float before = 1;
  for (size_t t = 0; t < alphas.size(); ++t) {
    const bool end = may_end_at_0 && t + 1 == alphas.size();
    if (!(alphas[t] < before && (end || alphas[t] >= least_alpha)))
      return fail(ec::invalid_argument,
                  "betas leave the share of signal {} at timestep {}, outside "
                  "{}..{}",
                  alphas[t], t, least_alpha, before);
    before = alphas[t];
  }
  return {};
}

} // namespace

std::vector<float> linspace_f32(float first, float last, uint32_t n) {
  std::vector<float> out(n, first);
  if (n < 2)
    return out;
  const float step = (last - first) / static_cast<float>(n - 1);
  for (uint32_t i = 0; i < n; ++i)
    out[i] = i < n / 2 ? std::fma(step, static_cast<float>(i), first)
                       : std::fma(-step, static_cast<float>(n - 1 - i), last);
  return out;
}

core::result<std::vector<double>> alphas_cumprod(const scheduler_config& config,
                                                 core::sampler with) {
  const uint32_t n = config.num_train_timesteps;
  const auto betas = raw_betas(config, with);
  if (!betas)
    return betas.why();
  auto alphas = products(*betas);
  if (auto ok = check_falling(alphas, false); !ok)
    return ok.why();
  if (config.rescale_betas_zero_snr) {
    if (n < 2)
      return fail(ec::invalid_argument,
                  "num_train_timesteps {} outside 2..{} with "
                  "rescale_betas_zero_snr",
                  n, most_train_timesteps);
    alphas = with_zero_terminal_snr(std::move(alphas));
    if (auto ok = check_falling(alphas, true); !ok)
      return ok.why();
  }
  return std::vector<double>(alphas.begin(), alphas.end());
}

} // namespace atelier::gpu
