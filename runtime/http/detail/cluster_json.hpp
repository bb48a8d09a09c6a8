// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/figures.hpp>

#include <nlohmann/json.hpp>

#include <span>

namespace atelier::runtime::http::detail {

/// Returns the figures of GET /v1/cluster and GET /v1/admin/caches, each in the
/// object of its group. A rate that is not measured yet is null.
nlohmann::ordered_json grouped_figures(std::span<const shown_figure> all);

/// Returns the figures with exactly that place, by name.
nlohmann::ordered_json figures_at(core::figure_place where,
                                  std::span<const shown_figure> all);

/// Returns the engine's workers, for admins.
nlohmann::json workers_json(const engine_status& x);

/// Returns the variants that devices could not load, with the reasons.
nlohmann::json unloadable_json(const engine_status& x);

/// Returns the ways of its plan, with the shares of each class of requests.
nlohmann::json routes_json(const engine_status& x);

/// Returns its processes, likewise.
nlohmann::json processes_json(const engine_status& x);

} // namespace atelier::runtime::http::detail
