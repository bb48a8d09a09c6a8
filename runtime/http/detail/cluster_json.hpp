// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <nlohmann/json.hpp>

namespace atelier::runtime::http::detail {

/// Returns the engine's workers, for admins.
nlohmann::json workers_json(const engine_status& x);

/// Returns the variants that devices could not load, with the reasons.
nlohmann::json unloadable_json(const engine_status& x);

/// Returns the ways of its plan, with the shares of each class of requests.
nlohmann::json routes_json(const engine_status& x);

/// Returns its processes, likewise.
nlohmann::json processes_json(const engine_status& x);

} // namespace atelier::runtime::http::detail
