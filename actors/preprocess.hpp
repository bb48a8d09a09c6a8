// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/timers.hpp>
#include <atelier/ipc/slot_store.hpp>

#include <memory>

namespace atelier::actors {

/// What a preprocess worker is made of.
struct preprocess_config {
  worker_address self;
  uint32_t seats = 1;
  /// A request of this seed kills the process; 0: none does.
  uint32_t test_crash_seed = 0;
  /// Bounds on the sources that it decodes.
  image::decode_limits sources;
  /// Longest time that the sources of one request may take.
  core::timespan decode = core::limits{}.decode;
  std::shared_ptr<ipc::slot_store> slots;
  std::shared_ptr<hub_port> hub;
};

struct preprocess_state {
  static inline const char* name = "preprocess";
  preprocess_config config;
};

/// Draws each request's noise from its own seed into its state slot; decodes
/// and scales the picture, and the mask, that it starts from. Announces itself
/// at its start.
/// Threads: computes in its handlers, waits for nothing.
preprocess_actor::behavior_type preprocess(
  self_of<preprocess_actor, preprocess_state> self, preprocess_config config);

/// Does the work of one `prepare`; pure but for the slots and what stands
/// behind `sources.stop`, by which the work is given up. The reply's time is
/// left at 0.
prepared prepare_row(const prepare& x, const image::decode_limits& sources,
                     ipc::slot_store& slots);

} // namespace atelier::actors
