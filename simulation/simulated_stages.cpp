// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/schedule_search.hpp>
#include <atelier/simulation/fact_stages.hpp>
#include <atelier/simulation/simulated_stages.hpp>

namespace atelier::runtime {

uint32_t batch_of(const scenario& x) {
  return x.max_batch > 0 ? x.max_batch : planning::largest_batch(*x.profile);
}

planning::slot_counts slots_of(const scenario& x) {
  const auto seats = x.workers * batch_of(x);
  return {6 * seats + 4 * pool_seats, 6 * seats + 4 * pool_seats, 0};
}

core::result<std::shared_ptr<const planning::pipeline>> stages_of(
  const scenario& x, const std::shared_ptr<simulated_knowledge>& known) {
  auto made = actors::standard_pipeline(fact_stages(known), x.stages);
  if (!made || x.stages.empty())
    return made;
  for (size_t i = 0; i < (*made)->size(); ++i)
    if (const auto& row = (*made)->at(i).row();
        row.place == planning::place::device)
      return core::fail(core::ec::invalid_argument,
                        "stage '{}': simulated devices run no stages of hosts",
                        row.name);
  if (auto sound = planning::check(**made, slots_of(x)); !sound)
    return sound.why();
  return made;
}

} // namespace atelier::runtime
