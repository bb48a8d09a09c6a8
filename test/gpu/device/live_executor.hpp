// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../rig.hpp"
#include <atelier/gpu/device/test_card_executor.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace atelier::test {

/// Takes the reports from the device's thread.
template <class Report>
class inbox {
public:
  void put(Report x) {
    const std::lock_guard guard{mutex_};
    reports_.push_back(std::move(x));
    arrived_.notify_one();
  }

  Report take() {
    std::unique_lock lock{mutex_};
    if (!arrived_.wait_for(lock, std::chrono::seconds{30},
                           [this] { return !reports_.empty(); }))
      throw std::runtime_error("no report within 30 s");
    auto x = std::move(reports_.front());
    reports_.pop_front();
    return x;
  }

private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Report> reports_;
};

/// An executor of test cards. Tests wait for its reports.
struct live_executor : rig {
  inbox<gpu::run_report> ran;
  inbox<gpu::decode_report> decoded;
  std::shared_ptr<gpu::executor> sut;

  live_executor() {
    start();
  }

  void start(core::timespan step = {}, core::timespan decode = {},
             uint32_t fault_every = 0) {
    sut = gpu::make_test_card_executor({known, step, decode, {}, fault_every},
                                       slots);
    sut->connect({[this](gpu::run_report x) { ran.put(std::move(x)); },
                  [this](gpu::decode_report x) { decoded.put(std::move(x)); }});
  }

  gpu::run_report run(std::vector<core::ticket> rows, uint32_t steps) {
    sut->run({std::move(rows), steps});
    return ran.take();
  }

  gpu::decode_report decode(core::ticket who) {
    sut->decode(who);
    return decoded.take();
  }

  /// Waits until the row has published `seq`.
  void await(const ipc::slot_ref& slot, uint64_t seq) {
    const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (published(slot) < seq) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::yield();
    }
  }
};

} // namespace atelier::test
