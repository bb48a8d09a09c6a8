// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/output_queue.hpp>

namespace atelier::runtime::http::detail {

std::optional<std::string_view> output_queue::begin_write() {
  if (writing_ || texts_.empty())
    return std::nullopt;
  writing_ = true;
  return std::string_view{texts_.front()}.substr(at_);
}

void output_queue::written(size_t bytes) {
  unsent_ -= bytes;
  at_ += bytes;
  if (at_ == texts_.front().size()) {
    texts_.pop_front();
    at_ = 0;
  }
}

} // namespace atelier::runtime::http::detail
