// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace atelier::core {

/// A line of a chart, whose points rise in x. Points that are not finite are
/// omitted.
struct chart_line {
  std::string name;
  std::vector<std::pair<double, double>> points;
  /// The line is drawn dashed and grey, behind the others.
  bool reference = false;
};

/// A plot. Its lines differ in colour and in dash pattern, so that no reader
/// depends on colour.
struct chart {
  std::string title;
  /// The axis titles, with their units.
  std::string x_axis;
  std::string y_axis;
  std::vector<chart_line> lines;
  /// Each value holds until the next point.
  bool steps = false;
  /// Each point has a dot.
  bool dots = false;
  /// The x axis is logarithmic; points with x <= 0 are omitted.
  bool logarithmic = false;
  /// The y axis includes 0; otherwise it begins near the lowest value.
  bool from_zero = true;
  /// The y axis extends at least to this value.
  double least_top = 0;
};

/// Returns the chart as an <svg> element as wide as its container. It uses the
/// colours of report_head. Outside a report it uses the palette of Okabe and
/// Ito, which colour-blind readers can distinguish.
std::string to_svg(const chart& x);

/// Returns the chart as a <figure> with its title. A chart without values gets
/// a sentence in place of an empty plot.
std::string to_figure(const chart& x);

/// Returns the distance between ticks for a range: 1, 2 or 5 times a power of
/// ten.
double tick_distance(double range, int most_ticks);

} // namespace atelier::core
