// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/markup.hpp>
#include <atelier/simulation/chart.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace atelier::runtime {

namespace {

// Okabe and Ito's palette, without the yellow that is too light on white.
constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                             "#E69F00", "#56B4E9", "#000000"};
constexpr std::array dashes{"", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2"};

constexpr double width = 720;
constexpr double height = 300;
constexpr double left = 70;
constexpr double right = 12;
constexpr double top = 34;
constexpr double bottom = 48;
constexpr double legend_row = 18;
constexpr double letter = 6.6;
constexpr double sample = 34;

std::string number(double x) {
  if (x == 0)
    return "0";
  return fmt::format("{:.6g}", x);
}

/// Least and most of something.
struct extent_of {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void take(double x) {
    least = std::min(least, x);
    most = std::max(most, x);
  }
};

/// Where the legend's entries stand: several in a row, as many rows as needed.
struct legend_layout {
  std::vector<std::pair<double, double>> at;
  double rows = 0;
};

legend_layout lay_out(const chart& x) {
  legend_layout out;
  double along = left;
  double row = 0;
  for (const auto& line : x.lines) {
    const double wide =
      sample + letter * static_cast<double>(line.name.size()) + 18;
    if (along > left && along + wide > width - right) {
      along = left;
      ++row;
    }
    out.at.emplace_back(along, row);
    along += wide;
  }
  out.rows = x.lines.empty() ? 0 : row + 1;
  return out;
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
  extent_of across;
  extent_of up;
  for (const auto& line : x.lines)
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
  const double x_tick = tick_distance(across.most - across.least, 9);
  const double y_tick = tick_distance(up.most - up.least, 6);
  up.most = std::ceil(up.most / y_tick - 1e-9) * y_tick;
  up.least = std::floor(up.least / y_tick + 1e-9) * y_tick;

  const auto legend = lay_out(x);
  const double all = height + legend.rows * legend_row;
  const double floor = height - bottom;
  const auto to_x = [&](double v) {
    return left
         + (v - across.least) / (across.most - across.least)
             * (width - left - right);
  };
  const auto to_y = [&](double v) {
    return floor - (v - up.least) / (up.most - up.least) * (floor - top);
  };

  std::string out = fmt::format(
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
    "width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\" "
    "role=\"img\">\n<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" "
    "fill=\"#fff\"/>\n<text x=\"{3}\" y=\"20\" font-size=\"15\" "
    "font-weight=\"bold\">{2}</text>\n",
    width, all, core::escape_html(x.title), left);
  for (double v = std::ceil(across.least / x_tick - 1e-9) * x_tick;
       v <= across.most + x_tick * 1e-6; v += x_tick)
    out +=
      fmt::format("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" "
                  "stroke=\"#ddd\"/>\n<text x=\"{0:.1f}\" y=\"{3}\" "
                  "text-anchor=\"middle\">{4}</text>\n",
                  to_x(v), top, floor, floor + 16,
                  number(std::abs(v) < x_tick / 1e6 ? 0 : v));
  for (double v = up.least; v <= up.most + y_tick * 1e-6; v += y_tick)
    out +=
      fmt::format("<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" "
                  "stroke=\"#ddd\"/>\n<text x=\"{3}\" y=\"{4:.1f}\" "
                  "text-anchor=\"end\">{5}</text>\n",
                  left, to_y(v), width - right, left - 6, to_y(v) + 4,
                  number(std::abs(v) < y_tick / 1e6 ? 0 : v));
  out += fmt::format(
    "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"none\" "
    "stroke=\"#333\"/>\n<text x=\"{4}\" y=\"{5}\" "
    "text-anchor=\"middle\">{6}</text>\n<text transform=\"translate(16 {7}) "
    "rotate(-90)\" text-anchor=\"middle\">{8}</text>\n",
    left, top, width - left - right, floor - top, (left + width - right) / 2,
    floor + 36, core::escape_html(x.x_axis), (top + floor) / 2,
    core::escape_html(x.y_axis));

  size_t drawn = 0;
  for (size_t i = 0; i < x.lines.size(); ++i) {
    const auto& line = x.lines[i];
    const std::string colour =
      line.reference ? "#777777" : colours[drawn % colours.size()];
    const std::string dash =
      line.reference ? "3 3"
                     : dashes[(drawn + drawn / colours.size()) % dashes.size()];
    drawn += line.reference ? 0 : 1;
    const std::string style = fmt::format(
      "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-dasharray=\"{}\"",
      colour, line.reference ? 1.2 : 1.8, dash);
    std::string points;
    double before = 0;
    for (size_t p = 0; p < line.points.size(); ++p) {
      const auto [vx, vy] = line.points[p];
      if (x.steps && p > 0)
        points += fmt::format("{:.1f},{:.1f} ", to_x(vx), before);
      before = to_y(vy);
      points += fmt::format("{:.1f},{:.1f} ", to_x(vx), before);
    }
    if (!points.empty())
      out += fmt::format("<polyline {} points=\"{}\"/>\n", style, points);
    const auto [lx, row] = legend.at[i];
    const double ly = height + row * legend_row + 6;
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
                       "y2=\"{:.1f}\" {}/>\n<text x=\"{:.1f}\" "
                       "y=\"{:.1f}\">{}</text>\n",
                       lx, ly - 4, lx + sample - 6, ly - 4, style, lx + sample,
                       ly, core::escape_html(line.name));
  }
  return out + "</svg>\n";
}

} // namespace atelier::runtime
