// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/handler_watch.hpp>
#include <atelier/core/log.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <mutex>

namespace atelier::actors {

namespace {

using clock = std::chrono::steady_clock;

/// Waits are not checked for handlers that are shorter than this.
constexpr core::timespan short_handler = std::chrono::microseconds{100};

/// The counts of the process.
struct counts {
  std::mutex mutex;
  /// Guarded by the mutex.
  std::vector<blocked_handlers> by_actor;
};

counts& counted() {
  static counts x;
  return x;
}

core::timespan span_of(const timeval& x) {
  return std::chrono::seconds{x.tv_sec} + std::chrono::microseconds{x.tv_usec};
}

/// Returns the resource usage of this thread.
rusage used_here() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used;
}

core::timespan computed_in(const rusage& x) {
  return span_of(x.ru_utime) + span_of(x.ru_stime);
}

void count(const char* actor) {
  auto& x = counted();
  const std::lock_guard guard{x.mutex};
  const auto at = std::find_if(x.by_actor.begin(), x.by_actor.end(),
                               [&](const auto& y) { return y.actor == actor; });
  if (at != x.by_actor.end())
    ++at->count;
  else
    x.by_actor.push_back({actor, 1});
}

} // namespace

std::vector<blocked_handlers> count_blocked_handlers() {
  auto& x = counted();
  const std::lock_guard guard{x.mutex};
  return x.by_actor;
}

void handler_watch::begin() {
  last_ = clock::now();
  const auto used = used_here();
  computed_ = computed_in(used);
  waits_ = used.ru_nvcsw;
}

void handler_watch::handled(const char* actor) {
  const auto now = clock::now();
  const auto took = now - last_;
  last_ = now;
  if (took < short_handler)
    return;
  const auto used = used_here();
  const auto computed = computed_in(used) - computed_;
  const bool waited = used.ru_nvcsw > waits_;
  computed_ += computed;
  waits_ = used.ru_nvcsw;
  if (!waited || took - computed <= longest_wait)
    return;
  core::log_info("a handler of {} took {:.1f} ms and computed for {:.1f}",
                 actor, core::to_ms(took), core::to_ms(computed));
  count(actor);
}

} // namespace atelier::actors
