// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/detail/job_listeners.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace atelier::runtime::http::detail {

/// One image of a job.
struct image_row {
  /// The engine's number of the request; 0 until it was submitted.
  uint64_t request = 0;
  bool handed_in = false;
  bool ended = false;
  /// The engine accepted it and was full then: it is submitted once more.
  bool again = false;
  uint32_t steps_done = 0;
  /// The steps, from the client or the engine; 0: unknown.
  uint32_t steps = 0;
  /// It was cancelled alone, and has ended by that.
  bool cancelled = false;
};

/// One job with all that is known of it.
/// Threads: guarded by the lock of its jobs.
struct job_entry {
  /// The view, except for what depends on the moment: see view_of.
  job_view known;
  uint64_t number = 0;
  uint32_t priority = 0;
  std::string idempotency_key;
  std::string fingerprint;
  bool keeps = false;
  /// Whether the client chose its name.
  bool named = false;
  std::vector<image_row> rows;
  /// The steps that its caller's allowance gave for it.
  uint64_t steps_taken = 0;
  /// Whether all images were submitted: until then no listener receives an
  /// event.
  bool handed_in = false;

  core::time_point began;
  core::time_point last_step;
  core::time_point ended_at;

  job_listeners listeners;

  /// Whether the journal was asked to keep it.
  bool journalled = false;
  /// Whether its caller waits for the journal: the job is not on the disk yet.
  bool in_doubt = false;
  /// Why it was not accepted, if its name was already reported to others.
  std::optional<failure> untaken;
  /// The callbacks that wait until it was submitted to the journal.
  std::vector<std::function<void()>> twins;
  /// The requests that a previous server accepted, by index: until the job ends
  /// they may be submitted again.
  std::vector<generation> restored;

  bool has_ended() const {
    return known.state >= job_state::completed;
  }

  /// Returns whether it will not be drawn after the next start of the server.
  bool has_ended_for_good() const {
    return has_ended() && known.why.code != "stopping";
  }
};

/// Returns the indices of the images that were cancelled alone.
std::vector<uint32_t> cancelled_images(const job_entry& x);

/// Returns whether each image of a job is there or was cancelled alone.
bool is_settled(const job_entry& x);

/// Returns the view of a job at `now`.
/// @param position its position in the queue
job_view view_of(const job_entry& x, uint32_t position, core::time_point now);

/// Returns whether a client may give a job this name.
bool is_client_name(std::string_view x);

} // namespace atelier::runtime::http::detail
