// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/argus/allocation.hpp>

#include <cstdint>

namespace atelier::papers {

/// Allocates as Sommelier: each worker decides by itself, for an equal part of
/// the load: it takes the best level that keeps up with it, otherwise the
/// fastest. All choose alike.
/// Source: Argus, section 5.1.
/// Errors: those of planning::argus::allocate_counts.
core::result<planning::argus::allocation> allocate_alone(
  const planning::argus::ladder& levels,
  const planning::argus::load_to_place& asked);

/// Allocates as Clipper: all workers run one level, whatever the load: the
/// first (clipper-heavy) or the last (clipper-light).
/// Source: Argus, section 5.1.
/// Errors: those of planning::argus::allocate_counts; `level` must be on the
/// ladder.
core::result<planning::argus::allocation> allocate_fixed(
  const planning::argus::ladder& levels,
  const planning::argus::load_to_place& asked, uint32_t level);

} // namespace atelier::papers
