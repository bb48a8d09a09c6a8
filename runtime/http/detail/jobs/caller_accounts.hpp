// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/jobs.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::runtime::http::detail {

/// What one job has taken of its caller's allowance.
struct job_charge {
  uint64_t images = 0;
  uint64_t steps = 0;
};

/// Takes what a job needs from its caller's allowance, and gives it back once
/// if the job is not accepted.
/// Threads: any.
class caller_accounts {
public:
  explicit caller_accounts(job_allowance of) : of_(std::move(of)) {}

  /// Returns the charge of a call; an empty one if nothing is limited.
  /// Errors: the reason why the caller's allowance does not allow it.
  std::variant<job_charge, failure> take(const std::string& owner,
                                         uint64_t images, uint64_t steps) const;

  /// Gives a charge back, and empties it.
  void give_back(const std::string& owner, job_charge& from) const;

  /// Returns the number of steps that count for a call; 0 without a limit.
  uint64_t steps_of(const std::vector<generation>& images,
                    const image_service& from) const;

  /// Enters the caller and its share of devices into requests.
  void sign(std::vector<generation>& images, const std::string& owner) const;

private:
  const job_allowance of_;
};

} // namespace atelier::runtime::http::detail
