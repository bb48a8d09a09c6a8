// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/reuse/scaled_table.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::planning {

namespace {

// The bit that separates the queues of workers from those of variants.
constexpr uint32_t worker_queue = 1u << 31;

// The strength if the client names none: that of diffusers' pipelines, or the
// full strength if that leaves no step.
float own_strength(bool whole_image, const core::recipe& how) {
  constexpr float of_image = 0.8f;
  const bool runs = core::steps_of_share(how.sampler, how.steps, of_image,
                                         how.strength_rule, how.lcm_steps)
                  > 0;
  return whole_image && runs ? of_image : 1;
}

} // namespace

bool policy::plan_due(const plan&, std::span<const retrieval_sample>) const {
  return false;
}

core::class_id policy::admission_class(const core::request& wanted,
                                       const facts& known, const profile&,
                                       const plan& in_force) const {
  return class_of(wanted, known, in_force);
}

plan_reasons policy::explain(const plan&) const {
  return {};
}

std::string_view policy::memory_name() const {
  return {};
}

policy_memory policy::kept(const policy_memory& all) const {
  return all;
}

std::string policy::save(const policy_memory&) const {
  return "{}";
}

core::result<policy_memory> policy::restore(const saved_memory& from) const {
  return core::fail(core::ec::bad_payload,
                    "{}: plan.memory: policy '{}' keeps none", from.file,
                    name());
}

bool policy::may_take(core::route_id, const policy_memory&) const {
  return false;
}

compared policy::compares(const profile&) const {
  return compared::nothing;
}

std::optional<assumed_thresholds> policy::assumes(const profile&) const {
  return std::nullopt;
}

std::string_view to_string(feasibility x) {
  switch (x) {
    case feasibility::unchecked:
      return "unchecked";
    case feasibility::yes:
      return "yes";
    case feasibility::no:
      return "no";
    case feasibility::never:
      return "never";
  }
  return "unknown";
}

core::class_id class_of(const core::request&, const facts& known,
                        const plan& in_force) {
  const size_t rows = in_force.share.size();
  if (rows == 0 || !known.tolerated || known.tolerated->empty())
    return core::class_id{0};
  const auto last = static_cast<uint32_t>(rows - 1);
  return core::class_id{std::min(known.tolerated->front(), last)};
}

core::queue_id queue_of(core::worker_id worker) {
  return core::queue_id{worker.value | worker_queue};
}

core::queue_id queue_of(core::variant_id variant) {
  return core::queue_id{variant.value & ~worker_queue};
}

std::optional<core::worker_id> worker_of(core::queue_id queue) {
  if ((queue.value & worker_queue) == 0)
    return std::nullopt;
  return core::worker_id{queue.value & ~worker_queue};
}

std::vector<core::queue_id> queues_of(const worker_view& worker) {
  std::vector<core::queue_id> served{queue_of(worker.worker)};
  for (const core::variant_id variant : worker.hosting)
    if (const auto queue = queue_of(variant);
        std::find(served.begin(), served.end(), queue) == served.end())
      served.push_back(queue);
  return served;
}

namespace {

/// Returns the strength at which a run of `steps` skips the first `skip` of
/// them: (steps - skip) / steps, or an adjacent float value that leaves exactly
/// that many steps.
float strength_after(const core::recipe& how, uint32_t skip) {
  const auto steps = how.steps;
  const auto share =
    static_cast<float>(steps - skip) / static_cast<float>(steps);
  for (const float x :
       {share, std::nextafter(share, 1.0f), std::nextafter(share, 0.0f)})
    if (core::steps_of_share(how.sampler, steps, x,
                             core::strength_rule::diffusers, how.lcm_steps)
        == steps - skip)
      return x;
  return share;
}

} // namespace

core::recipe refining(core::recipe how, const leg& runs) {
  if (runs.skip == 0 || how.steps <= 1)
    return how;
  const uint32_t of = runs.skip_of > 0 ? runs.skip_of : how.steps;
  how.from_image = true;
  how.strength_rule = core::strength_rule::diffusers;
  how.strength = strength_after(how, scaled_skip(runs.skip, of, how.steps));
  return how;
}

core::recipe recipe_of(const core::request& wanted, const leg& runs,
                       core::variant_id variant, const profile& known) {
  ATELIER_EXPECTS(variant.value < known.variants.size(),
                  "the profile knows the variant");
  const variant_profile& v = known.variants[variant.value];
  core::recipe how;
  how.variant = variant;
  how.sampler = v.sampler;
  how.steps = v.steps;
  how.guidance = v.guidance;
  how.lcm_steps = v.lcm_steps;
  how.samples_source = v.samples_source;
  take_asked(wanted.fixed, wanted, how);
  if (runs.steps != 0)
    how.steps = runs.steps;
  // A model's preference for Karras' spacing applies only to some samplers, and
  // not where the client names another.
  how.karras = wanted.fixed.karras.value_or(
    v.karras && core::obeys_karras(how.sampler)
    && wanted.spacing == core::step_spacing::model);
  how.strength = 1;
  how.from_image = wanted.source != nullptr;
  if (how.from_image)
    how.strength = wanted.fixed.strength.value_or(
      own_strength(wanted.source->mask.empty(), how));
  else if (runs.from == origin::stage_image)
    how = refining(std::move(how), runs);
  how.px = drawn_px(v, wanted);
  if (wanted.px.pixels() != 0 && wanted.px != how.px)
    how.scaled_to = wanted.px;
  how.seed = wanted.seed;
  return how;
}

} // namespace atelier::planning
