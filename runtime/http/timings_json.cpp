// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/timings_json.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <utility>

namespace atelier::runtime::http {

namespace {

using part = std::chrono::nanoseconds timings::*;

constexpr std::array<std::pair<const char*, part>, 9> parts{{
  {"queue", &timings::queue},
  {"classify", &timings::classify},
  {"retrieve", &timings::retrieve},
  {"preprocess", &timings::preprocess},
  {"text", &timings::text},
  {"denoise", &timings::denoise},
  {"decode", &timings::decode},
  {"postprocess", &timings::postprocess},
  {"total", &timings::total},
}};

} // namespace

nlohmann::ordered_json timings_json(const timings& x) {
  nlohmann::ordered_json out;
  for (const auto& [name, member] : parts)
    out[name] = std::chrono::duration<double, std::milli>(x.*member).count();
  return out;
}

timings read_timings(const nlohmann::json& from) {
  // A server that says more than a year says nonsense.
  constexpr double most_ms = 365.0 * 24 * 3600 * 1000;
  timings out;
  if (!from.is_object())
    return out;
  for (const auto& [name, member] : parts) {
    const auto i = from.find(name);
    if (i == from.end() || !i->is_number())
      continue;
    const auto ms = i->get<double>();
    if (ms >= 0 && ms <= most_ms)
      out.*member = std::chrono::nanoseconds{std::llround(ms * 1e6)};
  }
  return out;
}

} // namespace atelier::runtime::http
