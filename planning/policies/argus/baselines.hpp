// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/planning/policies/argus/allocation.hpp>

#include <cstdint>
#include <vector>

namespace atelier::planning::argus {

/// Sommelier: each worker decides alone, for its even part of the load: the
/// best level that keeps up with it, else the fastest. All choose alike.
/// Source: Argus, section 5.1.
/// Errors: those of allocate_counts.
core::result<allocation> allocate_alone(const ladder& levels,
                                        const load_to_place& asked);

/// Clipper: all workers on one level, whatever the load: the first
/// (clipper-heavy) or the last (clipper-light).
/// Source: Argus, section 5.1.
/// Errors: those of allocate_counts; `level` must be on the ladder.
core::result<allocation> allocate_fixed(const ladder& levels,
                                        const load_to_place& asked,
                                        uint32_t level);

/// PAC and Proteus: a level drawn by its share of the load, without looking at
/// the prompt.
/// Source: Argus, section 5.1.
uint32_t draw_by_load(const allocation& planned, core::philox& random);

} // namespace atelier::planning::argus
