// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <nlohmann/json.hpp>

namespace atelier::runtime::http {

/// Returns the parts of a request's time, as the status of a job and --json
/// tell them.
/// Units: milliseconds.
nlohmann::ordered_json timings_json(const timings& x);

/// Reads what timings_json wrote; what is missing or no number is 0.
timings read_timings(const nlohmann::json& from);

} // namespace atelier::runtime::http
