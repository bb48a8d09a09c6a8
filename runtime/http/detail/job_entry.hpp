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

/// One picture of a job.
struct picture_row {
  /// Of the engine; 0 until it was handed in.
  uint64_t request = 0;
  bool handed_in = false;
  bool ended = false;
  /// The engine took it and was full then: it is handed in once more.
  bool again = false;
  uint32_t steps_done = 0;
  /// As the client said or the engine told; 0: not known.
  uint32_t steps = 0;
};

/// One job with all that is known of it.
/// Threads: guarded by the lock of its jobs.
struct job_entry {
  /// All but what depends on the moment: see view_of.
  job_view known;
  uint64_t number = 0;
  uint32_t priority = 0;
  std::string idempotency_key;
  std::string fingerprint;
  bool keeps = false;
  /// Its name was the client's own.
  bool named = false;
  std::vector<picture_row> rows;
  /// All pictures were handed in: until then nobody is told anything.
  bool handed_in = false;

  core::time_point began;
  core::time_point last_step;
  core::time_point ended_at;

  job_listeners listeners;

  /// The journal was told of it.
  bool journalled = false;
  /// Why it was not taken on, where others had been told its name.
  std::optional<failure> untaken;
  /// Those that wait until the journal was told of it.
  std::vector<std::function<void()>> twins;
  /// What a server before took on, by index: until it ends it may be handed in
  /// again.
  std::vector<generation> restored;

  bool has_ended() const {
    return known.state >= job_state::completed;
  }

  /// It is not one that is drawn after the next start of the server.
  bool has_ended_for_good() const {
    return has_ended() && known.why.code != "stopping";
  }
};

/// Returns what is known at `now`.
/// @param position its place in the queue
job_view view_of(const job_entry& x, uint32_t position, core::time_point now);

/// Whether a client may call a job so.
bool is_client_name(std::string_view x);

} // namespace atelier::runtime::http::detail
