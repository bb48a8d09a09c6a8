// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/shared_text.hpp>

namespace atelier::runtime::http::detail {

bool shared_text::count_as(const byte_shares::part& part) {
  const std::lock_guard guard{mutex_};
  if (counted_)
    return true;
  auto own = part.another();
  if (!own.grow(text_.size()))
    return false;
  held_ = std::move(own);
  counted_ = true;
  return true;
}

} // namespace atelier::runtime::http::detail
