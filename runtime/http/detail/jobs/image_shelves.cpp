// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/image_shelves.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

void image_shelves::put_on(shelf& to, uint64_t job, share& x,
                           uint64_t share::*part, uint64_t bytes) {
  x.*part += bytes;
  to.held += bytes;
  auto& own = to.owners[x.owner];
  own.held += bytes;
  own.jobs.emplace(x.used, job);
}

void image_shelves::take_from(shelf& from, uint64_t job, share& x,
                              uint64_t share::*part, uint64_t bytes) {
  const auto own = from.owners.find(x.owner);
  if (own == from.owners.end())
    return;
  x.*part -= bytes;
  from.held -= bytes;
  own->second.held -= bytes;
  if (x.*part == 0)
    own->second.jobs.erase({x.used, job});
  if (own->second.jobs.empty())
    from.owners.erase(own);
}

void image_shelves::keep(uint64_t job, uint64_t bytes, core::time_point now,
                         const std::string& owner) {
  auto& x = shares_[job] = {owner, now, 0, 0};
  put_on(in_memory_, job, x, &share::bytes, bytes);
  unstored_.insert(job);
}

void image_shelves::keep_in_files(uint64_t job, uint64_t disk_bytes,
                                  core::time_point now,
                                  const std::string& owner) {
  auto& x = shares_[job] = {owner, now, 0, 0};
  put_on(on_disk_, job, x, &share::disk_bytes, disk_bytes);
}

void image_shelves::use(uint64_t job, core::time_point now) {
  const auto i = shares_.find(job);
  if (i == shares_.end())
    return;
  auto& x = i->second;
  for (auto* at : {&in_memory_, &on_disk_}) {
    const auto own = at->owners.find(x.owner);
    if (own != at->owners.end() && own->second.jobs.erase({x.used, job}) > 0)
      own->second.jobs.emplace(now, job);
  }
  x.used = now;
}

void image_shelves::move_into_file(uint64_t job, uint64_t bytes,
                                   uint64_t disk_bytes) {
  auto& x = shares_.at(job);
  take_from(in_memory_, job, x, &share::bytes, bytes);
  put_on(on_disk_, job, x, &share::disk_bytes, disk_bytes);
}

bool image_shelves::forget(uint64_t job) {
  const auto i = shares_.find(job);
  if (i == shares_.end())
    return false;
  auto& x = i->second;
  take_from(in_memory_, job, x, &share::bytes, x.bytes);
  take_from(on_disk_, job, x, &share::disk_bytes, x.disk_bytes);
  unstored_.erase(job);
  shares_.erase(i);
  return true;
}

std::optional<uint64_t> image_shelves::over_memory() const {
  if (in_memory_.held <= in_memory_.most)
    return std::nullopt;
  return next_to_go(in_memory_);
}

bool image_shelves::could_store(uint64_t job, uint64_t disk_bytes) const {
  const auto i = shares_.find(job);
  return i != shares_.end()
      && i->second.disk_bytes + disk_bytes <= on_disk_.most;
}

std::optional<uint64_t> image_shelves::over_disk(uint64_t more_disk_bytes,
                                                 uint64_t but) const {
  if (on_disk_.held + more_disk_bytes <= on_disk_.most)
    return std::nullopt;
  return next_to_go(on_disk_, more_disk_bytes, but);
}

std::optional<uint64_t> image_shelves::next_to_go(const shelf& from,
                                                  uint64_t more,
                                                  uint64_t but) const {
  const auto asks = shares_.find(but);
  std::optional<uint64_t> next;
  uint64_t most = 0;
  for (const auto& [owner, own] : from.owners) {
    const bool is_its = asks != shares_.end() && asks->second.owner == owner;
    const auto held = own.held + (is_its ? more : 0);
    if (next && held <= most)
      continue;
    const auto oldest = std::ranges::find_if(
      own.jobs, [but](const auto& x) { return x.second != but; });
    if (oldest == own.jobs.end())
      continue;
    next = oldest->second;
    most = held;
  }
  return next;
}

} // namespace atelier::runtime::http::detail
