// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// What is to be written to a client, in order, and how much of it: texts are
/// counted before they are here, so that whoever makes them learns that the
/// client does not read.
/// Threads: what is marked so any; the rest one at a time.
class output_queue {
public:
  // From any thread.

  /// Counts bytes that will be pushed. False where more wait than may.
  bool announce(size_t bytes) {
    return (unsent_ += bytes) <= most_;
  }

  /// Bytes that were announced will not be pushed.
  void withdraw(size_t bytes) {
    unsent_ -= bytes;
  }

  // From one thread at a time.

  /// Sets how many bytes may wait.
  void limit(uint64_t most_bytes) {
    most_ = most_bytes;
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

  /// So many bytes of what begin_write returned went out.
  void written(size_t bytes);

private:
  std::list<std::string> texts_;
  /// Bytes of the first text that went out.
  size_t at_ = 0;
  bool writing_ = false;
  std::atomic<uint64_t> unsent_{0};
  std::atomic<uint64_t> most_{0};
};

} // namespace atelier::runtime::http::detail
