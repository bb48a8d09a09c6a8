// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/chart.hpp>
#include <atelier/core/markup.hpp>
#include <atelier/core/report_page.hpp>
#include <atelier/simulation/detail/report_columns.hpp>
#include <atelier/simulation/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace atelier::runtime {

namespace {

using core::chart;
using core::chart_line;
using core::escape_html;

double percent(uint64_t some, uint64_t of) {
  return 100 * static_cast<double>(some) / static_cast<double>(of);
}

double width_of(const outcome& x) {
  return x.series.size() > 1
         ? x.series[1].begin_seconds - x.series[0].begin_seconds
         : 1;
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
      [](auto& i) { return i.images > 0 ? percent(i.light, i.images) : -1; },
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
      [](auto& i) { return i.searches > 0 ? percent(i.hits, i.searches) : -1; },
      5));
  if (std::any_of(all.begin(), all.end(),
                  [](const outcome& x) { return x.cache_entries > 0; }))
    out.push_back(
      chart_of(all, "Contents of the cache", "latents or images",
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

std::string table_of(std::span<const outcome> all,
                     const std::vector<detail::column>& columns) {
  std::vector<std::vector<std::string>> rows(all.size() + 1);
  for (const auto& c : columns) {
    rows[0].push_back(c.title);
    for (size_t i = 0; i < all.size(); ++i)
      rows[i + 1].push_back(c.cell(all[i]));
  }
  return core::report_table("Policies", rows);
}

std::string legend_of(const std::vector<detail::column>& columns) {
  std::string out = "<details><summary>What the columns mean</summary>\n"
                    "<dl class=\"columns\">\n";
  for (const auto& c : columns)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(c.title),
                       escape_html(c.meaning));
  return out + "</dl></details>\n";
}

} // namespace

std::string to_html(std::span<const outcome> all, const std::string& title) {
  auto out = core::report_head(title);
  if (all.empty())
    return out + "<p>No policy was simulated.</p>\n" + core::report_end();
  const auto columns = detail::columns_for(all);
  out += table_of(all, columns);
  for (const auto& x : all)
    if (!x.infeasible.empty())
      out += fmt::format("<p>{}: {}</p>\n", escape_html(x.policy),
                         escape_html(x.infeasible));
  out += legend_of(columns) + "<h2>Over time</h2>\n<div class=\"plots\">\n";
  for (const auto& c : charts_for(all))
    out += to_figure(c);
  return out + "</div>\n" + core::report_end();
}

} // namespace atelier::runtime
