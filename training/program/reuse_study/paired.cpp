// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/program/reuse_study/paired.hpp>

#include <cmath>
#include <map>

namespace atelier::runtime::reuse_study {

namespace {

/// The two-sided 95 % quantile of the normal distribution.
constexpr double z = 1.959963984540054;

} // namespace

paired_difference difference_of(std::span<const pair_of_values> all) {
  paired_difference out;
  out.pairs = all.size();
  if (all.empty())
    return out;
  const auto n = static_cast<double>(all.size());
  for (const auto& x : all)
    out.mean += (x.a - x.b) / n;
  std::map<uint64_t, double> deviations;
  for (const auto& x : all)
    deviations[x.group] += x.a - x.b - out.mean;
  if (deviations.size() < 2)
    return out;
  const auto groups = static_cast<double>(deviations.size());
  double squares = 0;
  for (const auto& [group, x] : deviations)
    squares += x * x;
  out.half = z * std::sqrt(squares * groups / (groups - 1)) / n;
  return out;
}

} // namespace atelier::runtime::reuse_study
