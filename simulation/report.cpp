// SPDX-License-Identifier: Apache-2.0
#include <atelier/simulation/detail/report_columns.hpp>
#include <atelier/simulation/report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace atelier::runtime {

namespace {

using detail::joules_of_kwh;

double per_image(const outcome& x) {
  return x.joules / static_cast<double>(x.images);
}

} // namespace

std::string to_json(const outcome& x) {
  nlohmann::ordered_json j;
  j["policy"] = x.policy;
  j["seed"] = x.seed;
  j["requests"] = x.requests;
  j["images"] = x.images;
  j["completed"] = x.completed;
  j["dropped"] = x.dropped;
  j["violations"] = x.violations();
  j["violation_ratio"] = x.violation_ratio();
  j["trace"] = {{"sorted_lines", x.trace_moved},
                {"failed_when_recorded", x.trace_failed},
                {"tenants", x.tenants}};
  if (!x.infeasible.empty())
    j["infeasible"] = x.infeasible;
  if (x.rated && x.completed > 0)
    j["quality_mean"] = x.quality_mean;
  else
    j["quality_mean"] = nullptr;
  if (x.fid >= 0 && x.completed > 0) {
    j["fid"] = x.fid;
    j["light_share"] = x.light_share;
  } else if (x.fid >= 0) {
    j["fid"] = nullptr;
    j["light_share"] = nullptr;
  }
  j["throughput_qps"] = x.throughput_qps;
  j["latency_ms"] = {{"mean", x.latency_mean_ms},
                     {"p50", x.latency_p50_ms},
                     {"p95", x.latency_p95_ms},
                     {"p99", x.latency_p99_ms}};
  j["first_step_ms"] = {{"mean", x.first_step_mean_ms}};
  j["steps_ms"] = {{"p95", x.steps_p95_ms}};
  j["edits"] = x.edits;
  if (x.edits > 0)
    j["masked_mean"] = x.masked_mean;
  j["utilisation"] = x.utilisation;
  j["device_seconds"] = x.device_seconds;
  if (x.joules >= 0) {
    j["energy"] = {{"kwh", x.joules / joules_of_kwh},
                   {"idle_kwh", x.idle_joules / joules_of_kwh}};
    if (x.images > 0)
      j["energy"]["joules_per_image"] = per_image(x);
  }
  for (const kind_use& k : x.kinds) {
    nlohmann::ordered_json use{
      {"kind", k.kind},
      {"devices", k.devices},
      {"device_seconds", k.device_seconds},
      {"utilisation", k.device_seconds / (x.virtual_seconds * k.devices)}};
    if (k.joules >= 0)
      use["energy"] = {{"kwh", k.joules / joules_of_kwh},
                       {"idle_kwh", k.idle_joules / joules_of_kwh}};
    j["kinds"].push_back(std::move(use));
  }
  j["saved_steps"] = x.saved_steps;
  j["cache"] = {{"hits", x.cache_hits}, {"lookups", x.cache_lookups}};
  if (x.cache_entries > 0) {
    auto& cache = j["cache"];
    cache["entries"] = x.cache_entries;
    cache["inserted"] = x.cache_inserted;
    cache["evicted"] = x.cache_evicted;
    cache["holes"] = x.cache_holes;
    cache["hit_age_s"] = {{"p50", x.hit_age_p50_seconds},
                          {"p90", x.hit_age_p90_seconds}};
  }
  j["loads"] = x.loads;
  j["workers_lost"] = x.workers_lost;
  j["plans"] = x.plans;
  j["plan_ms"] = {{"p50", x.plan_p50_wall_ms}, {"max", x.plan_max_wall_ms}};
  j["route_us"] = {{"p50", x.route_p50_wall_us}, {"p99", x.route_p99_wall_us}};
  j["wall_s"] = x.wall_seconds;
  j["events"] = x.events;
  j["digest"] = fmt::format("{:016x}", x.digest);
  return j.dump();
}

std::string to_table(std::span<const outcome> all) {
  if (all.empty())
    return {};
  const auto columns = detail::columns_for(all);
  std::vector<std::string> lines(all.size() + 1);
  for (size_t c = 0; c < columns.size(); ++c) {
    std::vector<std::string> cells{columns[c].title};
    for (const auto& x : all)
      cells.push_back(columns[c].cell(x));
    size_t widest = 0;
    for (const auto& cell : cells)
      widest = std::max(widest, cell.size());
    for (size_t i = 0; i < cells.size(); ++i)
      lines[i] += c == 0 ? fmt::format("{:<{}}", cells[i], widest)
                         : fmt::format("  {:>{}}", cells[i], widest);
  }
  std::string out;
  for (const auto& line : lines)
    out += line + "\n";
  for (const auto& x : all)
    if (!x.infeasible.empty())
      out += fmt::format("{}: {}\n", x.policy, x.infeasible);
  return out;
}

std::string to_csv(std::span<const outcome> all) {
  std::string out =
    "policy,begin_s,arrived,in_time,late,dropped,answered,quality_sum,light,"
    "searches,hits,threshold,open,cached,images,loads,variant,workers\n";
  for (const auto& x : all)
    for (const auto& i : x.series) {
      const auto quality =
        x.rated ? fmt::format("{:.6f}", i.quality_sum) : std::string{};
      const auto head =
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", x.policy,
                    i.begin_seconds, i.arrived, i.in_time, i.late, i.dropped,
                    i.answered_here, quality, i.light, i.searches, i.hits,
                    i.threshold < 0 ? "" : fmt::format("{}", i.threshold),
                    i.open, i.cached, i.images, i.loads);
      if (i.workers.empty())
        out += fmt::format("{},,\n", head);
      for (size_t v = 0; v < i.workers.size(); ++v)
        out += fmt::format("{},{},{}\n", head,
                           v < x.variants.size() ? x.variants[v] : "changing",
                           i.workers[v]);
    }
  return out;
}

} // namespace atelier::runtime
