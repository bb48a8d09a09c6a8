// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/detail/jobs/restored_jobs.hpp>

#include <utility>

namespace atelier::runtime::http::detail {

void restored_jobs::add(uint64_t job, std::vector<generation> requests) {
  const auto added = jobs_.emplace(job, std::move(requests)).second;
  ATELIER_EXPECTS(added, "a job is restored once");
}

std::vector<uint64_t> restored_jobs::all() const {
  std::vector<uint64_t> found;
  for (const auto& [job, requests] : jobs_)
    found.push_back(job);
  return found;
}

const generation& restored_jobs::request(uint64_t job, uint32_t index) const {
  const auto i = jobs_.find(job);
  ATELIER_EXPECTS(i != jobs_.end() && index < i->second.size(),
                  "the image belongs to an open job of a previous server");
  return i->second[index];
}

void restored_jobs::suspect(uint64_t job, uint32_t index,
                            const suspicion& how) {
  const auto i = jobs_.find(job);
  if (i != jobs_.end() && index < i->second.size())
    i->second[index].suspected = how;
}

} // namespace atelier::runtime::http::detail
