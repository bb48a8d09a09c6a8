// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/samplers/detail/step_ops.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace atelier::gpu {

namespace {

std::vector<int64_t> column_shape(const torch::Tensor& like) {
  std::vector<int64_t> shape(static_cast<size_t>(like.dim()), 1);
  shape[0] = like.size(0);
  return shape;
}

/// The numbers of all rules, copied to the device at once.
class columns {
public:
  columns(std::span<const step_rule> rules, const torch::Tensor& like,
          step_numbers& kept)
    : shape_(column_shape(like)) {
    constexpr float none = std::numeric_limits<float>::infinity();
    const auto n = static_cast<int64_t>(rules.size());
    std::vector<float> all;
    for (auto member :
         {&step_rule::x0_from_x, &step_rule::x0_from_out, &step_rule::clip,
          &step_rule::from_x, &step_rule::from_out, &step_rule::from_x0,
          &step_rule::from_last, &step_rule::from_noise})
      for (const auto& rule : rules) {
        const bool open = member == &step_rule::clip && rule.clip == 0;
        all.push_back(open ? none : rule.*member);
      }
    all_ = kept.bring(all, like.device()).view({-1, n});
  }

  torch::Tensor operator[](int64_t i) const {
    return all_.select(0, i).view(shape_);
  }

private:
  std::vector<int64_t> shape_;
  torch::Tensor all_;
};

/// Adds share * of, and nothing at all if the share is 0, as `of` may then be
/// uninitialised.
void add_share(torch::Tensor& to, const torch::Tensor& share,
               const torch::Tensor& of) {
  const auto nothing = torch::full({}, -0.0f, to.options());
  to.add_(torch::where(share.ne(0), of.mul(share), nothing));
}

/// Does the same as `rescale_factor` for deviations that stay on their device:
/// the host does not wait for them.
torch::Tensor factor_on_device(const torch::Tensor& guided,
                               const torch::Tensor& mixed, float rescale) {
  const auto share = static_cast<double>(rescale);
  const auto factor = guided.div(mixed).mul_(share).add_(1.0 - share);
  return torch::where(mixed.gt(0), factor, torch::ones_like(factor))
    .to(torch::kFloat32);
}

bool any(std::span<const step_rule> rules, float step_rule::*share) {
  return std::any_of(rules.begin(), rules.end(),
                     [share](const auto& x) { return x.*share != 0; });
}

} // namespace

torch::Tensor column(std::span<const float> values, const torch::Tensor& like,
                     step_numbers& kept) {
  return kept.bring(values, like.device()).view(column_shape(like));
}

stepped_batch step_by_ops(const torch::Tensor& x, const torch::Tensor& out,
                          const torch::Tensor& last, const torch::Tensor& noise,
                          std::span<const step_rule> rules,
                          step_numbers& kept) {
  const c10::InferenceMode guard;
  const columns at{rules, x, kept};
  const auto y = out.to(torch::kFloat32);
  auto x0 = x.mul(at[0]).add_(y.mul(at[1]));
  if (any(rules, &step_rule::clip))
    x0.clamp_(at[2].neg(), at[2]);
  auto next = x.mul(at[3]).add_(y.mul(at[4]));
  next.add_(x0.mul(at[5]));
  if (any(rules, &step_rule::from_last))
    add_share(next, at[6], last);
  if (any(rules, &step_rule::from_noise))
    add_share(next, at[7], noise);
  return {next, x0};
}

torch::Tensor guide_by_ops(const torch::Tensor& unguided,
                           const torch::Tensor& guided,
                           std::span<const float> scales,
                           std::span<const float> rescales,
                           step_numbers& kept) {
  const c10::InferenceMode guard;
  const auto u = unguided.to(torch::kFloat32);
  const auto g = guided.to(torch::kFloat32);
  auto mixed = g.sub(u).mul_(column(scales, g, kept)).add_(u);
  for (size_t i = 0; i < rescales.size(); ++i) {
    if (rescales[i] == 0)
      continue;
    // Row by row, as the split of a reduction must not depend on the batch.
    const auto row = static_cast<int64_t>(i);
    const auto deviation_of = [row](const torch::Tensor& of) {
      return of.select(0, row).to(torch::kFloat64).std();
    };
    mixed.select(0, row).mul_(
      factor_on_device(deviation_of(g), deviation_of(mixed), rescales[i]));
  }
  return mixed;
}

} // namespace atelier::gpu
