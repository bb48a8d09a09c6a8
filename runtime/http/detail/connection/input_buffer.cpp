// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/input_buffer.hpp>

#include <utility>

namespace atelier::runtime::http::detail {

std::span<char> input_buffer::begin_read(size_t bytes) {
  reading_ = true;
  if (block_.size() != bytes)
    std::vector<char>(bytes).swap(block_);
  return block_;
}

void input_buffer::offer(
  std::string_view bytes,
  const std::function<std::string_view(std::string_view)>& use) {
  if (ahead_.empty()) {
    // Copied before the next read comes into the same block.
    ahead_ = std::string{use(bytes)};
    return;
  }
  ahead_ += bytes;
  const auto rest = use(ahead_);
  ahead_.erase(0, ahead_.size() - rest.size());
}

size_t input_buffer::keep(std::string_view bytes) {
  ahead_ += bytes;
  return ahead_.size();
}

std::string input_buffer::take() {
  return std::exchange(ahead_, {});
}

} // namespace atelier::runtime::http::detail
