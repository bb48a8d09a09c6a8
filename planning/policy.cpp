// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/argus.hpp>
#include <atelier/planning/policies/atelier.hpp>
#include <atelier/planning/policies/diffserve.hpp>
#include <atelier/planning/policies/instgenie.hpp>
#include <atelier/planning/policies/modm.hpp>
#include <atelier/planning/policies/nirvana.hpp>
#include <atelier/planning/policies/vanilla.hpp>
#include <atelier/planning/policy.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::planning {

namespace {

// Splits the lanes between workers and variants.
constexpr uint32_t worker_lane = 1u << 31;

// The strength where the client names none: that of diffusers' pipelines, but
// the whole where it leaves no step.
float own_strength(bool whole_picture, const core::recipe& how) {
  constexpr float of_image = 0.8f;
  const bool runs = core::steps_of_share(how.with, how.steps, of_image) > 0;
  return whole_picture && runs ? of_image : 1;
}

template <class Policy, class Rules>
void add_all(std::vector<std::shared_ptr<const policy>>& to,
             std::vector<Rules> rules) {
  for (Rules& r : rules)
    to.push_back(std::make_shared<Policy>(std::move(r)));
}

} // namespace

std::vector<std::shared_ptr<const policy>> all_policies() {
  std::vector<std::shared_ptr<const policy>> all{
    std::make_shared<vanilla>(), std::make_shared<atelier_policy>()};
  add_all<argus_policy>(all, all_argus_rules());
  add_all<diffserve_policy>(all, all_diffserve_rules());
  add_all<nirvana_policy>(all, all_nirvana_rules());
  add_all<modm_policy>(all, all_modm_rules());
  add_all<instgenie_policy>(all, all_instgenie_rules());
  return all;
}

core::result<std::shared_ptr<const policy>> make_policy(std::string_view name) {
  const auto all = all_policies();
  std::vector<std::string_view> names;
  for (const auto& one : all) {
    if (one->name() == name)
      return one;
    names.push_back(one->name());
  }
  return core::fail(core::ec::not_found,
                    "policy: there is no '{}'; there are {}", name,
                    fmt::join(names, ", "));
}

core::lane_id policy::place_knowing(const core::request& wanted,
                                    const stage& next, const facts&,
                                    const profile&, const plan& in_force,
                                    const cluster_view& there,
                                    core::philox& random) const {
  return place(wanted, next, in_force, there, random);
}

core::class_id class_of(const core::request&, const facts& known,
                        const plan& in_force) {
  const size_t rows = in_force.share.size();
  if (rows == 0 || !known.tolerated || known.tolerated->empty())
    return core::class_id{0};
  const auto last = static_cast<uint32_t>(rows - 1);
  return core::class_id{std::min(known.tolerated->front(), last)};
}

core::lane_id lane_of(core::worker_id worker) {
  return core::lane_id{worker.value | worker_lane};
}

core::lane_id lane_of(core::variant_id variant) {
  return core::lane_id{variant.value & ~worker_lane};
}

std::optional<core::worker_id> worker_of(core::lane_id lane) {
  if ((lane.value & worker_lane) == 0)
    return std::nullopt;
  return core::worker_id{lane.value & ~worker_lane};
}

std::vector<core::lane_id> lanes_of(const worker_view& worker) {
  std::vector<core::lane_id> served{lane_of(worker.worker)};
  for (const core::variant_id variant : worker.hosting)
    if (const auto lane = lane_of(variant);
        std::find(served.begin(), served.end(), lane) == served.end())
      served.push_back(lane);
  return served;
}

core::recipe recipe_of(const core::request& wanted, const stage& runs,
                       core::variant_id variant, const profile& known) {
  ATELIER_EXPECTS(variant.value < known.variants.size(),
                  "the profile knows the variant");
  const variant_profile& v = known.variants[variant.value];
  core::recipe how;
  how.variant = variant;
  how.with = wanted.fixed.with.value_or(v.with);
  how.steps =
    runs.steps != 0 ? runs.steps : wanted.fixed.steps.value_or(v.steps);
  how.guidance = wanted.fixed.guidance.value_or(v.guidance);
  how.guidance_rescale = wanted.fixed.guidance_rescale.value_or(0);
  how.eta = wanted.fixed.eta.value_or(0);
  // A model's wish for Karras' spacing is for the samplers that can have it.
  how.karras =
    wanted.fixed.karras.value_or(v.karras && core::has_karras_sigmas(how.with));
  how.from_image = wanted.source != nullptr;
  if (how.from_image)
    how.strength = wanted.fixed.strength.value_or(
      own_strength(wanted.source->mask.empty(), how));
  how.px = picture_of(v, wanted.px);
  how.seed = wanted.seed;
  how.noise = wanted.noise;
  how.deterministic = wanted.deterministic;
  return how;
}

} // namespace atelier::planning
