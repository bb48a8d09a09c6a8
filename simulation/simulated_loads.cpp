// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/simulation/simulated_loads.hpp>

namespace atelier::runtime {

namespace {

/// Words of a request's stream that are used for nothing else.
constexpr uint64_t load_word = 96;

} // namespace

double load_part(uint64_t seed, uint64_t request) {
  core::philox random{seed, core::purpose::sampling, core::request_id{request}};
  random.seek(load_word);
  return random.uniform();
}

simulated_loads::simulated_loads(const scenario& of)
  : of_(of), by_variant_(of.profile->variants.size() + 1) {}

simulated_loads::asking& simulated_loads::of_variant(const core::request& x) {
  const auto traced = of_.trace[x.id.value - 1].variant;
  return traced < by_variant_.size() ? by_variant_[traced] : by_variant_.back();
}

void simulated_loads::arrived(const core::request& x) {
  auto& to = of_variant(x);
  to.last = uint64_t{of_.trace[x.id.value - 1].request} + 1;
  to.without_load.insert(to.last);
}

void simulated_loads::ended(const core::request& x) {
  of_variant(x).without_load.erase(uint64_t{of_.trace[x.id.value - 1].request}
                                   + 1);
}

double simulated_loads::part_of(core::variant_id loaded) {
  auto& named = by_variant_[loaded.value];
  auto& of = named.last > 0 ? named : by_variant_.back();
  auto reason = of.last;
  if (!of.without_load.empty()) {
    reason = *of.without_load.begin();
    of.without_load.erase(of.without_load.begin());
  }
  return load_part(of_.seed, reason);
}

} // namespace atelier::runtime
