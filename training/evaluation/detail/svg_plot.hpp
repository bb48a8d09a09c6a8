// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu::detail {

/// Points that a line joins, in their order.
struct plot_line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct svg_plot {
  std::string title;
  std::string x_name;
  std::string y_name;
  std::vector<plot_line> lines;
  /// The axis of x by powers of ten; all x are above 0 then.
  bool logarithmic = false;
};

/// Returns an <svg> element of 640 x 360 with axes, ticks and a legend. y runs
/// from 0, or from its least value where that is below. Values that are not
/// finite are left out.
std::string to_svg(const svg_plot& x);

} // namespace atelier::gpu::detail
