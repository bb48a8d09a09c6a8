// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/planning/policies/argus/allocation.hpp>

#include <cstdint>
#include <vector>

namespace atelier::planning::argus {

/// Allocates as Sommelier: each worker decides by itself, for an equal part of
/// the load: it takes the best level that keeps up with it, otherwise the
/// fastest. All choose alike.
/// Source: Argus, section 5.1.
/// Errors: those of allocate_counts.
core::result<allocation> allocate_alone(const ladder& levels,
                                        const load_to_place& asked);

/// Allocates as Clipper: all workers run one level, whatever the load: the
/// first (clipper-heavy) or the last (clipper-light).
/// Source: Argus, section 5.1.
/// Errors: those of allocate_counts; `level` must be on the ladder.
core::result<allocation> allocate_fixed(const ladder& levels,
                                        const load_to_place& asked,
                                        uint32_t level);

/// Chooses as PAC and Proteus: draws a level by its share of the load, without
/// looking at the prompt.
/// Source: Argus, section 5.1.
uint32_t draw_by_load(const allocation& planned, core::philox& random);

} // namespace atelier::planning::argus
