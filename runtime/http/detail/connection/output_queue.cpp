// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/output_queue.hpp>

namespace atelier::runtime::http::detail {

void output_queue::announce(size_t bytes) {
  unsent_ += bytes;
  among_.must_grow(bytes);
}

bool output_queue::reserve(size_t bytes) {
  if (!among_.grow(bytes))
    return false;
  unsent_ += bytes;
  return true;
}

output_queue::verdict output_queue::offer(size_t bytes, shared_text* shared) {
  const auto all = bytes + (shared != nullptr ? shared->text().size() : 0);
  const auto before = unsent_.fetch_add(all);
  if (before + all > most_) {
    unsent_ -= all;
    return verdict::too_slow;
  }
  const bool is_small = shared == nullptr && before + all <= small;
  if (is_small) {
    among_.must_grow(bytes);
    return verdict::taken;
  }
  const bool room = among_.grow(bytes);
  if (room && (shared == nullptr || shared->count_as(among_)))
    return verdict::taken;
  unsent_ -= all;
  if (room)
    among_.shrink(bytes);
  return verdict::no_room;
}

void output_queue::withdraw(size_t bytes, const shared_text* shared) {
  unsent_ -= bytes + (shared != nullptr ? shared->text().size() : 0);
  among_.shrink(bytes);
}

std::optional<std::string_view> output_queue::begin_write() {
  if (writing_ || texts_.empty())
    return std::nullopt;
  writing_ = true;
  return texts_.front().text().substr(at_);
}

bool output_queue::written(size_t bytes, uint64_t pace) {
  unsent_ -= bytes;
  at_ += bytes;
  read_ += bytes;
  if (const auto& first = texts_.front(); at_ == first.text().size()) {
    if (!first.shared)
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
