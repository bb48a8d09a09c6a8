// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <nlohmann/json.hpp>

namespace atelier::runtime::cli {

/// Returns the fields of a request that all APIs of a server know by the same
/// name: prompt, priority, seed, steps, guidance, sampler, model, variant, size
/// and deadline_ms, those that are set.
nlohmann::json shared_fields(const generation& x);

} // namespace atelier::runtime::cli
