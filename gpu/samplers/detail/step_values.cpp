// SPDX-License-Identifier: Apache-2.0
// Built with -ffp-contract=off: a value's bits are the same in a vector, in the
// rest after the last whole vector, and in the operations of LibTorch.
#include <atelier/gpu/samplers/detail/step_values.hpp>

#include <array>
#include <cmath>

namespace atelier::gpu {

namespace {

template <bool Clips, bool Lasts, bool Draws>
void run(const step_rule& rule, const step_values& at, size_t n) {
  const float* __restrict x = at.x;
  const float* __restrict out = at.out;
  const float* __restrict last = at.last;
  const float* __restrict noise = at.noise;
  float* __restrict next = at.next;
  float* __restrict x0 = at.x0;
  const step_rule r = rule;
  for (size_t i = 0; i < n; ++i) {
    float clean = r.x0_from_x * x[i] + r.x0_from_out * out[i];
    if constexpr (Clips) {
      clean = clean < -r.clip ? -r.clip : clean;
      clean = clean > r.clip ? r.clip : clean;
    }
    float y = r.from_x * x[i] + r.from_out * out[i];
    y = y + r.from_x0 * clean;
    if constexpr (Lasts)
      y = y + r.from_last * last[i];
    if constexpr (Draws)
      y = y + r.from_noise * noise[i];
    x0[i] = clean;
    next[i] = y;
  }
}

template <bool Clips, bool Lasts>
void run_drawing(const step_rule& rule, const step_values& at, size_t n) {
  if (rule.from_noise != 0)
    run<Clips, Lasts, true>(rule, at, n);
  else
    run<Clips, Lasts, false>(rule, at, n);
}

template <bool Clips>
void run_reading(const step_rule& rule, const step_values& at, size_t n) {
  if (rule.from_last != 0)
    run_drawing<Clips, true>(rule, at, n);
  else
    run_drawing<Clips, false>(rule, at, n);
}

/// Sums f(value) in 16 parallel sums, so that the loop can be vectorised.
template <class F>
double sum(std::span<const float> values, F f) {
  constexpr size_t lanes = 16;
  std::array<double, lanes> sums{};
  const size_t whole = values.size() / lanes * lanes;
  for (size_t i = 0; i < whole; i += lanes)
    for (size_t j = 0; j < lanes; ++j)
      sums[j] += f(double{values[i + j]});
  for (size_t i = whole; i < values.size(); ++i)
    sums[0] += f(double{values[i]});
  double out = 0;
  for (double x : sums)
    out += x;
  return out;
}

} // namespace

void run_step(const step_rule& rule, const step_values& at, size_t n) {
  if (rule.clip != 0)
    run_reading<true>(rule, at, n);
  else
    run_reading<false>(rule, at, n);
}

void mix_guidance(std::span<const float> unguided,
                  std::span<const float> guided, float scale, float* into) {
  const float* __restrict u = unguided.data();
  const float* __restrict g = guided.data();
  float* __restrict y = into;
  for (size_t i = 0; i < unguided.size(); ++i)
    y[i] = u[i] + scale * (g[i] - u[i]);
}

double deviation(std::span<const float> values) {
  if (values.size() < 2)
    return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = sum(values, [](double x) { return x; }) / n;
  const double squares =
    sum(values, [mean](double x) { return (x - mean) * (x - mean); });
  return std::sqrt(squares / (n - 1));
}

float rescale_factor(double guided, double mixed, float rescale) {
  if (!(mixed > 0))
    return 1;
  return static_cast<float>(rescale * (guided / mixed) + (1.0 - rescale));
}

} // namespace atelier::gpu
