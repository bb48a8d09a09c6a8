// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/policy.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace atelier::actors {

/// What the answer to a request reports beside its image: where its time went,
/// the steps that ran, notes, and the earlier work that it started from.
/// Threads: one at a time.
class account {
public:
  /// Sets the notes that came with the request.
  void begin(std::vector<core::note> notes);

  /// Adds notes, each once and up to core::most_notes.
  void note(std::span<const core::note> what);

  const std::vector<core::note>& notes() const {
    return notes_;
  }

  /// Adds the time in a queue.
  void waited(core::timespan took);

  /// Adds the time of a question.
  void asked(const planning::need& wanted, core::timespan took);

  /// Adds the time of a stage before or after denoising.
  void staged(core::phase at, core::timespan took);

  /// Adds the times that a device reported.
  void drew(const denoised& x, core::time_point arrived);

  /// Adds steps that ran.
  void ran(uint32_t steps);

  uint32_t steps_run() const {
    return steps_run_;
  }

  /// Sets the earlier work that the request started from; none: noise.
  void reused(std::optional<reused_work> what);

  /// Notes its start from earlier work. Returns whether that is the first one:
  /// another choice after a failed fetch counts no second one.
  bool note_hit();

  /// Writes the times and the steps into an answer.
  void close(answer& into, core::time_point arrived,
             core::time_point now) const;

  /// Writes the notes and the earlier work into an answer too. The account has
  /// no notes afterwards.
  void close_with_image(answer& into, core::time_point arrived,
                        core::time_point now);

private:
  std::vector<core::note> notes_;
  std::optional<reused_work> reused_;
  uint32_t steps_run_ = 0;
  bool hit_counted_ = false;
  row_timings took_;
};

} // namespace atelier::actors
