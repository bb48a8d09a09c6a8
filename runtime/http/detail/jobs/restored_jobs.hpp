// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace atelier::runtime::http::detail {

/// The requests of open jobs that a previous server accepted, by the numbers of
/// the jobs: until a job ends they may be submitted again, with what is
/// suspected of them.
/// Threads: one at a time.
class restored_jobs {
public:
  /// @pre the job is not here
  void add(uint64_t job, std::vector<generation> requests);

  /// Forgets a job, if it is here.
  void end(uint64_t job) {
    jobs_.erase(job);
  }

  bool contains(uint64_t job) const {
    return jobs_.contains(job);
  }

  /// Returns the numbers of the jobs, oldest first.
  std::vector<uint64_t> all() const;

  /// Returns the request of an image as it must be submitted next.
  /// @pre the job is here, and has such an image
  const generation& request(uint64_t job, uint32_t index) const;

  /// Enters a suspicion against an image, if its job is here: the request stays
  /// suspect when it is submitted again.
  void suspect(uint64_t job, uint32_t index, const suspicion& how);

private:
  std::map<uint64_t, std::vector<generation>> jobs_;
};

} // namespace atelier::runtime::http::detail
