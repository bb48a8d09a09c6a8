// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/waiting_line.hpp>

#include <algorithm>
#include <tuple>

namespace atelier::runtime::http::detail {

bool waiting_line::goes_before(const place& a, const place& b) {
  return std::tie(b.priority, a.number) < std::tie(a.priority, b.number);
}

bool waiting_line::begins_before(const place& a, const place& b) {
  return std::tie(a.before, a.number) < std::tie(b.before, b.number);
}

size_t waiting_line::index_of(const line& in, const waiting_job& x) {
  const auto at = std::lower_bound(in.begin(), in.end(),
                                   place{x.priority, x.number}, goes_before);
  const bool waits =
    at != in.end() && at->priority == x.priority && at->number == x.number;
  return waits ? static_cast<size_t>(at - in.begin()) : in.size();
}

void waiting_line::count(line& of, size_t first) {
  for (size_t i = first; i < of.size(); ++i)
    of[i].before = i == 0 ? 0 : of[i - 1].before + of[i - 1].images;
}

void waiting_line::enter(const waiting_job& x) {
  line& own = lines_[x.owner];
  const place added{x.priority, x.number, std::max<uint64_t>(x.images, 1)};
  const auto at = own.insert(
    std::upper_bound(own.begin(), own.end(), added, goes_before), added);
  count(own, static_cast<size_t>(at - own.begin()));
  ++size_;
}

void waiting_line::leave(const waiting_job& x) {
  const auto own = lines_.find(x.owner);
  if (own == lines_.end())
    return;
  line& places = own->second;
  const size_t at = index_of(places, x);
  if (at == places.size())
    return;
  places.erase(places.begin() + static_cast<std::ptrdiff_t>(at));
  count(places, at);
  --size_;
  if (places.empty())
    lines_.erase(own);
}

uint32_t waiting_line::position(const waiting_job& x) const {
  const auto own = lines_.find(x.owner);
  if (own == lines_.end())
    return 0;
  const size_t at = index_of(own->second, x);
  if (at == own->second.size())
    return 0;
  const place& its = own->second[at];
  size_t first = 0;
  for (const auto& [owner, places] : lines_)
    first += static_cast<size_t>(
      std::lower_bound(places.begin(), places.end(), its, begins_before)
      - places.begin());
  return static_cast<uint32_t>(first) + 1;
}

} // namespace atelier::runtime::http::detail
