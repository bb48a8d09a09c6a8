// SPDX-License-Identifier: Apache-2.0
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

} // namespace

core::result<std::shared_ptr<const policy>> make_policy(std::string_view name) {
  const std::shared_ptr<const policy> all[] = {std::make_shared<vanilla>()};
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
