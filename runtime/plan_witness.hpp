// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policy.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace atelier::runtime {

/// Remembers the last plans that a policy made, for who wants to see the one in
/// force.
/// Threads: any.
class plan_witness {
public:
  /// Returns the same policy, whose plans `by` sees.
  static std::shared_ptr<const planning::policy> watch(
    std::shared_ptr<const planning::policy> what,
    std::shared_ptr<plan_witness> by);

  void note(const planning::plan& x);

  /// None where it was not seen, or too many came since.
  std::optional<planning::plan> find(uint64_t version) const;

private:
  mutable std::mutex mutex_;
  /// By version; without what policies remember.
  std::map<uint64_t, planning::plan> seen_;
};

} // namespace atelier::runtime
