// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/walk.hpp>

namespace atelier::planning {

void facts::learn(facts found) {
  if (found.tolerated)
    tolerated = std::move(found.tolerated);
  if (found.hit_likely)
    hit_likely = found.hit_likely;
  if (found.near)
    near = std::move(found.near);
  if (found.mask)
    mask = found.mask;
  if (found.file)
    file = std::move(found.file);
  own.learn(std::move(found.own));
}

namespace {

bool may_answer_best(const facts& known) {
  return known.best && *known.best < known.done.size();
}

// Returns whether the gate accepts the image of `ended` as the answer. A gate
// whose threshold the plan lacks accepts every image.
bool passes(const leg& along, const outcome& ended, const plan& in_force) {
  if (!along.check)
    return false;
  const size_t at = along.check->threshold;
  return at >= in_force.thresholds.size()
      || ended.score >= in_force.thresholds[at];
}

// Decides the request when no leg is left to run.
action conclude(const route& along, const facts& known) {
  if (known.done.empty())
    return give_up{};
  const auto last = static_cast<uint32_t>(known.done.size() - 1);
  const outcome& ended = known.done[last];
  const bool failed = ended.failure != core::ec::none;
  const bool gated =
    ended.leg < along.legs.size() && along.legs[ended.leg].check.has_value();
  if (!failed && !gated)
    return answer_with{last};
  if (may_answer_best(known))
    return answer_with{*known.best};
  if (!failed)
    return answer_with{last};
  return give_up{ended.failure};
}

} // namespace

action walk(const route& along, const facts& known, const plan& in_force) {
  const auto legs = static_cast<uint32_t>(along.legs.size());
  if (legs == 0)
    return conclude(along, known);
  if (known.done.empty())
    return run_leg{0};
  const outcome& ended = known.done.back();
  if (ended.leg >= legs)
    return conclude(along, known);
  uint32_t next = ended.leg + 1;
  if (ended.failure == core::ec::none) {
    if (passes(along.legs[ended.leg], ended, in_force))
      return answer_with{static_cast<uint32_t>(known.done.size() - 1)};
  } else {
    while (next < legs && along.legs[next].from == origin::stage_image)
      ++next;
  }
  if (next < legs)
    return run_leg{next};
  return conclude(along, known);
}

action walk_late(const route& along, const facts& known) {
  if (along.late == late_rule::answer_best && may_answer_best(known))
    return answer_with{*known.best};
  return give_up{core::ec::deadline_missed};
}

} // namespace atelier::planning
