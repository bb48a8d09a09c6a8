// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/waiting_line.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

std::pair<uint32_t, uint64_t> place_of(uint32_t priority, uint64_t job) {
  return {UINT32_MAX - priority, job};
}

} // namespace

void waiting_line::enter(uint32_t priority, uint64_t job) {
  const auto at = place_of(priority, job);
  places_.insert(std::upper_bound(places_.begin(), places_.end(), at), at);
}

void waiting_line::leave(uint32_t priority, uint64_t job) {
  const auto at = place_of(priority, job);
  const auto i = std::lower_bound(places_.begin(), places_.end(), at);
  if (i != places_.end() && *i == at)
    places_.erase(i);
}

uint32_t waiting_line::position(uint32_t priority, uint64_t job) const {
  const auto at = place_of(priority, job);
  const auto i = std::lower_bound(places_.begin(), places_.end(), at);
  return i == places_.end() || *i != at
         ? 0
         : static_cast<uint32_t>(i - places_.begin()) + 1;
}

} // namespace atelier::runtime::http::detail
