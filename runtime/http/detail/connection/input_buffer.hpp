// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

/// Holds the received bytes that are not used yet, and whether more may arrive.
/// One read at a time fills a block, and bytes that cannot be used yet are
/// kept.
/// Threads: one at a time.
class input_buffer {
public:
  /// Returns whether the next read may begin.
  bool may_read() const {
    return !reading_ && !ended_;
  }

  /// Returns the destination of the next read.
  /// @pre may_read()
  std::span<char> begin_read(size_t bytes);

  void end_read() {
    reading_ = false;
  }

  /// Returns whether a read is in progress.
  bool reading() const {
    return reading_;
  }

  /// Returns the bytes of the last read; the next one overwrites them.
  std::string_view last_read(size_t bytes) const {
    return {block_.data(), bytes};
  }

  /// Records that the client sends no more.
  void end() {
    ended_ = true;
  }

  bool ended() const {
    return ended_;
  }

  /// Passes the kept bytes and then `bytes` to `use`, which returns the rest
  /// that it cannot use yet: a suffix of its argument. The rest is kept.
  void offer(std::string_view bytes,
             const std::function<std::string_view(std::string_view)>& use);

  /// Keeps `bytes` unused. Returns the number of bytes now kept.
  size_t keep(std::string_view bytes);

  /// Returns the number of kept bytes.
  size_t kept() const {
    return ahead_.size();
  }

  /// Removes and returns the kept bytes.
  std::string take();

private:
  bool reading_ = false;
  bool ended_ = false;
  std::vector<char> block_;
  std::string ahead_;
};

} // namespace atelier::runtime::http::detail
