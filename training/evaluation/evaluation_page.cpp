// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/chart.hpp>
#include <atelier/core/markup.hpp>
#include <atelier/core/report_page.hpp>
#include <atelier/training/evaluation/evaluation_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace atelier::gpu {

namespace {

using core::chart;
using core::chart_line;
using core::escape_html;

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
                        "ms per image"}};
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
    {"steps skipped", "prompt", "similarity", "objects %", "fully %"}};
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

// Returns a line over the steps for each model, guidance and sampler.
template <class Point>
std::vector<chart_line> lines_of(const evaluation& x, Point point) {
  std::vector<chart_line> out;
  const auto many = x.plan.samplers.size() > 1;
  for (const auto& run : x.runs) {
    const auto name = name_of(run, many);
    auto at = std::ranges::find(out, name, &chart_line::name);
    if (at == out.end())
      at = out.insert(out.end(), {name, {}, false});
    if (const auto p = point(run))
      at->points.push_back(*p);
  }
  for (auto& line : out)
    std::ranges::sort(line.points);
  return out;
}

using point = std::optional<std::pair<double, double>>;

chart chart_of(std::string title, std::string x_axis, std::string y_axis,
               std::vector<chart_line> lines) {
  chart out;
  out.title = std::move(title);
  out.x_axis = std::move(x_axis);
  out.y_axis = std::move(y_axis);
  out.lines = std::move(lines);
  out.dots = true;
  return out;
}

std::vector<chart> charts_of_runs(const evaluation& x) {
  std::vector<chart> out;
  out.push_back(chart_of("Objects right by time", "ms per image",
                         "objects right (%)",
                         lines_of(x, [](const evaluated_run& run) -> point {
                           return {{run.took.total(), 100 * run.all.objects}};
                         })));
  out.back().logarithmic = true;
  out.push_back(chart_of("Objects right by steps", "steps", "objects right (%)",
                         lines_of(x, [](const evaluated_run& run) -> point {
                           return {{run.variant.steps, 100 * run.all.objects}};
                         })));
  for (size_t objects = 1; objects <= 3; ++objects)
    out.push_back(chart_of(
      fmt::format("Fully right, {} object{}", objects, objects == 1 ? "" : "s"),
      "steps", "images fully right (%)",
      lines_of(x, [&](const evaluated_run& run) -> point {
        if (run.by_objects.size() < objects)
          return {};
        return {{run.variant.steps, 100 * run.by_objects[objects - 1].fully}};
      })));
  if (std::ranges::any_of(
        x.runs, [](const auto& r) { return r.distance.has_value(); })) {
    out.push_back(chart_of("Distance from renders by time", "ms per image",
                           "Fréchet distance of the scorer's features",
                           lines_of(x, [](const evaluated_run& run) -> point {
                             if (!run.distance)
                               return {};
                             return {{run.took.total(), *run.distance}};
                           })));
    out.back().logarithmic = true;
  }
  return out;
}

chart chart_of_cascades(const evaluation& x) {
  std::vector<chart_line> lines;
  for (const auto& cascade : x.cascades) {
    chart_line line{name_of(cascade), {}, false};
    for (const auto& p : cascade.points)
      line.points.emplace_back(100 * p.deferred, 100 * p.objects);
    lines.push_back(std::move(line));
  }
  return chart_of("Objects right by share redrawn",
                  "redrawn by the heavy variant (%)", "objects right (%)",
                  std::move(lines));
}

// Returns nullopt if no such starts were measured.
std::optional<chart> chart_of_starts(const evaluation& x, start_kind from) {
  std::map<uint32_t, chart_line> found;
  for (const auto& start : x.starts)
    if (start.from == from && start.skipped > 0) {
      auto& line = found[start.skipped];
      line.name =
        fmt::format("{} of {} steps skipped", start.skipped, x.start_steps);
      line.points.emplace_back(start.similarity, 100 * start.quality.objects);
    }
  if (found.empty())
    return {};
  std::vector<chart_line> lines;
  for (auto& [skipped, line] : found) {
    std::ranges::sort(line.points);
    lines.push_back(std::move(line));
  }
  return chart_of(
    fmt::format("Starts from {}s of other prompts", to_string(from)),
    "similarity of the other prompt", "objects right (%)", std::move(lines));
}

// Returns rows for points that each redraw at least a tenth more images than
// the one before, and for the last point.
std::vector<row> table_of_cascade(const evaluated_cascade& x) {
  std::vector<row> out{
    {"threshold", "redrawn %", "objects %", "by chance %", "distance"}};
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
    {"start", "steps skipped", "correlation of similarity and objects right"}};
  for (const auto& trend : x.trends)
    out.push_back({std::string{to_string(trend.from)},
                   std::to_string(trend.skipped),
                   fmt::format("{:.2f}", trend.correlation)});
  return out;
}

constexpr std::array<std::pair<const char*, const char*>, 8> meanings{{
  {"variant", "The model and its steps"},
  {"objects %", "Objects of which everything said is right"},
  {"fully %", "Images of which every object is right"},
  {"1, 2, 3", "The same for captions of so many objects"},
  {"score", "Mean cosine of image and caption by the scorer; higher is better"},
  {"distance", "Fréchet distance from renders of the same captions, on the "
               "scorer's features; lower is better"},
  {"ms per image", "Time of the device, in batches as above"},
  {"-", "Not measured"},
}};

std::string legend() {
  std::string out = "<details><summary>What the columns mean</summary>\n"
                    "<dl class=\"columns\">\n";
  for (const auto& [name, meaning] : meanings)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, meaning);
  return out + "</dl></details>\n";
}

// Returns figures that are laid out side by side if the page is wide enough,
// and otherwise below each other.
std::string figures(const std::vector<chart>& charts) {
  std::string out = "<div class=\"plots\">\n";
  for (const auto& x : charts)
    out += to_figure(x);
  return out + "</div>\n";
}

std::string cascades_html(const evaluation& x) {
  auto out = "<h2>Cascades</h2>\n<p>By chance: the objects right if as many "
             "images were redrawn at random.</p>\n"
           + figures({chart_of_cascades(x)});
  for (const auto& cascade : x.cascades)
    out += fmt::format(
      "<h3>{}</h3>\n<p>Judged by the {} in {:.1f} ms per image; correlation of "
      "confidence and objects right {:.2f}.</p>\n{}",
      escape_html(name_of(cascade)), escape_html(cascade.judge),
      cascade.judging, cascade.correlation,
      core::report_table(name_of(cascade), table_of_cascade(cascade)));
  return out;
}

std::string starts_html(const evaluation& x) {
  std::string out = "<h2>Starts from earlier work</h2>\n";
  std::vector<chart> charts;
  for (const auto from : {start_kind::latent, start_kind::image})
    if (auto found = chart_of_starts(x, from))
      charts.push_back(std::move(*found));
  if (!charts.empty())
    out += figures(charts);
  for (const auto from : {start_kind::latent, start_kind::image})
    if (const auto table = table_of_starts(x, from); table.size() > 1)
      out += fmt::format("<h3>From {}s</h3>\n{}", to_string(from),
                         core::report_table("Starts", table));
  if (!x.trends.empty())
    out += core::report_table("Correlations", table_of_trends(x));
  return out;
}

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
  auto out = core::report_head("Evaluation");
  out += fmt::format(
    "<p>{} captions of held-out scenes for each of 1, 2 and 3 objects, seed "
    "{}, {} images per batch on {}.</p>\n",
    x.plan.captions, x.plan.seed, x.plan.batch, escape_html(x.plan.device));
  out += core::report_table("Variants", table_of_runs(x)) + legend()
       + "<h2>Quality</h2>\n" + figures(charts_of_runs(x));
  if (!x.cascades.empty())
    out += cascades_html(x);
  if (!x.starts.empty())
    out += starts_html(x);
  return out + core::report_end();
}

} // namespace atelier::gpu
