// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

/// What a client sent and nobody used yet, and whether more may come: one read
/// at a time goes into a block, and what cannot be used yet waits.
/// Threads: one at a time.
class input_buffer {
public:
  /// Whether the next read may begin.
  bool may_read() const {
    return !reading_ && !ended_;
  }

  /// Returns where the next read goes.
  /// @pre may_read()
  std::span<char> begin_read(size_t bytes);

  void end_read() {
    reading_ = false;
  }

  /// Whether a read is under way.
  bool reading() const {
    return reading_;
  }

  /// Returns what the last read brought; the next one overwrites it.
  std::string_view last_read(size_t bytes) const {
    return {block_.data(), bytes};
  }

  /// The client sends no more.
  void end() {
    ended_ = true;
  }

  bool ended() const {
    return ended_;
  }

  /// Offers what waits and then `bytes` to `use`, which returns the rest that
  /// it cannot use yet: a suffix of what it was given. The rest waits.
  void offer(std::string_view bytes,
             const std::function<std::string_view(std::string_view)>& use);

  /// Has `bytes` wait, unused. Returns how many wait now.
  size_t keep(std::string_view bytes);

  /// Returns what waits, which waits no longer.
  std::string take();

private:
  bool reading_ = false;
  bool ended_ = false;
  std::vector<char> block_;
  std::string ahead_;
};

} // namespace atelier::runtime::http::detail
