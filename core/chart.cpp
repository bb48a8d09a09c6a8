// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/chart.hpp>
#include <atelier/core/markup.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace atelier::core {

namespace {

// The colours of an <svg> outside a report: Okabe and Ito's palette, without
// the yellow that is too light on white.
constexpr std::array colours{"#0072b2", "#c24f00", "#00755a", "#a8437f",
                             "#8a6d00", "#4b5fc4", "#1c1b1a"};
constexpr std::array dashes{"", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2"};

// The chart is narrow, so that its letters are legible on a phone.
constexpr double width = 400;
constexpr double left = 48;
constexpr double right = 12;
constexpr double top = 26;
constexpr double floor_y = 206;
constexpr double legend_top = 262;
constexpr double legend_row = 18;
constexpr double letter = 7.2;
constexpr double sample = 30;

std::string number(double x) {
  if (x == 0)
    return "0";
  return fmt::format("{:.6g}", x);
}

/// The least and the greatest of several values.
struct extent_of {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void take(double x) {
    least = std::min(least, x);
    most = std::max(most, x);
  }
};

/// The positions of the legend's entries: several in a row, in as many rows as
/// needed.
struct legend_layout {
  std::vector<std::pair<double, double>> points;
  double rows = 0;
};

legend_layout lay_out(const chart& x) {
  legend_layout out;
  double along = 0;
  double row = 0;
  for (const auto& line : x.lines) {
    const double wide =
      sample + letter * static_cast<double>(line.name.size()) + 14;
    if (along > 0 && along + wide > width) {
      along = 0;
      ++row;
    }
    out.points.emplace_back(along, row);
    along += wide;
  }
  out.rows = x.lines.empty() ? 0 : row + 1;
  return out;
}

/// Returns the lines with their points as they are placed.
std::vector<chart_line> placed(const chart& x) {
  auto out = x.lines;
  for (auto& line : out) {
    for (auto& point : line.points)
      if (x.logarithmic)
        point.first = std::log10(point.first);
    std::erase_if(line.points, [](const auto& p) {
      return !std::isfinite(p.first) || !std::isfinite(p.second);
    });
  }
  return out;
}

struct tick {
  double value = 0;
  std::string text;
};

std::vector<tick> even_ticks(const extent_of& over, double distance) {
  std::vector<tick> out;
  for (double v = std::ceil(over.least / distance - 1e-9) * distance;
       v <= over.most + distance * 1e-6; v += distance)
    out.push_back({v, number(std::abs(v) < distance / 1e6 ? 0 : v)});
  return out;
}

/// Returns ticks at 1, 2 and 5 times powers of ten, or only at the powers if
/// the range is long.
std::vector<tick> logarithmic_ticks(const extent_of& over) {
  constexpr double many = 2;
  std::vector<tick> out;
  for (auto power = std::floor(over.least); power <= over.most; ++power)
    for (const auto times : {1.0, 2.0, 5.0}) {
      const auto at = power + std::log10(times);
      if (at >= over.least - 1e-9 && at <= over.most + 1e-9
          && (times == 1 || over.most - over.least <= many))
        out.push_back({at, number(times * std::pow(10, power))});
    }
  return out;
}

std::string colour(const chart_line& line, size_t drawn) {
  if (line.reference)
    return "var(--soft, #777777)";
  const auto i = drawn % colours.size();
  return fmt::format("var(--plot-{}, {})", i + 1, colours[i]);
}

/// The ranges of both axes, and the distance of the ticks of the vertical one.
struct axis_ranges {
  extent_of across;
  extent_of up;
  double y_tick = 1;
};

axis_ranges ranges_of(const chart& x, const std::vector<chart_line>& lines) {
  extent_of across;
  extent_of up;
  for (const auto& line : lines)
    for (const auto& [px, py] : line.points) {
      across.take(px);
      up.take(py);
    }
  if (!(across.most >= across.least)) {
    across = {0, 1};
    up = {0, 1};
  }
  if (x.from_zero)
    up.least = std::min(up.least, 0.0);
  up.most = std::max(up.most, x.least_top);
  if (across.most == across.least)
    across.most += 1;
  if (up.most == up.least)
    up.most += up.most == 0 ? 1 : std::abs(up.most) * 0.1;
  const double y_tick = tick_distance(up.most - up.least, 5);
  up.most = std::ceil(up.most / y_tick - 1e-9) * y_tick;
  up.least = std::floor(up.least / y_tick + 1e-9) * y_tick;
  return {across, up, y_tick};
}

} // namespace

double tick_distance(double range, int most_ticks) {
  if (!(range > 0) || most_ticks < 1)
    return 1;
  const double rough = range / most_ticks;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double nice : {1.0, 2.0, 5.0})
    if (nice * power >= rough * (1 - 1e-9))
      return nice * power;
  return 10 * power;
}

std::string to_svg(const chart& x) {
  const auto lines = placed(x);
  const auto [across, up, y_tick] = ranges_of(x, lines);
  const auto x_ticks =
    x.logarithmic
      ? logarithmic_ticks(across)
      : even_ticks(across, tick_distance(across.most - across.least, 6));

  const auto legend = lay_out(x);
  const double all = legend_top + legend.rows * legend_row;
  const auto to_x = [&](double v) {
    return left
         + (v - across.least) / (across.most - across.least)
             * (width - left - right);
  };
  const auto to_y = [&](double v) {
    return floor_y - (v - up.least) / (up.most - up.least) * (floor_y - top);
  };
  std::string out = fmt::format(
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
    "role=\"img\" aria-label=\"{}\" font-family=\"system-ui, sans-serif\" "
    "font-size=\"12\" fill=\"var(--soft, #555555)\">\n"
    "<text x=\"0\" y=\"12\" font-weight=\"600\">{}</text>\n",
    width, all, escape_html(x.title), escape_html(x.y_axis));
  const auto axis = [&](double x1, double y1, double x2, double y2) {
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
                       "y2=\"{:.1f}\" stroke=\"var(--line, #dddddd)\"/>\n",
                       x1, y1, x2, y2);
  };
  const auto text = [&](double at_x, double at_y, const char* anchor,
                        const std::string& words) {
    out += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x,
      at_y, anchor, escape_html(words));
  };
  for (const auto& t : x_ticks) {
    axis(to_x(t.value), floor_y, to_x(t.value), floor_y + 4);
    text(to_x(t.value), floor_y + 18, "middle", t.text);
  }
  for (const auto& t : even_ticks(up, y_tick)) {
    axis(left, to_y(t.value), width - right, to_y(t.value));
    text(left - 6, to_y(t.value) + 4, "end", t.text);
  }
  text((left + width - right) / 2, floor_y + 36, "middle", x.x_axis);

  size_t drawn = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto& line = lines[i];
    const auto hue = colour(line, drawn);
    const std::string dash =
      line.reference ? "3 3"
                     : dashes[(drawn + drawn / colours.size()) % dashes.size()];
    drawn += line.reference ? 0 : 1;
    const auto style = fmt::format(
      "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-dasharray=\"{}\"",
      hue, line.reference ? 1.2 : 1.8, dash);
    std::string points;
    std::string dots;
    double before = 0;
    for (size_t p = 0; p < line.points.size(); ++p) {
      const auto [vx, vy] = line.points[p];
      if (x.steps && p > 0)
        points += fmt::format("{:.1f},{:.1f} ", to_x(vx), before);
      before = to_y(vy);
      points += fmt::format("{:.1f},{:.1f} ", to_x(vx), before);
      if (x.dots)
        dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n",
          to_x(vx), before, hue);
    }
    if (!points.empty())
      out += fmt::format("<polyline {} points=\"{}\"/>\n", style, points);
    out += dots;
    const auto [lx, row] = legend.points[i];
    const double ly = legend_top + row * legend_row + 4;
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
                       "y2=\"{:.1f}\" {}/>\n",
                       lx, ly - 4, lx + sample - 6, ly - 4, style);
    text(lx + sample, ly, "start", line.name);
  }
  return out + "</svg>\n";
}

std::string to_figure(const chart& x) {
  const auto lines = placed(x);
  const bool empty = std::ranges::all_of(
    lines, [](const chart_line& line) { return line.points.empty(); });
  return fmt::format(
    "<figure><figcaption>{}</figcaption>\n{}</figure>\n", escape_html(x.title),
    empty ? "<p class=\"missing\">There are no values.</p>\n" : to_svg(x));
}

} // namespace atelier::core
