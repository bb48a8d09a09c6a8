// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/interruption.hpp>
#include <atelier/runtime/cli/progress_bar.hpp>
#include <atelier/runtime/cli/service.hpp>
#include <atelier/runtime/cli/wakeup.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::cli {

/// Carries the service's callbacks from its thread to the thread that writes
/// the images. Holds at most as many answers as images were submitted.
/// Threads: `put` may be called from any thread; `take` is called from one, the
/// waker's.
class answers {
public:
  struct batch {
    /// Answers by image, in the order of arrival.
    std::vector<std::pair<uint64_t, answer>> finished;
    /// The latest progress of each image.
    std::map<uint64_t, progress> running;
  };

  explicit answers(wakeup& waker) : waker_(waker) {}

  void put(uint64_t image, answer x) {
    {
      const std::lock_guard guard{mutex_};
      waiting_.finished.emplace_back(image, std::move(x));
    }
    waker_.wake();
  }

  /// Does not wake: a display is redrawn at its own pace.
  void put(uint64_t image, const progress& x) {
    const std::lock_guard guard{mutex_};
    waiting_.running[image] = x;
  }

  batch take() {
    const std::lock_guard guard{mutex_};
    return std::exchange(waiting_, {});
  }

private:
  wakeup& waker_;
  std::mutex mutex_;
  batch waiting_;
};

/// How the requests of a list are drawn.
struct draw_pace {
  /// The maximum number of requests that are submitted and not yet answered.
  uint64_t window = 1;
  /// After so many requests, the next one waits until the work of all is kept:
  /// a device may draw faster than a disk keeps, and there is room for the work
  /// of so many only. 0: any number.
  uint64_t batch = 0;
  /// How long to wait for cancelled requests, and for work to be kept.
  std::chrono::nanoseconds grace{0};
};

/// A list of requests, by index from 0 on, and what is done with their images.
struct wanted_images {
  uint64_t count = 0;
  std::function<generation(uint64_t index)> request;
  /// Returns the words for a request in the report of its failure.
  std::function<std::string(uint64_t index)> name;
  /// Handles an image, on the thread of `run`.
  std::function<void(uint64_t index, const generated_image&)> drawn;
  /// Returns the part of an image that `drawn` uses; empty: all of it. It runs
  /// on a thread of the service, also after the end of `run`.
  std::function<generated_image(const generated_image&)> used_part;
};

/// Draws a list: submits its requests in order, shows progress, reports
/// failures, and counts the first one. After a request to stop, nothing more is
/// submitted and all running requests are cancelled.
/// Threads: one.
class draw_list {
public:
  /// @param makes outlives this object, like the next two
  draw_list(wanted_images wanted, const draw_pace& pace, service& makes,
            interruption& interrupted, const console& terminal);

  /// Draws all of them. Returns when every submitted request is answered, or
  /// the wait for cancelled ones is over: `interrupted` after a request to
  /// stop, otherwise the status of the failed request with the lowest index.
  exit_status run();

  // The next members are for `drawn`.

  /// Prints a line beside the progress.
  void tell(const std::string& line);

  /// Counts a failure of the request of that index.
  void note_failure(uint64_t index, exit_status status);

  /// Cancels all running requests and submits no others.
  void stop_early();

  bool stopped() const {
    return stopped_.has_value();
  }

private:
  using time_point = std::chrono::steady_clock::time_point;

  bool wants_more() const;
  /// Returns whether the list had to end early because of the user.
  bool heed_interruption();
  /// Submits as many requests as the pace allows.
  void submit_more();
  /// Submits one request. Returns false if the service is full and must be
  /// asked again.
  bool submit(uint64_t index);
  void finish(uint64_t index, const answer& x);
  void fail(uint64_t index, const failure& why);
  void show_progress();
  void hide_progress();

  const wanted_images wanted_;
  const draw_pace pace_;
  service& service_;
  interruption& interrupted_;
  const console& console_;
  std::shared_ptr<answers> answers_;
  progress_bar bar_;
  bool bar_shown_ = false;

  uint64_t next_ = 0;
  /// Requests that were submitted since the work of all was kept.
  uint64_t in_batch_ = 0;
  /// Maps an index to its request, for submitted and unanswered ones.
  std::map<uint64_t, uint64_t> running_;
  /// The service reported that it is full; it is asked again after an answer.
  bool full_ = false;
  std::optional<time_point> stopped_;
  bool was_interrupted_ = false;
  std::optional<std::pair<uint64_t, exit_status>> first_failure_;
};

} // namespace atelier::runtime::cli
