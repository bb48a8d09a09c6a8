// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/figure.hpp>

#include <cstdint>
#include <variant>
#include <vector>

namespace atelier::runtime {

/// A count, a switch, or a rate: NaN if it is not measured yet.
using figure_value = std::variant<uint64_t, bool, double>;

struct shown_figure {
  core::figure is;
  figure_value value;
};

/// Returns every figure of a status, in the order in which places show them.
/// Without a cache its figures are 0. Threads: any.
std::vector<shown_figure> figures_of(const engine_status& now);

} // namespace atelier::runtime
