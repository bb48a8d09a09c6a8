// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/markup.hpp>
#include <atelier/training/evaluation/detail/svg_plot.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace atelier::gpu::detail {

namespace {

using core::escape_html;

constexpr double width = 640;
constexpr double height = 360;
constexpr double left = 62;
constexpr double right = 470;
constexpr double top = 34;
constexpr double bottom = 312;

// Wong's colours, which the colour-blind can tell apart.
constexpr std::array<const char*, 7> colours{
  "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

// A step of 1, 2 or 5 times a power of ten, for about five ticks.
double tick_step(double range) {
  const auto rough = range / 5;
  const auto power = std::pow(10, std::floor(std::log10(rough)));
  for (const auto x : {1.0, 2.0, 5.0})
    if (rough <= x * power)
      return x * power;
  return 10 * power;
}

std::vector<double> even_ticks(double low, double high) {
  const auto step = tick_step(high - low);
  std::vector<double> out;
  for (auto x = std::ceil(low / step) * step; x <= high; x += step)
    out.push_back(std::abs(x) < step / 1e6 ? 0 : x);
  return out;
}

// Logarithms of 1, 2 and 5 times powers of ten; over many powers, of the powers
// alone.
std::vector<double> logarithmic_ticks(double low, double high) {
  constexpr double many = 3;
  std::vector<double> out;
  for (auto power = std::floor(low); power <= high; ++power)
    for (const auto times : {1.0, 2.0, 5.0})
      if (const auto x = power + std::log10(times);
          x >= low && x <= high && (times == 1 || high - low <= many))
        out.push_back(x);
  return out;
}

struct axis {
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;

  double at(double x) const {
    return from + (x - low) / (high - low) * (to - from);
  }
};

axis axis_of(double low, double high, double from, double to) {
  // Nothing to be seen is a range too.
  if (!(high > low))
    high = low + 1;
  return {low, high, from, to};
}

} // namespace

std::string to_svg(const svg_plot& plot) {
  const auto place = [&](double x) {
    return plot.logarithmic ? std::log10(x) : x;
  };
  auto low_x = HUGE_VAL, high_x = -HUGE_VAL, low_y = 0.0, high_y = 0.0;
  std::vector<plot_line> lines;
  for (const auto& line : plot.lines) {
    plot_line seen{line.name, {}};
    for (const auto& [x, y] : line.points)
      if (std::isfinite(place(x)) && std::isfinite(y)) {
        seen.points.emplace_back(place(x), y);
        low_x = std::min(low_x, place(x));
        high_x = std::max(high_x, place(x));
        low_y = std::min(low_y, y);
        high_y = std::max(high_y, y);
      }
    lines.push_back(std::move(seen));
  }
  if (low_x > high_x)
    low_x = high_x = 0;
  const auto across = axis_of(low_x, high_x, left, right);
  const auto up = axis_of(low_y, high_y * 1.05, bottom, top);
  auto out = fmt::format(
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
    "width=\"{}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"11\">\n"
    "<text x=\"{}\" y=\"18\" font-size=\"14\">{}</text>\n",
    width, height, width, height, left, escape_html(plot.title));
  const auto line = [&](double x1, double y1, double x2, double y2,
                        const char* colour) {
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
                       "y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                       x1, y1, x2, y2, colour);
  };
  const auto text = [&](double x, double y, const char* anchor,
                        const std::string& what) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}"
                       "</text>\n",
                       x, y, anchor, escape_html(what));
  };
  for (const auto y : even_ticks(up.low, up.high)) {
    line(left, up.at(y), right, up.at(y), "#ddd");
    text(left - 6, up.at(y) + 4, "end", fmt::format("{:.4g}", y));
  }
  for (const auto x : plot.logarithmic
                        ? logarithmic_ticks(across.low, across.high)
                        : even_ticks(across.low, across.high)) {
    line(across.at(x), bottom, across.at(x), bottom + 4, "#000");
    text(across.at(x), bottom + 17, "middle",
         fmt::format("{:.4g}", plot.logarithmic ? std::pow(10, x) : x));
  }
  line(left, bottom, right, bottom, "#000");
  line(left, top, left, bottom, "#000");
  text((left + right) / 2, height - 12, "middle", plot.x_name);
  out += fmt::format("<text transform=\"translate(16,{:.1f}) rotate(-90)\" "
                     "text-anchor=\"middle\">{}</text>\n",
                     (top + bottom) / 2, escape_html(plot.y_name));
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto* colour = colours[i % colours.size()];
    std::string points;
    for (const auto& [x, y] : lines[i].points)
      points += fmt::format("{:.1f},{:.1f} ", across.at(x), up.at(y));
    out += fmt::format("<polyline fill=\"none\" stroke=\"{}\" "
                       "stroke-width=\"1.5\" points=\"{}\"/>\n",
                       colour, points);
    for (const auto& [x, y] : lines[i].points)
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" "
                         "fill=\"{}\"/>\n",
                         across.at(x), up.at(y), colour);
    const auto y = top + 8 + 16 * static_cast<double>(i);
    out +=
      fmt::format("<circle cx=\"{}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n",
                  right + 14, y - 4, colour);
    text(right + 24, y, "start", lines[i].name);
  }
  return out + "</svg>\n";
}

} // namespace atelier::gpu::detail
