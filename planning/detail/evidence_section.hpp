// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/json_reader.hpp>
#include <atelier/planning/reuse/reuse_evidence.hpp>

#include <string>

namespace atelier::planning::detail {

/// Reads `reuse.measured` of a profile file; `at` is its place.
reuse_evidence read_evidence(json_reader& r, const json& x,
                             const std::string& at);

json evidence_json(const reuse_evidence& x);

} // namespace atelier::planning::detail
