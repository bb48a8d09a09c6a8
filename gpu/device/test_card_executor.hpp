// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/device/executor.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <memory>

namespace atelier::gpu {

struct test_card_config {
  /// Names the variants and the shapes of their latents.
  std::shared_ptr<const planning::profile> known;
  /// Added to each step and each decoding, to simulate a model's work.
  core::timespan step{0};
  core::timespan decode{0};
  /// Time to create the device, to simulate loading a model.
  core::timespan load{0};
  /// One step in this many throws, alternately out of memory and another error;
  /// 0: never.
  uint32_t fault_every = 0;
};

/// Returns a device without a model. It runs the test card on its own thread,
/// which its destructor ends after the step in progress.
std::shared_ptr<executor> make_test_card_executor(
  const test_card_config& config, std::shared_ptr<ipc::slot_store> slots);

} // namespace atelier::gpu
