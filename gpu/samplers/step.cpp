// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/samplers/detail/step_ops.hpp>
#include <atelier/gpu/samplers/detail/step_values.hpp>
#include <atelier/gpu/samplers/step.hpp>

#include <algorithm>
#include <vector>

namespace atelier::gpu {

namespace {

/// Converts a tensor to float32 and the layout in which the batch is processed.
torch::Tensor prepared(const torch::Tensor& of, at::MemoryFormat layout) {
  return of.to(torch::kFloat32).contiguous(layout);
}

/// Returns float values, or null for an undefined tensor.
const float* values_of(const torch::Tensor& of) {
  return of.defined() ? of.const_data_ptr<float>() : nullptr;
}

/// Returns one row's part of `base`, or null if `base` is null.
const float* row_of(const float* base, size_t row, size_t row_values) {
  return base == nullptr ? nullptr : base + row * row_values;
}

/// Runs one pass on the calling thread. It takes tens of microseconds, while a
/// network takes many milliseconds, and waking threads would take as long.
stepped_batch step_on_cpu(const torch::Tensor& x, const torch::Tensor& out,
                          const torch::Tensor& last, const torch::Tensor& noise,
                          std::span<const step_rule> rules) {
  // A row's values are contiguous, whether channels are first or last.
  const auto layout = x.suggest_memory_format();
  const auto in = prepared(x, layout);
  const auto y = prepared(out, layout);
  const auto before = last.defined() ? prepared(last, layout) : last;
  const auto fresh = noise.defined() ? prepared(noise, layout) : noise;
  stepped_batch result{torch::empty_like(in), torch::empty_like(in)};
  auto* next = result.next.mutable_data_ptr<float>();
  auto* x0 = result.x0.mutable_data_ptr<float>();
  const auto n = static_cast<size_t>(in.numel()) / rules.size();
  for (size_t i = 0; i < rules.size(); ++i)
    run_step(rules[i],
             {row_of(values_of(in), i, n), row_of(values_of(y), i, n),
              row_of(values_of(before), i, n), row_of(values_of(fresh), i, n),
              next + i * n, x0 + i * n},
             n);
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
  const auto n = static_cast<size_t>(g.numel()) / scales.size();
  for (size_t i = 0; i < scales.size(); ++i) {
    const std::span of_u{row_of(values_of(u), i, n), n};
    const std::span of_g{row_of(values_of(g), i, n), n};
    const std::span into{mixed.mutable_data_ptr<float>() + i * n, n};
    mix_guidance(of_u, of_g, scales[i], into.data());
    if (rescales[i] == 0)
      continue;
    const float factor =
      rescale_factor(deviation(of_g), deviation(into), rescales[i]);
    for (float& value : into)
      value = value * factor;
  }
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

torch::Tensor step_numbers::bring(std::span<const float> values,
                                  torch::Device device) {
  const c10::InferenceMode guard;
  const auto n = static_cast<int64_t>(values.size());
  if (!device_.defined() || device_.device() != device || device_.numel() < n)
    device_ = torch::empty({n}, torch::dtype(torch::kFloat32).device(device));
  const auto out = device_.narrow(0, 0, n);
  if (device.is_cpu()) {
    std::copy(values.begin(), values.end(), out.mutable_data_ptr<float>());
    return out;
  }
  const auto options = torch::dtype(torch::kFloat32);
  if (device.is_cuda()) {
    // The host continues while the device copies. LibTorch gives the pinned
    // memory to no other tensor before that is done, and keeps it for the next
    // ones.
    const auto host = torch::empty({n}, options.pinned_memory(true));
    std::copy(values.begin(), values.end(), host.mutable_data_ptr<float>());
    out.copy_(host, true);
    return out;
  }
  if (!host_.defined() || host_.numel() < n)
    host_ = torch::empty({n}, options);
  std::copy(values.begin(), values.end(), host_.mutable_data_ptr<float>());
  out.copy_(host_.narrow(0, 0, n));
  return out;
}

torch::Tensor scale_input(const torch::Tensor& x,
                          std::span<const step_rule> rules) {
  step_numbers kept;
  return scale_input(x, rules, kept);
}

torch::Tensor scale_input(const torch::Tensor& x,
                          std::span<const step_rule> rules,
                          step_numbers& kept) {
  TORCH_CHECK(fits(x, rules.size()), rules.size(), " rules for rows of ",
              x.sizes());
  const c10::InferenceMode guard;
  const auto is_one = [](const auto& rule) { return rule.input_scale == 1; };
  if (std::all_of(rules.begin(), rules.end(), is_one))
    return x;
  std::vector<float> scales;
  for (const auto& rule : rules)
    scales.push_back(rule.input_scale);
  return x.mul(column(scales, x, kept));
}

torch::Tensor guide(const torch::Tensor& unguided, const torch::Tensor& guided,
                    std::span<const float> scales,
                    std::span<const float> rescales) {
  step_numbers kept;
  return guide(unguided, guided, scales, rescales, kept);
}

torch::Tensor guide(const torch::Tensor& unguided, const torch::Tensor& guided,
                    std::span<const float> scales,
                    std::span<const float> rescales, step_numbers& kept) {
  TORCH_CHECK(fits(guided, scales.size()) && unguided.sizes() == guided.sizes()
                && scales.size() == rescales.size(),
              scales.size(), " scales and ", rescales.size(),
              " rescales for predictions ", guided.sizes(), " and ",
              unguided.sizes());
  const c10::InferenceMode guard;
  return guided.device().is_cpu()
         ? guide_on_cpu(unguided, guided, scales, rescales)
         : guide_by_ops(unguided, guided, scales, rescales, kept);
}

stepped_batch step(const torch::Tensor& x, const torch::Tensor& out,
                   const torch::Tensor& last, const torch::Tensor& noise,
                   std::span<const step_rule> rules) {
  step_numbers kept;
  return step(x, out, last, noise, rules, kept);
}

stepped_batch step(const torch::Tensor& x, const torch::Tensor& out,
                   const torch::Tensor& last, const torch::Tensor& noise,
                   std::span<const step_rule> rules, step_numbers& kept) {
  TORCH_CHECK(fits(x, rules.size()) && out.sizes() == x.sizes(), rules.size(),
              " rules and a prediction ", out.sizes(), " for rows of ",
              x.sizes());
  TORCH_CHECK(!reads(rules, &step_rule::from_last)
                || (last.defined() && last.sizes() == x.sizes()),
              "a rule reads the x0 before");
  TORCH_CHECK(!reads(rules, &step_rule::from_noise)
                || (noise.defined() && noise.sizes() == x.sizes()),
              "a rule draws noise");
  const c10::InferenceMode guard;
  return x.device().is_cpu() ? step_on_cpu(x, out, last, noise, rules)
                             : step_by_ops(x, out, last, noise, rules, kept);
}

} // namespace atelier::gpu
