// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/detail/jobs/caller_accounts.hpp>
#include <atelier/runtime/http/detail/jobs/image_rows.hpp>
#include <atelier/runtime/http/detail/jobs/job_listeners.hpp>
#include <atelier/runtime/http/detail/jobs/journal_state.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

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
  image_rows rows;
  job_charge charge;
  /// Whether all images were submitted: until then no listener receives an
  /// event.
  bool handed_in = false;

  core::time_point began;
  core::time_point last_step;
  core::time_point ended_at;

  job_listeners listeners;

  journal_state journal;

  bool has_ended() const {
    return known.state >= job_state::completed;
  }

  /// Returns whether it will not be drawn after the next start of the server.
  bool has_ended_for_good() const {
    return has_ended() && known.why.code != "stopping";
  }
};

/// Returns a job that waits, as it was requested under the name `what.id`. How
/// long it takes is unknown: see expect_work.
std::shared_ptr<job_entry> new_entry(
  uint64_t number, const job_request& what,
  std::chrono::system_clock::time_point created);

/// Enters the priority of a job's requests, and the steps that they ask for.
/// @pre as many requests as the job has images, and at least one
void expect_work(job_entry& x, const std::vector<generation>& images);

/// Returns whether each image of a job is there or was cancelled alone.
bool is_settled(const job_entry& x);

/// Returns the view of a job at `now`.
/// @param position its position in the queue
job_view view_of(const job_entry& x, uint32_t position, core::time_point now);

/// Returns whether a client may give a job this name.
bool is_client_name(std::string_view x);

} // namespace atelier::runtime::http::detail
