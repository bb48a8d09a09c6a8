// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/attendances.hpp>

namespace atelier::runtime::http::detail {

void attendances::come(uint64_t job) {
  auto& x = jobs_[job];
  ++x.clients;
  x.left_at.reset();
}

bool attendances::leave(uint64_t job) {
  const auto i = jobs_.find(job);
  return i != jobs_.end() && i->second.clients > 0 && --i->second.clients == 0;
}

void attendances::may_return(uint64_t job, core::time_point now) {
  jobs_[job].left_at = now;
}

std::vector<uint64_t> attendances::given_up(core::time_point now,
                                            core::timespan pause) const {
  std::vector<uint64_t> out;
  for (const auto& [job, x] : jobs_)
    if (x.left_at && now >= core::after(*x.left_at, pause))
      out.push_back(job);
  return out;
}

} // namespace atelier::runtime::http::detail
