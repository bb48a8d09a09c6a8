// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/event_feed.hpp>
#include <atelier/runtime/http/detail/job_json.hpp>
#include <atelier/runtime/http/jobs.hpp>
#include <atelier/runtime/thread_offload.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace atelier::runtime::http::detail {

/// Encodes previews as PNG in data URLs: each once for all streams that show
/// it, and not on the thread that delivers the images of all requests. Threads:
/// any. It must not be destroyed by a function that it calls.
class preview_urls {
public:
  /// Null if it could not be encoded.
  using url = std::shared_ptr<const std::string>;
  using receiver = std::function<void(const url&)>;

  /// @param apart false: encodes on the calling thread
  explicit preview_urls(bool apart);

  /// Calls `then` with the URL: at once if it exists, otherwise when it is
  /// encoded.
  void get(const std::shared_ptr<const preview>& of, receiver then);

private:
  struct entry {
    std::shared_ptr<const preview> of;
    std::mutex mutex;
    /// The mutex guards these.
    bool done = false;
    url text;
    std::vector<receiver> waiting;

    void finish(url x);
  };

  std::mutex mutex_;
  /// The last ones, guarded by the mutex.
  std::deque<std::shared_ptr<entry>> known_;
  std::unique_ptr<thread_offload> thread_;
};

/// Sends the events of one job to one client: first "status" with the job's
/// current state, then "progress" and "image" as they occur, last "completed",
/// "failed" or "cancelled". Images that already exist follow the status.
class job_stream : public std::enable_shared_from_this<job_stream> {
public:
  /// @param previews encodes previews as long as it exists
  /// @param whole adds the bytes of the images to a view
  job_stream(std::shared_ptr<exchange> to, std::weak_ptr<preview_urls> previews,
             image_form how, std::string base,
             std::function<job_view(job_view)> whole)
    : feed_(std::move(to)),
      previews_(std::move(previews)),
      how_(how),
      base_(std::move(base)),
      whole_(std::move(whole)) {}

  /// Returns the listener for the job, which keeps `me` alive until the job
  /// ends.
  job_listener listener(const std::shared_ptr<job_stream>& me);

  /// Starts to send `now`, followed by the events received before this call.
  void open(const job_view& now);

private:
  void tell_progress(const job_view& v);
  void tell_image(const job_view& v, uint32_t index);
  void tell_end(const job_view& v);

  event_feed feed_;
  const std::weak_ptr<preview_urls> previews_;
  const image_form how_;
  const std::string base_;
  const std::function<job_view(job_view)> whole_;
  /// Used only by the job's news, which arrive one at a time.
  std::shared_ptr<const preview> seen_;
  /// A preview is being encoded: until it is sent, others are left out.
  std::atomic<bool> encoding_{false};
  std::mutex mutex_;
  /// Guarded by the mutex.
  std::vector<bool> told_;
};

} // namespace atelier::runtime::http::detail
