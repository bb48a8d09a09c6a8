// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/planning/policies/diffserve/allocation.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace atelier::test {

/// Returns a leg with all or the first few of the paper's batch sizes.
inline planning::diffserve::leg_times random_leg(core::philox& random,
                                                 double scale) {
  planning::diffserve::leg_times out;
  const size_t sizes = 1 + random.below(6);
  double seconds = scale * (0.2 + random.uniform());
  uint32_t batch = 1;
  for (size_t i = 0; i < sizes; ++i) {
    out.batches.push_back({batch, seconds});
    batch *= 2;
    seconds *= 1.1 + random.uniform();
  }
  return out;
}

/// Returns a profile that rises in steps of any size.
inline planning::diffserve::deferral_profile random_deferral(
  core::philox& random) {
  std::vector<std::pair<double, double>> points;
  const size_t n = 1 + random.below(30);
  for (size_t i = 0; i < n; ++i)
    points.emplace_back(random.uniform(), random.uniform());
  std::vector<double> shares;
  for (const auto& p : points)
    shares.push_back(p.second);
  std::sort(shares.begin(), shares.end());
  std::sort(points.begin(), points.end());
  for (size_t i = 0; i < n; ++i)
    points[i].second = shares[i];
  return planning::diffserve::deferral_of(points);
}

inline planning::diffserve::cascade_problem random_problem(
  core::philox& random) {
  planning::diffserve::cascade_problem p;
  p.light = random_leg(random, 0.2);
  p.heavy = random_leg(random, 2);
  p.deferred = random_deferral(random);
  p.workers = static_cast<uint32_t>(1 + random.below(20));
  p.demand = p.workers * 3 * random.uniform();
  p.slo = 1 + 6 * random.uniform();
  if (random.below(2) == 0) {
    p.wait_light = random.uniform();
    p.wait_heavy = 2 * random.uniform();
  }
  return p;
}

/// Returns the folder of DiffServe's published measurements, if it exists.
inline std::optional<std::string> diffserve_data() {
  const char* root = std::getenv("ATELIER_REFERENCE_DATA");
  if (root == nullptr)
    return std::nullopt;
  std::string folder = std::string{root} + "/diffserve/";
  if (!std::ifstream{folder + "profiles.csv"})
    return std::nullopt;
  return folder;
}

/// Returns the fields of a file's lines after the first.
inline std::vector<std::vector<std::string>> lines_of(const std::string& file) {
  std::ifstream in{file};
  std::string line;
  std::getline(in, line);
  std::vector<std::vector<std::string>> out;
  while (std::getline(in, line)) {
    out.emplace_back();
    std::istringstream fields{line};
    std::string field;
    while (std::getline(fields, field, ','))
      out.back().push_back(field);
  }
  return out;
}

/// Returns one of the paper's cascades for 16 workers, as published.
inline planning::diffserve::cascade_problem published_cascade(
  const std::string& folder, const std::string& light, const std::string& heavy,
  double slo) {
  using namespace planning::diffserve;
  cascade_problem p;
  // Times from this value on mean that the batch does not fit.
  constexpr double no_fit_ms = 100'000;
  for (const auto& f : lines_of(folder + "profiles.csv")) {
    const double ms = std::stod(f[2]);
    if (ms >= no_fit_ms)
      continue;
    const batch_time b{static_cast<uint32_t>(std::stoul(f[1])), ms / 1000};
    if (f[0] == light)
      p.light.batches.push_back(b);
    if (f[0] == heavy)
      p.heavy.batches.push_back(b);
  }
  std::vector<std::pair<double, double>> points;
  for (const auto& f : lines_of(folder + "deferral.csv"))
    if (f[0] == light + ":" + heavy)
      points.emplace_back(std::stod(f[1]), std::stod(f[2]));
  p.deferred = deferral_of(points);
  p.workers = 16;
  p.slo = slo;
  return p;
}

} // namespace atelier::test
