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
  /// Added to each step and to each decoding, to stand for a model's work.
  core::timespan step{0};
  core::timespan decode{0};
  /// How long making it takes, to stand for loading a model.
  core::timespan load{0};
  /// Every so many steps one throws, in turn as out of memory and as a fault of
  /// its own; 0: never.
  uint32_t fault_every = 0;
};

/// Returns a device without a model: it runs the test card on a thread of its
/// own, which its destructor ends after the step in progress.
std::shared_ptr<executor> make_test_card_executor(
  const test_card_config& config, std::shared_ptr<ipc::slot_store> slots);

} // namespace atelier::gpu
