// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/device/executor.hpp>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace atelier::runtime::detail {

/// Waits for the reports of a device's thread.
/// Threads: the device's thread reports, one other waits.
class device_reports {
public:
  void connect(gpu::executor& device) {
    device.connect(
      {[this](gpu::run_report x) { put(run_, std::move(x)); },
       [this](gpu::decode_report x) { put(decoded_, std::move(x)); }});
  }

  gpu::run_report run() {
    return take(run_);
  }

  gpu::decode_report decoded() {
    return take(decoded_);
  }

private:
  template <class T>
  void put(std::optional<T>& at, T x) {
    const std::lock_guard guard{mutex_};
    at = std::move(x);
    changed_.notify_one();
  }

  template <class T>
  T take(std::optional<T>& at) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return at.has_value(); });
    auto x = std::move(*at);
    at.reset();
    return x;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<gpu::run_report> run_;
  std::optional<gpu::decode_report> decoded_;
};

} // namespace atelier::runtime::detail
