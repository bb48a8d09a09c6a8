// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/route_slots.hpp>

#include <algorithm>

namespace atelier::planning {

namespace {

// Returns whether a request can wait for a stage at this position. Nothing asks
// for the slots of other positions, and no stage is asked about a leg that it
// never sees.
bool is_due(const stage_row& row, const route& along, size_t leg) {
  const bool ended = leg == along.legs.size();
  switch (row.hook) {
    case hook::each_leg:
      return !ended || (along.legs.empty() && row.place != place::batch);
    case hook::before_answer:
    case hook::after_answer:
      return ended;
    case hook::before_route:
      break;
  }
  return false;
}

bool needs_files(const stage_row& row, const leg* in, bool brings_image) {
  return brings_image
      && std::any_of(row.slots.begin(), row.slots.end(), [&](const auto& x) {
           return x.name == held::files && x.applies(in, true);
         });
}

} // namespace

route_slots::route_slots(const pipeline& stages, std::span<const route> routes)
  : stages_(stages.size()) {
  routes_.reserve(routes.size());
  for (const auto& along : routes) {
    auto& entry = routes_.emplace_back();
    for (const bool brings_image : {false, true}) {
      entry.least[brings_image] = stages.least(along, brings_image);
      auto& at = entry.at[brings_image];
      at.resize((along.legs.size() + 1) * stages_);
      for (size_t leg = 0; leg <= along.legs.size(); ++leg)
        for (size_t i = 0; i < stages_; ++i) {
          const auto& row = stages.at(i).row();
          if (!is_due(row, along, leg))
            continue;
          const auto* const in =
            leg < along.legs.size() ? &along.legs[leg] : nullptr;
          at[leg * stages_ + i] = {
            stages.granted(along, {leg, i}, brings_image),
            stages.reserve(along, {leg, i}, brings_image),
            needs_files(row, in, brings_image)};
        }
    }
  }
}

const stage_slots& route_slots::at(core::route_id along, pipeline::position at,
                                   bool brings_image) const {
  return routes_[along.value].at[brings_image][at.leg * stages_ + at.stage];
}

const slot_counts& route_slots::least(core::route_id along,
                                      bool brings_image) const {
  return routes_[along.value].least[brings_image];
}

} // namespace atelier::planning
