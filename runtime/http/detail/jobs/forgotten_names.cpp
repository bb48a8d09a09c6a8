// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/forgotten_names.hpp>

namespace atelier::runtime::http::detail {

void forgotten_names::remember(const job_name& name) {
  const auto [at, fresh] = names_.insert(name);
  if (!fresh)
    return;
  order_.push_back(at);
  while (order_.size() > most_) {
    names_.erase(order_.front());
    order_.pop_front();
  }
}

} // namespace atelier::runtime::http::detail
