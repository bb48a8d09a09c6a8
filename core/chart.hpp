// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace atelier::core {

/// One line of a chart: points by rising x. Values that are not finite are left
/// out.
struct chart_line {
  std::string name;
  std::vector<std::pair<double, double>> points;
  /// Drawn dashed and grey, behind the others.
  bool reference = false;
};

/// One plot. Lines differ by colour and by dashes, so that colour alone tells
/// nothing.
struct chart {
  std::string title;
  /// With their units.
  std::string x_axis;
  std::string y_axis;
  std::vector<chart_line> lines;
  /// Values keep until the next point.
  bool steps = false;
  /// Each point has a dot.
  bool dots = false;
  /// The x axis goes by powers of ten; what is not above 0 is left out.
  bool logarithmic = false;
  /// The y axis begins at 0; else at what the lines need.
  bool from_zero = true;
  /// The y axis ends here at least; 0: where the lines do.
  double least_top = 0;
};

/// Returns the chart as an <svg> element as wide as what holds it. Its colours
/// are those of report_head, with others where it stands alone: the palette of
/// Okabe and Ito, which colour-blind people tell apart.
std::string to_svg(const chart& x);

/// Returns the chart as a <figure> with its title; without a single value it
/// says so in place of an empty plot.
std::string to_figure(const chart& x);

/// Returns 1, 2 or 5 times a power of ten: the distance of ticks for a range.
double tick_distance(double range, int most_ticks);

} // namespace atelier::core
