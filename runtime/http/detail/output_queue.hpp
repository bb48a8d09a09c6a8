// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/byte_shares.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace atelier::runtime::http::detail {

/// What is to be written to a client, in order, and how much of it: texts are
/// counted before they are here, so that whoever makes them learns that the
/// client does not read. They also count among those of all clients.
/// Threads: what is marked so any; the rest one at a time.
class output_queue {
public:
  // From any thread.

  /// Counts bytes that will be pushed. False where more wait than may, of this
  /// client or of all; a client that has read everything may always have more.
  bool announce(size_t bytes);

  /// Does the same, but counts nothing where it returns false, which depends on
  /// all clients alone.
  bool reserve(size_t bytes);

  /// Bytes that were announced will not be pushed.
  void withdraw(size_t bytes);

  // From one thread at a time.

  /// Sets how many bytes may wait, and where they count among those of others.
  /// @pre no event is being announced
  void limit(uint64_t most_bytes, byte_shares::part among) {
    most_ = most_bytes;
    among_ = std::move(among);
  }

  /// @pre its bytes were announced
  void push(std::string text) {
    texts_.push_back(std::move(text));
  }

  bool empty() const {
    return texts_.empty();
  }

  /// Returns what is to be written next; it stays in place until `written`.
  /// None where a write is under way or nothing is there.
  std::optional<std::string_view> begin_write();

  /// The write that was under way is over.
  void end_write() {
    writing_ = false;
  }

  /// So many bytes of what begin_write returned went out. Returns whether the
  /// client reads fast enough to have more time: it has read everything, or
  /// `pace` bytes since this was true.
  bool written(size_t bytes, uint64_t pace = 1);

private:
  std::list<std::string> texts_;
  /// Bytes of the first text that went out.
  size_t at_ = 0;
  bool writing_ = false;
  /// Bytes that went out since the client had more time.
  uint64_t read_ = 0;
  byte_shares::part among_;
  std::atomic<uint64_t> unsent_{0};
  std::atomic<uint64_t> most_{0};
};

} // namespace atelier::runtime::http::detail
