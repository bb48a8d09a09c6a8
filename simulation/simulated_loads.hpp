// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/simulation/scenario.hpp>

#include <set>
#include <vector>

namespace atelier::runtime {

/// Returns the position, 0..1, in the distribution of load times of the load
/// that a request causes. It depends only on request and seed, so that it is
/// the same whatever decides what is loaded.
double load_part(uint64_t seed, uint64_t request);

/// Finds the request that causes each load: the variant's oldest open request
/// without a load, or otherwise its latest request.
class simulated_loads {
public:
  /// @pre `of` outlives this
  explicit simulated_loads(const scenario& of);

  void arrived(const core::request& x);
  void ended(const core::request& x);

  double part_of(core::variant_id loaded);

private:
  /// Requests of one variant, or those that name none.
  struct asking {
    std::set<uint64_t> without_load;
    uint64_t last = 0;
  };

  asking& of_variant(const core::request& x);

  const scenario& of_;
  std::vector<asking> by_variant_;
};

} // namespace atelier::runtime
