// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/output_queue.hpp>

namespace atelier::runtime::http::detail {

bool output_queue::announce(size_t bytes) {
  const auto before = unsent_.fetch_add(bytes);
  const bool room = among_.grow(bytes);
  if (!room)
    among_.must_grow(bytes);
  return before + bytes <= most_ && (room || before == 0);
}

bool output_queue::reserve(size_t bytes) {
  if (!among_.grow(bytes))
    return false;
  unsent_ += bytes;
  return true;
}

void output_queue::withdraw(size_t bytes) {
  unsent_ -= bytes;
  among_.shrink(bytes);
}

std::optional<std::string_view> output_queue::begin_write() {
  if (writing_ || texts_.empty())
    return std::nullopt;
  writing_ = true;
  return std::string_view{texts_.front()}.substr(at_);
}

bool output_queue::written(size_t bytes, uint64_t pace) {
  unsent_ -= bytes;
  at_ += bytes;
  read_ += bytes;
  if (at_ == texts_.front().size()) {
    among_.shrink(at_);
    texts_.pop_front();
    at_ = 0;
  }
  if (read_ < pace && !texts_.empty())
    return false;
  read_ = 0;
  return true;
}

} // namespace atelier::runtime::http::detail
