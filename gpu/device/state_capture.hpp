// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/ipc/slot_ref.hpp>

#include <cstdint>

namespace atelier::gpu {

/// A state kept for later requests while a row runs.
struct state_capture {
  /// The number of the row's steps after which the state is captured, at least
  /// 1; equal to state_head::steps_done of the written state.
  uint32_t steps = 0;
  /// The capture slot to write to, once, as publication 1.
  ipc::slot_ref into;

  friend bool operator==(const state_capture&, const state_capture&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f,
                                                 state_capture& x) {
    return f(x.steps, x.into);
  }
};

} // namespace atelier::gpu
