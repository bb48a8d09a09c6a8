// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/timers.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace atelier::test {

/// A clock that a test advances.
class manual_timers : public core::timers {
public:
  core::time_point now() const override;
  void after(core::timespan delay, std::function<void()> what) override;

  /// Fires all timers that are due within `span` from now, in order; then
  /// advances to its end.
  void advance(core::timespan span);

  /// Fires the next timer; returns false if none exists.
  bool step();

private:
  core::time_point now_{core::timespan{1'000'000}};
  uint64_t next_ = 0;
  std::map<std::pair<core::time_point, uint64_t>, std::function<void()>> due_;
};

/// Slots on the heap that are granted once each, and a profile of one variant:
/// text 3 ms, step 10 ms (+ 1 ms for each further row), decode 5 ms.
class rig {
public:
  explicit rig(bool payload = true);

  std::shared_ptr<ipc::slot_store> slots;
  std::shared_ptr<const planning::profile> known;

  ipc::slot_ref grant(ipc::slot_kind kind);

  /// Returns a job for a request of `steps` steps of a 16x16 image. Its drawn
  /// noise is in its `from`.
  gpu::open_job job(uint64_t id, uint32_t steps);

  /// Returns a job for `strength` of `steps` steps that start from a source,
  /// with or without a mask.
  gpu::open_job image_job(uint64_t id, uint32_t steps, float strength,
                          bool masked);

  /// Returns the next attempt, which resumes from the last published state.
  gpu::open_job again(const gpu::open_job& job);

  /// Makes the job keep its states after these numbers of steps; returns the
  /// slots.
  std::vector<ipc::slot_ref> keep(gpu::open_job& job,
                                  const std::vector<uint32_t>& steps);

  /// Returns another attempt, which starts from a copy of the state that was
  /// kept after `steps` steps.
  gpu::open_job from_kept(const gpu::open_job& job, const ipc::slot_ref& kept,
                          uint32_t steps);

  /// Returns the image that the job's request must give.
  std::vector<std::byte> expected(const gpu::open_job& job) const;

  /// Returns the image in the job's image slot.
  std::vector<std::byte> image(const gpu::open_job& job) const;

  uint64_t published(const ipc::slot_ref& slot) const;

private:
  bool payload_;
  uint32_t next_slot_ = 0;
};

/// Returns the latent that request `id` starts from.
std::vector<float> noise_of(uint64_t id, size_t elements);

} // namespace atelier::test
