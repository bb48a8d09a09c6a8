// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/cli/wakeup.hpp>

#include <cstdint>
#include <map>
#include <mutex>
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

} // namespace atelier::runtime::cli
