// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/jobs/encoded_images.hpp>
#include <atelier/runtime/http/detail/jobs/encoded_previews.hpp>
#include <atelier/runtime/http/detail/jobs/event_feed.hpp>
#include <atelier/runtime/http/detail/jobs/job_json.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace atelier::runtime::http::detail {

/// Returns at least the number of bytes of the events with which the stream of
/// a job begins, if it sends images as base64.
/// @param sizes of the images' files, by index; 0: the image is missing
uint64_t first_bytes(const job_view& now, const std::vector<uint64_t>& sizes);

/// Sends the events of one job to one client: first "status" with the job's
/// current state, then "progress" and "image" as they occur, last "completed",
/// "failed" or "cancelled". Images that already exist follow the status.
class job_stream : public std::enable_shared_from_this<job_stream> {
public:
  /// @param previews encodes previews as long as it exists
  /// @param images the texts of images, which all streams share; not null
  /// @param whole adds the bytes of the images to a view
  job_stream(std::shared_ptr<exchange> to,
             std::weak_ptr<encoded_previews> previews,
             std::shared_ptr<encoded_images> images, image_form how,
             std::string base, std::function<job_view(job_view)> whole)
    : feed_(std::move(to)),
      previews_(std::move(previews)),
      images_(std::move(images)),
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
  const std::weak_ptr<encoded_previews> previews_;
  const std::shared_ptr<encoded_images> images_;
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
