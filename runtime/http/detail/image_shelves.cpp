// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/image_shelves.hpp>

namespace atelier::runtime::http::detail {

void image_shelves::put_on(shelf& to, uint64_t job, core::time_point used,
                           uint64_t& part, uint64_t bytes) {
  part += bytes;
  to.held += bytes;
  to.jobs.emplace(used, job);
}

void image_shelves::take_from(shelf& from, uint64_t job, core::time_point used,
                              uint64_t& part, uint64_t bytes) {
  part -= bytes;
  from.held -= bytes;
  if (part == 0)
    from.jobs.erase({used, job});
}

void image_shelves::keep(uint64_t job, uint64_t bytes, core::time_point now) {
  auto& x = shares_[job] = {now, 0, 0};
  put_on(in_memory_, job, x.used, x.bytes, bytes);
  unstored_.insert(job);
}

void image_shelves::keep_in_files(uint64_t job, uint64_t disk_bytes,
                                  core::time_point now) {
  auto& x = shares_[job] = {now, 0, 0};
  put_on(on_disk_, job, x.used, x.disk_bytes, disk_bytes);
}

void image_shelves::use(uint64_t job, core::time_point now) {
  const auto i = shares_.find(job);
  if (i == shares_.end())
    return;
  auto& x = i->second;
  for (auto* at : {&in_memory_, &on_disk_})
    if (at->jobs.erase({x.used, job}) > 0)
      at->jobs.emplace(now, job);
  x.used = now;
}

void image_shelves::move_into_file(uint64_t job, uint64_t bytes,
                                   uint64_t disk_bytes) {
  auto& x = shares_.at(job);
  take_from(in_memory_, job, x.used, x.bytes, bytes);
  put_on(on_disk_, job, x.used, x.disk_bytes, disk_bytes);
}

bool image_shelves::forget(uint64_t job) {
  const auto i = shares_.find(job);
  if (i == shares_.end())
    return false;
  auto& x = i->second;
  take_from(in_memory_, job, x.used, x.bytes, x.bytes);
  take_from(on_disk_, job, x.used, x.disk_bytes, x.disk_bytes);
  unstored_.erase(job);
  shares_.erase(i);
  return true;
}

std::optional<uint64_t> image_shelves::over_memory() const {
  if (in_memory_.held <= in_memory_.most)
    return std::nullopt;
  return in_memory_.jobs.begin()->second;
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
  for (const auto& [used, job] : on_disk_.jobs)
    if (job != but)
      return job;
  return std::nullopt;
}

} // namespace atelier::runtime::http::detail
