// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/markup.hpp>
#include <atelier/simulation/chart.hpp>
#include <atelier/simulation/report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace atelier::runtime {

namespace {

double part(uint64_t some, uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(some) / static_cast<double>(of);
}

constexpr double joules_of_kwh = 3.6e6;

double per_image(const outcome& x) {
  return x.joules / static_cast<double>(x.images);
}

double width_of(const outcome& x) {
  return x.series.size() > 1
         ? x.series[1].begin_seconds - x.series[0].begin_seconds
         : 1;
}

/// One cell of the table.
struct column {
  const char* title;
  std::function<std::string(const outcome&)> cell;
};

std::vector<column> columns_for(std::span<const outcome> all) {
  const bool fid = std::any_of(all.begin(), all.end(),
                               [](const outcome& x) { return x.fid >= 0; });
  const bool energy = std::any_of(
    all.begin(), all.end(), [](const outcome& x) { return x.joules >= 0; });
  const bool cache = std::any_of(all.begin(), all.end(), [](const outcome& x) {
    return x.cache_lookups > 0;
  });
  std::vector<column> out{
    {"policy", [](const outcome& x) { return x.policy; }},
    {"requests",
     [](const outcome& x) { return fmt::format("{}", x.requests); }},
    {"late", [](const outcome& x) { return fmt::format("{}", x.late); }},
    {"dropped", [](const outcome& x) { return fmt::format("{}", x.dropped); }},
    {"violations %",
     [](const outcome& x) {
       return fmt::format("{:.2f}", 100 * x.violation_ratio());
     }},
    {"quality", [](const outcome& x) {
       return x.rated && x.completed > 0 ? fmt::format("{:.4f}", x.quality_mean)
                                         : "-";
     }}};
  if (fid) {
    out.push_back({"FID", [](const outcome& x) {
                     return x.completed > 0 ? fmt::format("{:.2f}", x.fid)
                                            : "-";
                   }});
    out.push_back({"light %", [](const outcome& x) {
                     return x.completed > 0
                            ? fmt::format("{:.1f}", 100 * x.light_share)
                            : "-";
                   }});
  }
  if (energy) {
    out.push_back({"kWh", [](const outcome& x) {
                     return x.joules < 0
                            ? "-"
                            : fmt::format("{:.4g}", x.joules / joules_of_kwh);
                   }});
    out.push_back({"J/image", [](const outcome& x) {
                     return x.joules < 0 || x.images == 0
                            ? "-"
                            : fmt::format("{:.4g}", per_image(x));
                   }});
  }
  if (cache)
    out.push_back({"hits %", [](const outcome& x) {
                     return fmt::format("{:.1f}",
                                        100 * part(x.cache_hits, x.requests));
                   }});
  const std::vector<column> rest{
    {"images/s",
     [](const outcome& x) { return fmt::format("{:.2f}", x.throughput_qps); }},
    {"p50 s",
     [](const outcome& x) {
       return fmt::format("{:.2f}", x.latency_p50_ms / 1000);
     }},
    {"p99 s",
     [](const outcome& x) {
       return fmt::format("{:.2f}", x.latency_p99_ms / 1000);
     }},
    {"busy %",
     [](const outcome& x) {
       return fmt::format("{:.1f}", 100 * x.utilisation);
     }},
    {"loads", [](const outcome& x) { return fmt::format("{}", x.loads); }},
    {"plan ms", [](const outcome& x) {
       return fmt::format("{:.2f}", x.plan_mean_wall_ms);
     }}};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

using value_of = std::function<double(const interval&)>;

chart_line line_of(const outcome& x, const std::string& name,
                   const value_of& value, size_t mean_over = 1) {
  chart_line out;
  out.name = name;
  for (size_t i = 0; i < x.series.size(); ++i) {
    double sum = 0;
    size_t n = 0;
    for (size_t k = i + 1 >= mean_over ? i + 1 - mean_over : 0; k <= i; ++k) {
      const double v = value(x.series[k]);
      if (v >= 0) {
        sum += v;
        ++n;
      }
    }
    if (n > 0)
      out.points.emplace_back(x.series[i].begin_seconds,
                              sum / static_cast<double>(n));
  }
  return out;
}

constexpr auto time_axis = "time since the first request (s)";

chart chart_of(std::span<const outcome> all, std::string title,
               std::string y_axis, const value_of& value,
               size_t mean_over = 1) {
  chart c;
  c.title = std::move(title);
  c.x_axis = time_axis;
  c.y_axis = std::move(y_axis);
  for (const auto& x : all)
    c.lines.push_back(line_of(x, x.policy, value, mean_over));
  return c;
}

std::vector<chart> charts_for(std::span<const outcome> all) {
  const double width = width_of(all.front());
  std::vector<chart> out;
  chart demand;
  demand.title = "Demand";
  demand.x_axis = time_axis;
  demand.y_axis = "requests/s";
  demand.lines = {line_of(all.front(), "arrivals", [&](const interval& i) {
    return static_cast<double>(i.arrived) / width;
  })};
  out.push_back(demand);
  auto throughput = chart_of(all, "Throughput", "images/s", [&](auto& i) {
    return static_cast<double>(i.answered_here) / width;
  });
  auto arrivals = demand.lines.front();
  arrivals.reference = true;
  throughput.lines.insert(throughput.lines.begin(), arrivals);
  out.push_back(throughput);
  out.push_back(chart_of(
    all, "Requests late or dropped, mean of 5 intervals",
    "share of the arrivals (%)",
    [](auto& i) { return i.arrived > 0 ? 100 * i.violation_ratio() : -1; }, 5));
  if (std::any_of(all.begin(), all.end(),
                  [](const outcome& x) { return x.rated; })) {
    auto quality = chart_of(
      all, "Quality of the answers, mean of 5 intervals",
      "mean quality (the profile's scale)",
      [](auto& i) {
        return i.images > 0 ? i.quality_sum / static_cast<double>(i.images)
                            : -1;
      },
      5);
    quality.from_zero = false;
    out.push_back(quality);
  }
  if (std::any_of(all.begin(), all.end(),
                  [](const outcome& x) { return x.fid >= 0; })) {
    out.push_back(chart_of(
      all, "Answered by the light variant, mean of 5 intervals",
      "share of the answers (%)",
      [](auto& i) { return i.images > 0 ? 100 * part(i.light, i.images) : -1; },
      5));
    auto threshold = chart_of(all, "Threshold of the cascade", "confidence",
                              [](auto& i) { return i.threshold; });
    threshold.steps = true;
    out.push_back(threshold);
  }
  if (std::any_of(all.begin(), all.end(),
                  [](const outcome& x) { return x.cache_lookups > 0; }))
    out.push_back(chart_of(
      all, "Cache hits, mean of 5 intervals", "share of the searches (%)",
      [](auto& i) {
        return i.searches > 0 ? 100 * part(i.hits, i.searches) : -1;
      },
      5));
  if (std::any_of(all.begin(), all.end(),
                  [](const outcome& x) { return x.cache_entries > 0; }))
    out.push_back(
      chart_of(all, "Contents of the cache", "latents or pictures",
               [](auto& i) { return static_cast<double>(i.cached); }));
  for (const auto& x : all) {
    chart c;
    c.title = fmt::format("Workers by variant: {}", x.policy);
    c.x_axis = time_axis;
    c.y_axis = "workers";
    c.steps = true;
    for (size_t v = 0; v <= x.variants.size(); ++v) {
      const auto value = [v](const interval& i) {
        return v < i.workers.size() ? static_cast<double>(i.workers[v]) : -1;
      };
      auto line = line_of(
        x, v < x.variants.size() ? x.variants[v] : "changing variants", value);
      line.reference = v == x.variants.size();
      if (std::any_of(line.points.begin(), line.points.end(),
                      [](const auto& p) { return p.second > 0; }))
        c.lines.push_back(std::move(line));
    }
    out.push_back(std::move(c));
  }
  return out;
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
  const auto columns = columns_for(all);
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

std::string to_html(std::span<const outcome> all, const std::string& title) {
  std::string out = fmt::format(
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<title>{0}</title>\n<style>\nbody {{ font-family: sans-serif; margin: "
    "24px; max-width: 1500px; }}\ntable {{ border-collapse: collapse; margin: "
    "16px 0; }}\nth, td {{ border-bottom: 1px solid #ccc; padding: 4px 10px; "
    "text-align: right; }}\nth:first-child, td:first-child {{ text-align: "
    "left; }}\n.plots {{ display: flex; flex-wrap: wrap; gap: 16px; }}\n.plots "
    "svg {{ border: 1px solid #ddd; max-width: 100%; height: auto; }}\n"
    "</style></head>\n<body>\n<h1>{0}</h1>\n<table>\n<tr>",
    core::escape_html(title));
  if (all.empty())
    return out + "</tr></table></body></html>\n";
  const auto columns = columns_for(all);
  for (const auto& c : columns)
    out += fmt::format("<th>{}</th>", core::escape_html(c.title));
  out += "</tr>\n";
  for (const auto& x : all) {
    out += "<tr>";
    for (const auto& c : columns)
      out += fmt::format("<td>{}</td>", core::escape_html(c.cell(x)));
    out += "</tr>\n";
  }
  out += "</table>\n<div class=\"plots\">\n";
  for (const auto& c : charts_for(all))
    out += to_svg(c);
  return out + "</div>\n</body></html>\n";
}

} // namespace atelier::runtime
