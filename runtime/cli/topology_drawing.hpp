// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>

#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// One box of a topology: a process, or in one process a part of it.
struct topology_part {
  std::string name;
  /// What runs there, a line each.
  std::vector<std::string> lines;

  friend bool operator==(const topology_part&, const topology_part&) = default;
};

/// What a configuration starts: the control part first, then the CPU work, then
/// each device.
struct topology {
  /// What it is as a whole, a line.
  std::string title;
  std::vector<topology_part> parts;
  /// What joins them, a line each.
  std::vector<std::string> shared;
};

/// @pre `x` is valid
topology topology_of(const config::settings& x);

/// Returns the image as text, at most 80 columns where names allow.
std::string to_text(const topology& x);

/// Returns the image as SVG that needs nothing else.
std::string to_svg(const topology& x);

} // namespace atelier::runtime::cli
