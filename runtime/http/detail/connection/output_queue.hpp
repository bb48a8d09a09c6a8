// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/connection/byte_shares.hpp>
#include <atelier/runtime/http/detail/connection/shared_text.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace atelier::runtime::http::detail {

/// What is to be written to a client, in order, and how much of it: texts are
/// counted before they are here, so that whoever makes them learns that the
/// client does not read. They also count among those of all clients; a text
/// that several clients wait for counts once there.
/// Threads: what is marked so any; the rest one at a time.
class output_queue {
public:
  // From any thread.

  /// Counts bytes that will be pushed, whatever waits: of texts that are small.
  void announce(size_t bytes);

  /// Counts bytes that will be pushed. Returns false, and counts nothing, if
  /// the limit of all clients does not allow them.
  bool reserve(size_t bytes);

  enum class verdict : uint8_t {
    taken,
    /// This client reads too slowly: more of its texts would wait than may.
    too_slow,
    /// The limit of all clients does not allow it.
    no_room
  };

  /// Counts the bytes of an event that will be pushed, and of the shared text
  /// in it, if there is one; counts nothing if the event is not taken. A client
  /// of which no more than `small` bytes wait may have so many in any case.
  verdict offer(size_t bytes, shared_text* shared = nullptr);

  /// An event that was taken will not be pushed, nor bytes that were announced.
  void withdraw(size_t bytes, const shared_text* shared = nullptr);

  static constexpr size_t small = 16 << 10;

  // From one thread at a time.

  /// Sets how many bytes may wait, and where they count among those of others.
  /// @pre no event is being announced
  void limit(uint64_t most_bytes, byte_shares::part among) {
    most_ = most_bytes;
    among_ = std::move(among);
  }

  /// @pre its bytes were counted
  void push(std::string text) {
    texts_.push_back({std::move(text), nullptr});
  }

  /// @pre it was taken with its event; not empty
  void push(std::shared_ptr<const shared_text> text) {
    texts_.push_back({{}, std::move(text)});
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
  struct item {
    std::string own;
    /// Null: the text is its own.
    std::shared_ptr<const shared_text> shared;

    std::string_view text() const {
      return shared ? shared->text() : own;
    }
  };

  std::list<item> texts_;
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
