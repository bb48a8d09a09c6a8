// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/load_run.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using outcome = load_record::outcome;

/// Maximum wait for the answers to cancelled requests.
constexpr core::timespan last_patience = std::chrono::seconds{30};

/// Codes of requests that were not accepted; every other code ends accepted
/// work.
constexpr std::array<std::string_view, 5> refusals{
  "overloaded", "invalid_argument", "bad_payload", "not_found", "stopping"};

/// The records that both the sender and the threads of the answers write.
struct books {
  explicit books(size_t n) : records(n) {}

  std::mutex mutex;
  /// Guarded by the mutex, like all members below.
  std::vector<load_record> records;
  size_t open = 0;
  /// The run has ended, so later answers are ignored.
  bool closed = false;
};

void close_record(load_record& to, const answer& a, core::timespan latency) {
  to.latency = latency;
  if (const auto* made = std::get_if<generated_image>(&a)) {
    to.result = outcome::answered;
    to.queue = made->took.queue;
    return;
  }
  to.code = std::get<failure>(a).code;
  to.result =
    std::find(refusals.begin(), refusals.end(), to.code) == refusals.end()
      ? outcome::failed
      : outcome::refused;
}

} // namespace

load_clock real_clock() {
  using clock = std::chrono::steady_clock;
  return {[] { return clock::now(); },
          [](core::time_point until, wakeup& woken) {
            const auto left = until - clock::now();
            const auto whole =
              std::chrono::floor<std::chrono::milliseconds>(left);
            // The last millisecond is slept, because waits for descriptors
            // count in whole milliseconds.
            if (whole.count() > 1)
              woken.wait(whole - std::chrono::milliseconds{1});
            else if (left.count() > 0)
              std::this_thread::sleep_until(until);
          }};
}

std::vector<load_record> run_load(const std::vector<due_request>& load,
                                  service& to, core::timespan patience,
                                  interruption& interrupted,
                                  const load_clock& clock,
                                  const std::function<void(size_t)>& sent) {
  const auto shared = std::make_shared<books>(load.size());
  auto& woken = interrupted.signal();
  const auto begin = clock.now();
  std::vector<std::pair<uint64_t, size_t>> handed_in;
  size_t count = 0;
  for (; count < load.size() && interrupted.count() == 0; ++count) {
    const auto& next = load[count];
    const auto due = core::after(begin, next.due);
    while (clock.now() < due && interrupted.count() == 0)
      clock.wait_until(due, woken);
    if (interrupted.count() > 0)
      break;
    {
      const std::lock_guard guard{shared->mutex};
      auto& r = shared->records[count];
      r.due = next.due;
      r.deadline = next.request.deadline;
      r.lag = clock.now() - due;
      ++shared->open;
    }
    callbacks calls;
    calls.answered = [shared, count, due, now = clock.now,
                      &woken](const answer& a) {
      const std::lock_guard guard{shared->mutex};
      if (shared->closed)
        return;
      close_record(shared->records[count], a, now() - due);
      if (--shared->open == 0)
        woken.wake();
    };
    auto handed = to.submit(next.request, std::move(calls));
    if (const auto* why = std::get_if<failure>(&handed)) {
      const std::lock_guard guard{shared->mutex};
      close_record(shared->records[count], answer{*why}, clock.now() - due);
      --shared->open;
    } else {
      handed_in.emplace_back(std::get<uint64_t>(handed), count);
    }
    sent(count + 1);
  }
  const auto all_answered = [&] {
    const std::lock_guard guard{shared->mutex};
    return shared->open == 0;
  };
  const auto wait_for_answers = [&](core::timespan most, int wishes) {
    const auto until = core::after(clock.now(), most);
    while (!all_answered() && interrupted.count() <= wishes
           && clock.now() < until)
      clock.wait_until(until, woken);
  };
  wait_for_answers(patience, 0);
  if (!all_answered()) {
    std::vector<uint64_t> left;
    {
      const std::lock_guard guard{shared->mutex};
      for (const auto& [request, at] : handed_in)
        if (shared->records[at].result == outcome::open)
          left.push_back(request);
    }
    for (const auto request : left)
      to.cancel(request);
    wait_for_answers(last_patience, 1);
  }
  const std::lock_guard guard{shared->mutex};
  shared->closed = true;
  auto records = std::move(shared->records);
  records.resize(count);
  for (auto& r : records)
    if (r.result == outcome::open) {
      r.result = outcome::failed;
      r.code = "unanswered";
    }
  return records;
}

} // namespace atelier::runtime::cli
