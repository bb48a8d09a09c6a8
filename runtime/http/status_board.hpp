// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/picture_service.hpp>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace atelier::runtime::http {

/// A picture that was delivered of late.
struct recent_picture {
  core::time_point at;
  std::string variant;
  std::string route;
  core::timespan took{0};
};

/// The engine's state as the doors show it: asked for again and again on a
/// thread of its own, since an answer may take an actor's time, and told at
/// once.
/// Threads: any.
class status_board {
public:
  status_board(std::shared_ptr<picture_service> from, core::timespan period);
  ~status_board();

  status_board(const status_board&) = delete;
  status_board& operator=(const status_board&) = delete;

  /// Of at most a period ago, as long as the engine answers.
  engine_status last() const;

  /// Since when it has been watching.
  core::time_point since() const {
    return since_;
  }

  void note(const picture& x);

  /// The pictures of the last minutes, oldest first; at most some thousands.
  std::vector<recent_picture> recent() const;

private:
  void loop();

  std::shared_ptr<picture_service> from_;
  core::timespan period_;
  core::time_point since_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  /// Guarded by the mutex, as all below but the thread.
  engine_status last_;
  std::deque<recent_picture> recent_;
  bool stopping_ = false;
  // Last: it ends before what it uses.
  std::jthread thread_;
};

} // namespace atelier::runtime::http
