// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/index/forwarding.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace atelier::index {

struct punctual_options {
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

/// Kept work on a disk that may be slow or may not answer at all. One thread
/// reads and one writes; callers wait for them for a bounded time. Late reads
/// fail as io_failed, late work is not kept, as far as the caller knows, and
/// both count as failed. After several late reads in a row nothing is found for
/// a while, after as many late writes nothing is kept. The thread that writes
/// also writes back what reads changed; no read waits for a write.
///
/// A search does not wait for the disk, and the time in which an image is
/// encoded does not count as the disk's.
/// Threads: any.
class punctual_work final : public forwarding_work {
public:
  /// @pre of the other kept work, only `state`, `image`, `keep`, `list` and
  ///      `write_back` wait for its disk, and the first two not for a write
  punctual_work(std::shared_ptr<kept_work> on_disk, punctual_options how);
  ~punctual_work() override;

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
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::index
