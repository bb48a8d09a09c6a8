// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile_file.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace atelier::test {

/// Returns a profile whose variants are the levels of a ladder, the best one
/// first.
inline planning::profile with_ladder(const std::vector<std::string>& levels) {
  planning::profile p;
  planning::ladder_profile ladder;
  ladder.kind = planning::ladder_kind::smaller_models;
  for (const auto& name : levels) {
    const auto i = static_cast<uint32_t>(p.variants.size());
    auto v = *planning::parse_variant(name);
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, std::chrono::milliseconds{1}, 9}};
    v.quality = 0.9 - 0.1 * i;
    ladder.levels.push_back({core::variant_id{i}, 0, v.quality, {}});
    p.variants.push_back(v);
  }
  p.ladders = {ladder};
  return p;
}

/// Returns a file with a plan of `argus` that sends each predicted class to its
/// own level, by the route "level N".
inline std::string plan_by_class(const std::vector<std::string>& levels) {
  const auto count = levels.size();
  std::string hosting;
  std::string plain;
  std::string by_class;
  std::string share;
  for (size_t i = 0; i < count; ++i) {
    const char* const comma = i > 0 ? ", " : "";
    const auto route = [&](size_t number, const std::string& name) {
      return fmt::format(
        R"({}{{"route": {}, "name": "{}", "stages": [{{"any_of": ["{}"]}}]}})",
        number > 0 ? ", " : "", number, name, levels[i]);
    };
    hosting += fmt::format("{}\"{}\"", comma, levels[i]);
    plain += route(i, levels[i]);
    by_class += route(count + i, "level " + std::to_string(i));
    share += fmt::format("{}{{\"{}\": 1}}", comma, count + i);
  }
  return fmt::format(
    R"({{"format": "atelier.plan", "version": 1, "policy": "argus",
    "memory": {{"of": "argus", "phase": "models", "first_route": {0},
                "levels": {0}}},
    "workers": [{{"count": 1, "batch": 1, "join": "single",
                  "hosting": [{1}]}}],
    "routes": [{2}{3}], "share": [{4}]}})",
    count, hosting, plain, by_class, share);
}

} // namespace atelier::test
