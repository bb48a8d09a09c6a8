// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/evaluation/detail/frechet.hpp>
#include <atelier/gpu/evaluation/detail/measured_cascade.hpp>

namespace atelier::gpu::detail {

namespace {

constexpr int intervals = 40;

evaluated_cascade_point point_at(double threshold, const judged_pictures& light,
                                 const judged_pictures& heavy,
                                 const torch::Tensor& renders) {
  const auto n = light.objects.size();
  evaluated_cascade_point out;
  out.threshold = threshold;
  std::vector<torch::Tensor> features;
  size_t again = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto passes = light.confidences[i] >= threshold;
    const auto& from = passes ? light : heavy;
    again += passes ? 0 : 1;
    out.objects += from.objects[i] / static_cast<double>(n);
    if (renders.defined())
      features.push_back(from.features[static_cast<int64_t>(i)]);
  }
  out.deferred = static_cast<double>(again) / static_cast<double>(n);
  if (renders.defined() && n > 1)
    out.distance = frechet_distance(torch::stack(features), renders);
  return out;
}

} // namespace

std::vector<evaluated_cascade_point> measure_cascade(
  const judged_pictures& light, const judged_pictures& heavy,
  const torch::Tensor& renders) {
  std::vector<evaluated_cascade_point> out;
  for (int i = 0; i <= intervals; ++i)
    out.push_back(
      point_at(static_cast<double>(i) / intervals, light, heavy, renders));
  return out;
}

} // namespace atelier::gpu::detail
