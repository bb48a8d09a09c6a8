// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/ipc/slot_store.hpp>

#include <memory>

namespace atelier::actors {

/// What a postprocess worker is made of.
struct postprocess_config {
  worker_address self;
  uint32_t seats = 1;
  /// A request of this seed kills the process; 0: none does.
  uint32_t test_crash_seed = 0;
  std::shared_ptr<ipc::slot_store> slots;
  std::shared_ptr<hub_port> hub;
};

struct postprocess_state {
  static inline const char* name = "postprocess";
  postprocess_config config;
};

/// Encodes pixels as PNG, JPEG or WebP with what made them in the metadata.
/// Announces itself at its start.
/// Threads: computes in its handlers, waits for nothing.
postprocess_actor::behavior_type postprocess(
  self_of<postprocess_actor, postprocess_state> self,
  postprocess_config config);

/// Does the work of one `finish`; pure but for the slots. The reply's time is
/// left at 0.
finished encode_picture(const finish& x, ipc::slot_store& slots);

} // namespace atelier::actors
