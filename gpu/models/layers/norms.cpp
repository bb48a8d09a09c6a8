// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/host_norm.hpp>
#include <atelier/gpu/models/layers/detail/host_side.hpp>
#include <atelier/gpu/models/layers/norms.hpp>

namespace atelier::gpu::detail {

group_norm::group_norm(weights& from, const std::string& name, int64_t channels,
                       int64_t groups, double eps)
  : weight_(from.take(name + ".weight", {channels})),
    bias_(from.take(name + ".bias", {channels})),
    groups_(groups),
    eps_(eps) {}

void group_norm::expect(const torch::Tensor& x, const torch::Tensor& y,
                        const torch::Tensor& shift) const {
  const auto channels = weight_.size(0);
  const auto type = x.scalar_type();
  TORCH_CHECK(x.dim() == 4 && weight_.scalar_type() == type,
              "a norm's input has the shape ", x.sizes(), " and the type ",
              type);
  if (y.defined())
    TORCH_CHECK(y.dim() == 4 && y.size(0) == x.size(0) && y.size(2) == x.size(2)
                  && y.size(3) == x.size(3) && y.scalar_type() == type,
                "maps ", x.sizes(), " and ", y.sizes(), " cannot be joined");
  TORCH_CHECK(x.size(1) + (y.defined() ? y.size(1) : 0) == channels
                && channels % groups_ == 0,
              "a norm of ", channels, " channels in ", groups_,
              " groups was given ", x.sizes());
  if (shift.defined())
    TORCH_CHECK(shift.dim() == 2 && shift.size(0) == x.size(0)
                  && shift.size(1) == channels && shift.scalar_type() == type,
                "a shift of ", shift.sizes(), " for ", x.sizes());
}

torch::Tensor group_norm::run(const torch::Tensor& x, const torch::Tensor& y,
                              const torch::Tensor& shift,
                              after_norm then) const {
  const auto type = host_element(x);
  if (!type) {
    auto in = y.defined() ? torch::cat({x, y}, 1) : x;
    if (shift.defined())
      in = in + shift.unsqueeze(-1).unsqueeze(-1);
    auto out = torch::group_norm(in, groups_, weight_, bias_, eps_);
    return then == after_norm::silu ? torch::silu_(out) : out;
  }
  expect(x, y, shift);
  const auto first = channels_last(x);
  const auto second = y.defined() ? channels_last(y) : y;
  const auto added = shift.defined() ? shift.contiguous() : shift;
  auto out = room_like(x, x.size(0), weight_.size(0), x.size(2), x.size(3));
  host::group_norm_job job;
  job.type = *type;
  job.parts[0] = first.const_data_ptr();
  job.part_channels[0] = x.size(1);
  if (second.defined()) {
    job.parts[1] = second.const_data_ptr();
    job.part_channels[1] = y.size(1);
  }
  job.rows = x.size(0);
  job.pixels = x.size(2) * x.size(3);
  job.groups = groups_;
  job.epsilon = eps_;
  job.weight = weight_.const_data_ptr();
  job.bias = bias_.const_data_ptr();
  if (added.defined())
    job.shift = added.const_data_ptr();
  job.silu = then == after_norm::silu;
  job.out = out.mutable_data_ptr();
  const auto sums = torch::empty({count_norm_sums(job)}, torch::kFloat32);
  const auto factors = torch::empty({count_norm_factors(job)}, torch::kFloat32);
  job.sums = sums.mutable_data_ptr<float>();
  job.factors = factors.mutable_data_ptr<float>();
  const auto tasks = count_norm_tasks(job);
  spread(tasks, [&](int64_t from, int64_t to) { sum_blocks(job, from, to); });
  spread(job.rows,
         [&](int64_t from, int64_t to) { find_factors(job, from, to); });
  spread(tasks,
         [&](int64_t from, int64_t to) { apply_factors(job, from, to); });
  return out;
}

torch::Tensor group_norm::operator()(const torch::Tensor& x,
                                     after_norm then) const {
  return run(x, {}, {}, then);
}

torch::Tensor group_norm::shifted(const torch::Tensor& x,
                                  const torch::Tensor& shift,
                                  after_norm then) const {
  return run(x, {}, shift, then);
}

torch::Tensor group_norm::joined(const torch::Tensor& x, const torch::Tensor& y,
                                 after_norm then) const {
  return run(x, y, {}, then);
}

layer_norm::layer_norm(weights& from, const std::string& name, int64_t width)
  : weight_(from.take(name + ".weight", {width})),
    bias_(from.take(name + ".bias", {width})) {}

torch::Tensor layer_norm::operator()(const torch::Tensor& x) const {
  return torch::layer_norm(x, weight_.sizes(), weight_, bias_);
}

} // namespace atelier::gpu::detail
