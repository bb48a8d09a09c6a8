// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/markup.hpp>
#include <atelier/training/evaluation/detail/svg_plot.hpp>
#include <atelier/training/evaluation/evaluation_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace atelier::gpu {

namespace {

using core::escape_html;
using detail::svg_plot;

std::string percent(double x) {
  return fmt::format("{:.1f}", 100 * x);
}

std::string number(const std::optional<double>& x) {
  return x ? fmt::format("{:.3f}", *x) : "-";
}

using row = std::vector<std::string>;

std::vector<row> table_of_runs(const evaluation& x) {
  std::vector<row> out{{"variant", "guidance", "sampler", "objects %",
                        "fully %", "1", "2", "3", "score", "distance",
                        "ms a picture"}};
  for (const auto& run : x.runs) {
    row cells{fmt::format("{}@{}", run.variant.model, run.variant.steps),
              fmt::format("{:g}", run.guidance),
              std::string{core::to_string(run.sampler)},
              percent(run.all.objects), percent(run.all.fully)};
    for (size_t i = 0; i < 3; ++i)
      cells.push_back(
        i < run.by_objects.size() ? percent(run.by_objects[i].fully) : "-");
    cells.push_back(number(run.all.score));
    cells.push_back(number(run.distance));
    cells.push_back(fmt::format("{:.1f}", run.took.total()));
    out.push_back(std::move(cells));
  }
  return out;
}

std::string likeness(const std::optional<uint32_t>& changes) {
  return changes ? fmt::format("{} changes", *changes) : "another scene";
}

std::vector<row> table_of_starts(const evaluation& x, start_kind from) {
  std::vector<row> out{
    {"steps left out", "prompt", "similarity", "objects %", "fully %"}};
  for (const auto& start : x.starts)
    if (start.from == from)
      out.push_back(
        {fmt::format("{} of {}", start.skipped, x.start_steps),
         start.skipped == 0 ? "from noise" : likeness(start.changes),
         start.skipped == 0 ? "-" : fmt::format("{:.3f}", start.similarity),
         percent(start.quality.objects), percent(start.quality.fully)});
  return out;
}

std::string text_of(const std::vector<row>& table) {
  std::vector<size_t> widths(table.front().size());
  for (const auto& cells : table)
    for (size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], cells[i].size());
  std::string out;
  for (const auto& cells : table) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i)
      line += i == 0 ? fmt::format("{:<{}}", cells[i], widths[i])
                     : fmt::format("  {:>{}}", cells[i], widths[i]);
    out += line + "\n";
  }
  return out;
}

std::string html_of(const std::vector<row>& table) {
  std::string out = "<table>\n";
  for (size_t i = 0; i < table.size(); ++i) {
    out += "<tr>";
    for (const auto& cell : table[i])
      out +=
        fmt::format("<{0}>{1}</{0}>", i == 0 ? "th" : "td", escape_html(cell));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string name_of(const evaluated_run& x, bool with_sampler) {
  auto out = fmt::format("{}, guidance {:g}", x.variant.model, x.guidance);
  if (with_sampler)
    out += fmt::format(", {}", core::to_string(x.sampler));
  return out;
}

std::string name_of(const evaluated_cascade& x) {
  return fmt::format("{}@{}, then {}@{}", x.light.model, x.light.steps,
                     x.heavy.model, x.heavy.steps);
}

// A line for each model, guidance and sampler, by steps.
template <class Point>
std::vector<detail::plot_line> lines_of(const evaluation& x, Point point) {
  std::vector<detail::plot_line> out;
  const auto many = x.plan.samplers.size() > 1;
  for (const auto& run : x.runs) {
    const auto name = name_of(run, many);
    auto at = std::ranges::find(out, name, &detail::plot_line::name);
    if (at == out.end())
      at = out.insert(out.end(), {name, {}});
    if (const auto p = point(run))
      at->points.push_back(*p);
  }
  for (auto& line : out)
    std::ranges::sort(line.points);
  return out;
}

using point = std::optional<std::pair<double, double>>;

std::vector<svg_plot> plots_of(const evaluation& x) {
  std::vector<svg_plot> out;
  out.push_back({"Objects right by time", "ms a picture", "objects right, %",
                 lines_of(x,
                          [](const evaluated_run& run) -> point {
                            return {{run.took.total(), 100 * run.all.objects}};
                          }),
                 true});
  out.push_back({"Objects right by steps", "steps", "objects right, %",
                 lines_of(x,
                          [](const evaluated_run& run) -> point {
                            return {{run.variant.steps, 100 * run.all.objects}};
                          }),
                 false});
  for (size_t objects = 1; objects <= 3; ++objects)
    out.push_back({fmt::format("Fully right, {} object{}", objects,
                               objects == 1 ? "" : "s"),
                   "steps", "pictures fully right, %",
                   lines_of(x,
                            [&](const evaluated_run& run) -> point {
                              if (run.by_objects.size() < objects)
                                return {};
                              return {
                                {run.variant.steps,
                                 100 * run.by_objects[objects - 1].fully}};
                            }),
                   false});
  if (std::ranges::any_of(x.runs,
                          [](const auto& r) { return r.distance.has_value(); }))
    out.push_back({"Distance from renders by time", "ms a picture",
                   "Frechet distance on the scorer's features",
                   lines_of(x,
                            [](const evaluated_run& run) -> point {
                              if (!run.distance)
                                return {};
                              return {{run.took.total(), *run.distance}};
                            }),
                   true});
  if (!x.cascades.empty()) {
    svg_plot plot{"Cascades: objects right by what is drawn again",
                  "answered by the heavy variant, %",
                  "objects right, %",
                  {},
                  false};
    for (const auto& cascade : x.cascades) {
      detail::plot_line line{name_of(cascade), {}};
      for (const auto& p : cascade.points)
        line.points.emplace_back(100 * p.deferred, 100 * p.objects);
      plot.lines.push_back(std::move(line));
    }
    out.push_back(std::move(plot));
  }
  for (const auto from : {start_kind::latent, start_kind::image}) {
    std::map<uint32_t, detail::plot_line> lines;
    for (const auto& start : x.starts)
      if (start.from == from && start.skipped > 0) {
        auto& line = lines[start.skipped];
        line.name =
          fmt::format("{} of {} left out", start.skipped, x.start_steps);
        line.points.emplace_back(start.similarity, 100 * start.quality.objects);
      }
    if (lines.empty())
      continue;
    svg_plot plot{from == start_kind::latent ? "Starts from others' latents"
                                             : "Starts from others' images",
                  "similarity of the other prompt",
                  "objects right, %",
                  {},
                  false};
    for (auto& [skipped, line] : lines) {
      std::ranges::sort(line.points);
      plot.lines.push_back(std::move(line));
    }
    out.push_back(std::move(plot));
  }
  return out;
}

// Where a tenth more each is drawn again.
std::vector<row> table_of_cascade(const evaluated_cascade& x) {
  std::vector<row> out{
    {"threshold", "drawn again %", "objects %", "by chance %", "distance"}};
  const auto light = x.points.front().objects;
  const auto heavy = x.points.back().objects;
  double next = 0;
  for (const auto& p : x.points) {
    if (p.deferred < next && &p != &x.points.back())
      continue;
    next = p.deferred + 0.1;
    out.push_back({fmt::format("{:.3f}", p.threshold), percent(p.deferred),
                   percent(p.objects),
                   percent(light + p.deferred * (heavy - light)),
                   number(p.distance)});
  }
  return out;
}

std::vector<row> table_of_trends(const evaluation& x) {
  std::vector<row> out{
    {"start", "steps left out", "correlation of similarity and objects right"}};
  for (const auto& trend : x.trends)
    out.push_back({std::string{to_string(trend.from)},
                   std::to_string(trend.skipped),
                   fmt::format("{:.2f}", trend.correlation)});
  return out;
}

constexpr auto head =
  R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Evaluation</title><style>
body{font-family:sans-serif;max-width:1320px;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;margin:1em 0}
td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child{text-align:left}
svg{border:1px solid #eee;margin:.3em}
</style></head><body>
)";

} // namespace

std::string to_text(const evaluation& x) {
  auto out = text_of(table_of_runs(x));
  for (const auto& cascade : x.cascades)
    out += fmt::format("\n{}, judged by the {}\n{}", name_of(cascade),
                       cascade.judge, text_of(table_of_cascade(cascade)));
  for (const auto from : {start_kind::latent, start_kind::image})
    if (!x.starts.empty())
      out += fmt::format("\nStarts from others' {}s\n{}", to_string(from),
                         text_of(table_of_starts(x, from)));
  if (!x.trends.empty())
    out += "\n" + text_of(table_of_trends(x));
  return out;
}

std::string to_html(const evaluation& x) {
  std::string out = head;
  out += fmt::format(
    "<h1>Evaluation</h1>\n<p>{} captions of held-out scenes for each of 1, 2 "
    "and 3 objects, seed {}, {} pictures at a time on {}. Columns 1 to 3: "
    "pictures fully right by the number of objects, in per cent.</p>\n",
    x.plan.captions, x.plan.seed, x.plan.batch, escape_html(x.plan.device));
  out += html_of(table_of_runs(x));
  for (const auto& plot : plots_of(x))
    out += to_svg(plot);
  if (!x.cascades.empty())
    out += "<h2>Cascades</h2>\n<p>By chance: objects right if as many, of "
           "whatever confidence, were drawn again.</p>\n";
  for (const auto& cascade : x.cascades)
    out += fmt::format(
      "<h3>{}</h3>\n<p>Judged by the {} in {:.1f} ms a picture; correlation of "
      "confidence and objects right {:.2f}.</p>\n{}",
      escape_html(name_of(cascade)), escape_html(cascade.judge),
      cascade.judging, cascade.correlation, html_of(table_of_cascade(cascade)));
  if (!x.starts.empty()) {
    out += "<h2>Starts from what other prompts left</h2>\n";
    for (const auto from : {start_kind::latent, start_kind::image})
      out += fmt::format("<h3>From {}s</h3>\n{}", to_string(from),
                         html_of(table_of_starts(x, from)));
    if (!x.trends.empty())
      out += html_of(table_of_trends(x));
  }
  return out + "</body></html>\n";
}

} // namespace atelier::gpu
