// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/simulation/scenario.hpp>

#include <set>
#include <vector>

namespace atelier::runtime {

/// Returns where in the distribution of load times, 0..1, the loading lies that
/// a request is the reason of: by request and seed alone, so that it is the
/// same whoever decides what is loaded.
double load_part(uint64_t seed, uint64_t request);

/// Tells which request each loading is the reason of: the oldest open one of
/// the variant that no loading was for, else the one that came last.
class simulated_loads {
public:
  /// @pre `of` outlives this
  explicit simulated_loads(const scenario& of);

  void arrived(const core::request& x);
  void ended(const core::request& x);

  double part_of(core::variant_id loaded);

private:
  /// Of one variant, or of those whose requests name none.
  struct asking {
    std::set<uint64_t> without_load;
    uint64_t last = 0;
  };

  asking& of_variant(const core::request& x);

  const scenario& of_;
  std::vector<asking> by_variant_;
};

} // namespace atelier::runtime
