// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/job_journal.hpp>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::test {

/// A journal in memory, which outlives its users.
/// Threads: one.
class fake_journal : public runtime::http::job_journal {
public:
  bool is_behind() override {
    return behind;
  }

  void accept(runtime::http::journalled_job x,
              std::function<void(core::result<void>)> then) override {
    order([this, x = std::move(x), then = std::move(then)]() mutable {
      if (full) {
        then(core::fail(core::ec::io_failed, "full"));
        return;
      }
      const auto number = x.number;
      there.jobs.push_back({std::move(x), std::nullopt, {}});
      by_number[number] = there.jobs.size() - 1;
      then({});
    });
  }

  void after_accepts(std::function<void()> then) override {
    order(std::move(then));
  }

  void suspect(runtime::http::journalled_suspicion x,
               std::function<void()> then) override {
    order([this, x = std::move(x), then = std::move(then)] {
      if (const auto i = by_number.find(x.number); i != by_number.end())
        there.jobs[i->second].was.wanted.images.at(x.index).suspected =
          x.details;
      then();
    });
  }

  void cancel_image(runtime::http::journalled_cancellation x) override {
    order([this, x] {
      if (const auto i = by_number.find(x.number); i != by_number.end())
        there.jobs[i->second].cancelled_images.push_back(x.index);
    });
  }

  void end(runtime::http::journalled_end x) override {
    order([this, x = std::move(x)] {
      ++ends;
      if (const auto i = by_number.find(x.number); i != by_number.end())
        there.jobs[i->second].end = x;
    });
  }

  void forget(uint64_t number) override {
    order([this, number] {
      const auto i = by_number.find(number);
      if (i == by_number.end())
        return;
      const auto& was = there.jobs[i->second].was.wanted;
      there.forgotten.emplace_back(was.id, was.owner);
      there.jobs.erase(there.jobs.begin()
                       + static_cast<std::ptrdiff_t>(i->second));
      by_number.clear();
      for (size_t k = 0; k < there.jobs.size(); ++k)
        by_number[there.jobs[k].was.number] = k;
    });
  }

  /// Writes all waiting orders.
  void write() {
    while (!waiting.empty()) {
      const auto next = std::move(waiting.front());
      waiting.pop_front();
      next();
    }
  }

  /// Whether orders wait for write(). Otherwise they are done at once.
  bool holds = false;
  /// Whether jobs are refused by their result.
  bool full = false;
  /// Whether it says that it is behind.
  bool behind = false;
  size_t ends = 0;
  runtime::http::journal_contents there;

private:
  void order(std::function<void()> x) {
    waiting.push_back(std::move(x));
    if (!holds)
      write();
  }

  std::deque<std::function<void()>> waiting;
  std::map<uint64_t, size_t> by_number;
};

} // namespace atelier::test
