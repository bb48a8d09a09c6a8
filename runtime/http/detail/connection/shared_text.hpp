// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/connection/byte_shares.hpp>

#include <mutex>
#include <string>
#include <utility>

namespace atelier::runtime::http::detail {

/// A text that several streams send. The text is kept once, and counts once
/// among the waiting replies: for the caller whose stream is the first one to
/// send it, until no stream has it left to send.
/// Threads: any.
class shared_text {
public:
  explicit shared_text(std::string x) : text_(std::move(x)) {}

  const std::string& text() const {
    return text_;
  }

  /// Counts the text where `part` counts, unless it is counted already. Returns
  /// false, and counts nothing, if the limits do not allow it.
  bool count_as(const byte_shares::part& part);

private:
  const std::string text_;
  std::mutex mutex_;
  /// The mutex guards these.
  byte_shares::part held_;
  bool counted_ = false;
};

} // namespace atelier::runtime::http::detail
