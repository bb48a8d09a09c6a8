// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/split/ring_link.hpp>

#include <utility>

namespace atelier::runtime {

namespace {

/// A sleeping reader checks this often, in case a wake-up was lost with a
/// killed writer.
constexpr core::timespan look_up = std::chrono::seconds{1};
/// Interval while records wait for room.
constexpr core::timespan look_up_behind = std::chrono::milliseconds{1};

} // namespace

ring_link::ring_link(const ipc::ring_pair& rings, ipc::ring_life life,
                     events calls)
  : calls_(std::move(calls)),
    from_(rings.outbound, life),
    to_(rings.inbound, life),
    thread_([this] { read(); }) {}

ring_link::~ring_link() {
  stop();
}

void ring_link::stop() {
  if (!thread_.joinable())
    return;
  stage_ = stage::abandoned;
  stage_.notify_all();
  from_.interrupt();
  thread_.join();
}

core::result<void> ring_link::send(const actors::to_process& x) {
  const auto done = put(x);
  if (!done)
    return done.why();
  // The wake-up is not under the mutex, as in rouse.
  if (*done)
    to_.announce();
  return {};
}

core::result<bool> ring_link::put(const actors::to_process& x) {
  const std::lock_guard guard{mutex_};
  if (closed_)
    return false;
  actors::write(x, scratch_);
  if (overflow_.empty()) {
    const auto pushed = to_.push_quietly(scratch_);
    if (pushed && *pushed)
      return true;
  }
  if (scratch_.size() > to_.largest())
    return actors::too_large(scratch_.size(), to_.largest());
  overflow_.push_back(scratch_);
  // The reading thread may sleep for long: from now on it checks for room.
  if (!behind_.exchange(true))
    from_.interrupt();
  return false;
}

void ring_link::flush() {
  const std::lock_guard guard{mutex_};
  while (!overflow_.empty()) {
    const auto pushed = to_.push(overflow_.front());
    if (!pushed || !*pushed)
      return;
    overflow_.pop_front();
  }
  behind_ = false;
}

void ring_link::rouse() {
  // Not under the mutex: the woken thread may take this core, and senders would
  // wait for that.
  to_.rouse();
  from_.rouse();
}

void ring_link::finish() {
  {
    const std::lock_guard guard{mutex_};
    closed_ = true;
    overflow_.clear();
    behind_ = false;
  }
  auto open = stage::open;
  stage_.compare_exchange_strong(open, stage::finishing);
  stage_.notify_all();
  from_.interrupt();
}

void ring_link::read() {
  std::vector<std::byte> record;
  for (;;) {
    // Read before the ring: records written before the process's end are then
    // seen before the end is.
    const bool over = stage_ == stage::finishing;
    auto wait = behind_ ? look_up_behind : look_up;
    if (over)
      wait = {};
    const auto got = from_.pop(record, wait);
    if (stage_ == stage::abandoned)
      return;
    if (behind_)
      flush();
    if (!got) {
      calls_.broken(got.why());
      break;
    }
    if (!*got) {
      if (over)
        break;
      continue;
    }
    auto message = actors::read_from_process(record);
    if (!message) {
      calls_.broken(message.why());
      break;
    }
    calls_.arrived(std::move(*message));
  }
  // A broken ring delivers nothing more, but the end of its process is still to
  // come.
  stage_.wait(stage::open);
  if (stage_ == stage::finishing)
    calls_.ended();
}

} // namespace atelier::runtime
