// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/event_feed.hpp>
#include <atelier/runtime/http/detail/job_json.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace atelier::runtime::http::detail {

/// The events of one job for one client: first "status", as the job is; then
/// "progress" and "image" as they come; last "completed", "failed" or
/// "cancelled". Images that are there already come after the status.
class job_stream {
public:
  /// @param whole gives a view the bytes of its pictures
  job_stream(std::shared_ptr<exchange> to, picture_form how, std::string base,
             std::function<job_view(job_view)> whole)
    : feed_(std::move(to)),
      how_(how),
      base_(std::move(base)),
      whole_(std::move(whole)) {}

  /// What the job is to call; it keeps `me` alive until the job ended.
  job_listener listener(const std::shared_ptr<job_stream>& me);

  /// Begins to send; what was heard before comes after `now`.
  void open(const job_view& now);

private:
  void tell_progress(const job_view& v);
  void tell_picture(const job_view& v, uint32_t index);
  void tell_end(const job_view& v);

  event_feed feed_;
  const picture_form how_;
  const std::string base_;
  const std::function<job_view(job_view)> whole_;
  /// Of the news alone, which come one at a time.
  std::shared_ptr<const preview> seen_;
  std::mutex mutex_;
  /// Guarded by the mutex.
  std::vector<bool> told_;
};

} // namespace atelier::runtime::http::detail
