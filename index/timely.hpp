// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/index/forwarding.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace atelier::index {

namespace detail {
class call_thread;
} // namespace detail

/// The leftovers that wait to be kept.
struct queue_bounds {
  /// Their maximum number, 0..256. More are not kept, and count as overflowed.
  /// 0: `keep` waits until its leftover is kept.
  size_t most = 16;
  /// The maximum wait of the destructor until all of them are kept.
  core::timespan grace = std::chrono::seconds{10};
};

/// How long a disk is waited for, which may be slow or may not answer at all.
struct disk_pace {
  /// The maximum waits for the disk. Requests wait for what is read.
  core::timespan read_wait = std::chrono::milliseconds{250};
  core::timespan write_wait = std::chrono::seconds{5};
  /// After this many late calls in a row the disk is left out for `retry`, and
  /// then tried once.
  uint32_t most_late = 3;
  core::timespan retry = std::chrono::seconds{30};
  /// The maximum wait of the destructor for a call that has not ended.
  core::timespan grace = std::chrono::seconds{2};
  std::function<core::time_point()> now = std::chrono::steady_clock::now;
};

/// Kept work whose callers wait for a bounded time. Three threads make the
/// calls that may take long:
///
/// - One keeps what `keep` queued, because a disk or the vector of an image may
///   take long. `keep` returns true if the leftover is queued; a later failure
///   counts as failed. The time in which an image is encoded does not count as
///   the disk's.
/// - One reads from the disk and one writes to it, while callers, and the first
///   thread, wait for a bounded time. Late reads fail as io_failed, late work
///   is not kept, and both count as failed. After several late reads in a row
///   nothing is found for a while, after as many late writes nothing is kept.
///   The thread that writes also writes back what reads changed; no read waits
///   for a write, and no search for the disk.
/// Threads: any.
class timely_work final : public forwarding_work {
public:
  /// @param disk none: the other kept work is on no disk
  /// @pre of the other kept work, only `state`, `image`, `keep`, `list` and
  ///      `write_back` wait for its disk, and the first two not for a write
  timely_work(std::shared_ptr<kept_work> kept, queue_bounds queue,
              std::optional<disk_pace> disk = std::nullopt);
  ~timely_work() override;

  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const search_terms& by) override;
  core::result<payload> state(uint64_t entry, uint32_t steps) override;
  core::result<payload> image(uint64_t entry, core::extent px,
                              uint32_t skips) override;
  void drop_torn(uint64_t entry) override;
  bool keep(std::string_view key, std::string_view text,
            leftover what) override;
  kept_counts counts() const override;
  /// Waits for the disk at most ten seconds; a late list is no failure of it.
  core::result<std::vector<kept_entry>> list(const entry_page& which) override;

private:
  class slow_disk;

  /// Null without a disk.
  const std::shared_ptr<slow_disk> disk_;
  /// Keeps what is queued; null if nothing is.
  std::unique_ptr<detail::call_thread> keeper_;
  const core::timespan grace_;
};

} // namespace atelier::index
