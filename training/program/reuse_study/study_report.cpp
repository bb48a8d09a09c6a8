// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/program/reuse_study/study_report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace atelier::runtime::reuse_study {

namespace {

using json = nlohmann::ordered_json;

/// The bound from which a likeness is to matter: 20 of 50 steps.
constexpr uint32_t bound_steps = 20;
constexpr uint32_t bound_of = 50;

constexpr std::string_view reusing_system = "nirvana";
constexpr std::string_view random_system = "random-entry";

using chosen_lines = std::function<bool(const answered_line&)>;

compared_systems compare(std::string_view system,
                         std::span<const answered_line> a,
                         std::string_view with,
                         std::span<const answered_line> b, std::string among,
                         const chosen_lines& chosen) {
  compared_systems out;
  out.system = system;
  out.with = with;
  out.among = std::move(among);
  std::vector<pair_of_values> objects;
  std::vector<pair_of_values> device;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!chosen(a[i]))
      continue;
    device.push_back({a[i].device_ms(), b[i].device_ms(), a[i].session});
    if (a[i].objects_said > 0 && b[i].objects_said > 0)
      objects.push_back({double{1} * a[i].objects_right / a[i].objects_said,
                         double{1} * b[i].objects_right / b[i].objects_said,
                         a[i].session});
  }
  out.objects = difference_of(objects);
  out.device_ms = difference_of(device);
  return out;
}

bool all(const answered_line&) {
  return true;
}

/// Returns `nirvana` compared with `random-entry`: where both reuse, and by the
/// steps that they skip.
std::vector<compared_systems> compare_likeness(std::span<const answered_line> a,
                                               std::span<const answered_line> b,
                                               uint32_t steps) {
  std::vector<compared_systems> out;
  const auto add = [&](std::string among, const chosen_lines& chosen) {
    out.push_back(
      compare(reusing_system, a, random_system, b, std::move(among), chosen));
  };
  add("reused", [](const auto& x) { return !x.reused.empty(); });
  const auto bound = (bound_steps * steps + bound_of - 1) / bound_of;
  add(fmt::format("K>={}", bound),
      [&](const auto& x) { return x.skipped >= bound; });
  std::set<uint32_t> skips;
  for (const auto& x : a)
    if (x.skipped > 0)
      skips.insert(x.skipped);
  for (const auto k : skips)
    add(fmt::format("K={}", k), [&](const auto& x) { return x.skipped == k; });
  return out;
}

json json_of(const paired_difference& x) {
  json out{{"pairs", x.pairs}, {"mean", x.mean}};
  if (x.half) {
    out["low"] = x.low();
    out["high"] = x.high();
  }
  return out;
}

json json_of(const system_summary& x) {
  json out{{"system", x.name},
           {"requests", x.requests},
           {"hit_rate", x.hit_rate()},
           {"skipped_of_hits", x.skipped},
           {"similarity_of_hits", x.similarity},
           {"steps_run", x.steps_run},
           {"device_ms", x.device_ms}};
  if (x.objects)
    out["objects_right"] = *x.objects;
  if (x.distance)
    out["distance"] = *x.distance;
  out["skips"] = json::object();
  for (const auto& [skip, count] : x.skips)
    out["skips"][std::to_string(skip)] = count;
  return out;
}

std::string percent(const std::optional<double>& x) {
  return x ? fmt::format("{:.1f}", 100 * *x) : "-";
}

/// Returns a difference of shares in points, with its interval.
std::string points(const paired_difference& x) {
  if (x.pairs == 0)
    return "-";
  return x.half ? fmt::format("{:+.1f} ({:+.1f} to {:+.1f})", 100 * x.mean,
                              100 * x.low(), 100 * x.high())
                : fmt::format("{:+.1f}", 100 * x.mean);
}

std::string verdict(const paired_difference& x) {
  return x.pairs == 0 ? ""
       : x.is_above() ? "above"
       : x.is_below() ? "below"
                      : "no difference shown";
}

} // namespace

system_summary summary_of(std::string name,
                          std::span<const answered_line> lines) {
  system_summary out;
  out.name = std::move(name);
  out.requests = lines.size();
  double objects = 0, judged = 0, distance = 0, apart = 0;
  for (const auto& x : lines) {
    if (!x.reused.empty()) {
      ++out.hits;
      ++out.skips[x.skipped];
      out.skipped += x.skipped;
      out.similarity += x.similarity;
    }
    out.steps_run += x.steps_run;
    out.device_ms += x.device_ms();
    if (x.objects_said > 0) {
      objects += double{1} * x.objects_right / x.objects_said;
      ++judged;
    }
    if (x.distance) {
      distance += *x.distance;
      ++apart;
    }
  }
  if (out.hits > 0) {
    out.skipped /= static_cast<double>(out.hits);
    out.similarity /= static_cast<double>(out.hits);
  }
  if (out.requests > 0) {
    out.steps_run /= static_cast<double>(out.requests);
    out.device_ms /= static_cast<double>(out.requests);
  }
  if (judged > 0)
    out.objects = objects / judged;
  if (apart > 0)
    out.distance = distance / apart;
  return out;
}

std::vector<compared_systems> compare_systems(const study_results& of,
                                              uint32_t steps) {
  std::vector<compared_systems> out;
  const auto find = [&](std::string_view name) {
    return std::ranges::find_if(
      of.systems, [&](const auto& x) { return x.first->name == name; });
  };
  if (const auto full = find(full_system); full != of.systems.end())
    for (const auto& [system, lines] : of.systems)
      if (system->name != full_system)
        out.push_back(
          compare(system->name, lines, full_system, full->second, "all", all));
  const auto reusing = find(reusing_system);
  if (reusing == of.systems.end())
    return out;
  for (const auto& [system, lines] : of.systems)
    if (system->name != full_system && system->name != reusing_system)
      out.push_back(compare(reusing_system, reusing->second, system->name,
                            lines, "all", all));
  if (const auto random = find(random_system); random != of.systems.end())
    for (auto& x : compare_likeness(reusing->second, random->second, steps))
      out.push_back(std::move(x));
  return out;
}

core::result<study_report> report_of(const study_plan& plan,
                                     const study_results& of) {
  study_report out;
  out.variant = plan.variant;
  out.warm = plan.warm;
  for (const auto& [system, lines] : of.systems)
    out.systems.push_back(summary_of(std::string{system->name}, lines));
  out.compared = compare_systems(of, of.setup.variant().steps);
  auto simulated = simulate_systems(of);
  if (!simulated)
    return simulated.why();
  out.simulated = std::move(*simulated);
  return out;
}

std::string to_json(std::span<const study_report> all) {
  json out{{"format", "atelier.reuse-study.report"},
           {"version", 1},
           {"variants", json::array()}};
  for (const auto& x : all) {
    json each{{"variant", x.variant},
              {"warm", x.warm},
              {"systems", json::array()},
              {"compared", json::array()},
              {"simulated", json::array()}};
    for (const auto& system : x.systems)
      each["systems"].push_back(json_of(system));
    for (const auto& pair : x.compared)
      each["compared"].push_back({{"system", pair.system},
                                  {"with", pair.with},
                                  {"among", pair.among},
                                  {"objects_right", json_of(pair.objects)},
                                  {"device_ms", json_of(pair.device_ms)}});
    for (const auto& s : x.simulated)
      each["simulated"].push_back(
        {{"system", s.name},
         {"live_hit_rate", s.live_hit_rate},
         {"simulated_hit_rate", s.simulated_hit_rate},
         {"live_device_seconds", s.live_device_seconds},
         {"simulated_device_seconds", s.simulated_device_seconds}});
    out["variants"].push_back(std::move(each));
  }
  return out.dump(2) + "\n";
}

std::string to_text(const study_report& x) {
  auto out = fmt::format(
    "{}: {} requests fill the cache, {} are measured\n\n"
    "{:<14} {:>6} {:>5} {:>10} {:>6} {:>9} {:>8} {:>8}\n"
    "{:<14} {:>6} {:>5} {:>10} {:>6} {:>9} {:>8} {:>8}\n",
    x.variant, x.warm, x.systems.empty() ? 0 : x.systems.front().requests, "",
    "hits", "K", "similarity", "steps", "device", "objects", "distance",
    "system", "%", "mean", "of hits", "run", "s/request", "right %", "to full");
  for (const auto& s : x.systems)
    out += fmt::format(
      "{:<14} {:>6.1f} {:>5.1f} {:>10.3f} {:>6.1f} {:>9.3f} {:>8} {:>8}\n",
      s.name, 100 * s.hit_rate(), s.skipped, s.similarity, s.steps_run,
      s.device_ms / 1000, percent(s.objects),
      s.distance ? fmt::format("{:.4f}", *s.distance) : "-");
  out += "\nRequests by skipped steps:\n";
  for (const auto& s : x.systems)
    if (s.hits > 0) {
      out += fmt::format("  {:<14}", s.name);
      for (const auto& [skip, count] : s.skips)
        out += fmt::format(" K={}: {}", skip, count);
      out += '\n';
    }
  const bool is_judged = std::ranges::any_of(
    x.compared, [](const auto& c) { return c.objects.pairs > 0; });
  if (is_judged)
    out += fmt::format("\nObjects right on the same requests, in points with "
                       "the 95 % interval:\n");
  for (const auto& c : x.compared)
    if (c.objects.pairs > 0)
      out += fmt::format("  {:<14} - {:<14} {:<7} {:>5} pairs {:<24} {}\n",
                         c.system, c.with, c.among, c.objects.pairs,
                         points(c.objects), verdict(c.objects));
  if (!x.simulated.empty())
    out += "\nLive, and simulated with measured times:\n";
  for (const auto& s : x.simulated)
    out += fmt::format(
      "  {:<14} hits {:.1f} % live, {:.1f} % simulated; device {:.1f} s live, "
      "{:.1f} s simulated ({:+.1f} %)\n",
      s.name, 100 * s.live_hit_rate, 100 * s.simulated_hit_rate,
      s.live_device_seconds, s.simulated_device_seconds,
      s.live_device_seconds > 0
        ? 100 * (s.simulated_device_seconds / s.live_device_seconds - 1)
        : 0);
  return out;
}

} // namespace atelier::runtime::reuse_study
