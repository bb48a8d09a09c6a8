// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/gpu/samplers/detail/step_ops.hpp>
#include <atelier/gpu/samplers/detail/step_values.hpp>
#include <atelier/gpu/samplers/step.hpp>

#include <ATen/Parallel.h>

#include <algorithm>

namespace atelier::gpu {

namespace {

/// Values for which another thread is worth waking.
constexpr int64_t grain = 32768;

/// Calls f(row, first, count) for pieces of rows, on ATen's threads. The bits
/// of a value do not depend on the piece that it is in.
template <class F>
void for_each_piece(int64_t rows, int64_t row_values, F f) {
  at::parallel_for(0, rows * row_values, grain, [&](int64_t i, int64_t end) {
    while (i < end) {
      const int64_t row = i / row_values;
      const int64_t count = std::min((row + 1) * row_values, end) - i;
      f(row, i, count);
      i += count;
    }
  });
}

/// Brings a tensor to float32 and the layout in which the batch is walked.
torch::Tensor prepared(const torch::Tensor& of, at::MemoryFormat layout) {
  return of.to(torch::kFloat32).contiguous(layout);
}

/// Returns float values, or null for a tensor that is not there.
const float* values_of(const torch::Tensor& of) {
  return of.defined() ? of.const_data_ptr<float>() : nullptr;
}

const float* from(const float* base, int64_t first) {
  return base == nullptr ? nullptr : base + first;
}

stepped_batch step_on_cpu(const torch::Tensor& x, const torch::Tensor& out,
                          const torch::Tensor& last, const torch::Tensor& noise,
                          std::span<const step_rule> rules) {
  // Whether channels lie first or last, a row's values lie together.
  const auto layout = x.suggest_memory_format();
  const auto in = prepared(x, layout);
  const auto y = prepared(out, layout);
  const auto before = last.defined() ? prepared(last, layout) : last;
  const auto fresh = noise.defined() ? prepared(noise, layout) : noise;
  stepped_batch result{torch::empty_like(in), torch::empty_like(in)};
  const step_values all{in.const_data_ptr<float>(),
                        y.const_data_ptr<float>(),
                        values_of(before),
                        values_of(fresh),
                        result.next.mutable_data_ptr<float>(),
                        result.x0.mutable_data_ptr<float>()};
  const auto run = [&](int64_t row, int64_t first, int64_t count) {
    const step_values piece{all.x + first,         all.out + first,
                            from(all.last, first), from(all.noise, first),
                            all.next + first,      all.x0 + first};
    run_step(rules[static_cast<size_t>(row)], piece,
             static_cast<size_t>(count));
  };
  for_each_piece(in.size(0), in.numel() / in.size(0), run);
  return result;
}

torch::Tensor guide_on_cpu(const torch::Tensor& unguided,
                           const torch::Tensor& guided,
                           std::span<const float> scales,
                           std::span<const float> rescales) {
  const auto layout = guided.suggest_memory_format();
  const auto u = prepared(unguided, layout);
  const auto g = prepared(guided, layout);
  auto mixed = torch::empty_like(g);
  const auto* of_u = u.const_data_ptr<float>();
  const auto* of_g = g.const_data_ptr<float>();
  auto* into = mixed.mutable_data_ptr<float>();
  const auto row_values = g.numel() / g.size(0);
  for_each_piece(g.size(0), row_values,
                 [&](int64_t row, int64_t first, int64_t count) {
                   const auto n = static_cast<size_t>(count);
                   mix_guidance({of_u + first, n}, {of_g + first, n},
                                scales[static_cast<size_t>(row)], into + first);
                 });
  at::parallel_for(0, g.size(0), 1, [&](int64_t row, int64_t end) {
    for (; row < end; ++row) {
      const float rescale = rescales[static_cast<size_t>(row)];
      if (rescale == 0)
        continue;
      const auto n = static_cast<size_t>(row_values);
      const std::span whole{into + row * row_values, n};
      const float factor = rescale_factor(
        deviation({of_g + row * row_values, n}), deviation(whole), rescale);
      for (float& value : whole)
        value = value * factor;
    }
  });
  return mixed;
}

bool fits(const torch::Tensor& x, size_t rows) {
  return x.dim() > 0 && x.numel() > 0 && static_cast<size_t>(x.size(0)) == rows;
}

bool reads(std::span<const step_rule> rules, float step_rule::*share) {
  return std::any_of(rules.begin(), rules.end(),
                     [share](const auto& x) { return x.*share != 0; });
}

} // namespace

torch::Tensor scale_input(const torch::Tensor& x,
                          std::span<const step_rule> rules) {
  ATELIER_EXPECTS(fits(x, rules.size()), "one rule for each row");
  const c10::InferenceMode guard;
  const auto is_one = [](const auto& rule) { return rule.input_scale == 1; };
  if (std::all_of(rules.begin(), rules.end(), is_one))
    return x;
  std::vector<float> scales;
  for (const auto& rule : rules)
    scales.push_back(rule.input_scale);
  return x.mul(column(scales, x));
}

torch::Tensor guide(const torch::Tensor& unguided, const torch::Tensor& guided,
                    std::span<const float> scales,
                    std::span<const float> rescales) {
  ATELIER_EXPECTS(fits(guided, scales.size())
                    && unguided.sizes() == guided.sizes()
                    && scales.size() == rescales.size(),
                  "one scale and one rescale for each row");
  const c10::InferenceMode guard;
  return guided.device().is_cpu()
         ? guide_on_cpu(unguided, guided, scales, rescales)
         : guide_by_ops(unguided, guided, scales, rescales);
}

stepped_batch step(const torch::Tensor& x, const torch::Tensor& out,
                   const torch::Tensor& last, const torch::Tensor& noise,
                   std::span<const step_rule> rules) {
  ATELIER_EXPECTS(fits(x, rules.size()) && out.sizes() == x.sizes(),
                  "one rule and one prediction for each row");
  ATELIER_EXPECTS(!reads(rules, &step_rule::from_last)
                    || (last.defined() && last.sizes() == x.sizes()),
                  "a rule reads the x0 before");
  ATELIER_EXPECTS(!reads(rules, &step_rule::from_noise)
                    || (noise.defined() && noise.sizes() == x.sizes()),
                  "a rule draws noise");
  const c10::InferenceMode guard;
  return x.device().is_cpu() ? step_on_cpu(x, out, last, noise, rules)
                             : step_by_ops(x, out, last, noise, rules);
}

} // namespace atelier::gpu
