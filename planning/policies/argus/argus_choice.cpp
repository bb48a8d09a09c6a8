// SPDX-License-Identifier: Apache-2.0

// The choices of argus, by the plans of argus.cpp.

#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/argus.hpp>
#include <atelier/planning/policies/argus/argus_memory.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/reuse/scaled_table.hpp>

#include <algorithm>
#include <optional>

namespace atelier::planning {

namespace {

using detail::hosts;

constexpr double above_every_similarity = 2;

// Returns the similarities from which on steps may be skipped; none: the
// profile says nothing of them, and any state will do.
std::optional<skip_table> thresholds_in(const profile& known) {
  const auto& reuse = known.reuse;
  // A measurement may have found that no skip keeps the quality.
  if (!reuse || (reuse->latents.empty() && !reuse->measured))
    return std::nullopt;
  return scaled_to(reuse->latents, reuse->steps,
                   known.variants[reuse->full.value].steps);
}

} // namespace

choice argus_policy::choose(const decision_context& by) const {
  const auto* memory = by.in_force.memory.as<argus_memory>();
  if (memory == nullptr || memory->levels == 0 || by.in_force.share.empty()
      || !detail::leaves_choice(by.wanted))
    return vanilla::choose(by);
  const bool latents = argus::may_use_cache(memory->change.phase);
  if (!by.known.tolerated) {
    need n;
    n.tolerated = true;
    return n;
  }
  size_t c = 0;
  const size_t ladder =
    detail::ladder_index(by.costs, latents ? ladder_kind::cached_latents
                                           : ladder_kind::smaller_models);
  // Without a prediction, nothing is approximated.
  if (ladder < by.known.tolerated->size())
    c = std::min<size_t>((*by.known.tolerated)[ladder],
                         by.in_force.share.size() - 1);
  // The draw is the same however often the policy is asked.
  by.random.seek(0);
  const uint32_t at = argus::draw_level(by.in_force.share[c], by.random);
  if (at >= by.in_force.routes.size() || by.in_force.routes[at].legs.empty())
    return vanilla::choose(by);
  const leg& first = by.in_force.routes[at].legs.front();
  if (first.from != origin::latent)
    return go{core::route_id{at}, {}};
  if (!detail::may_reuse(by.wanted))
    return go{core::route_id{memory->first_route}, {}};
  const auto thresholds = thresholds_in(by.costs);
  if (!by.known.near) {
    need n;
    n.near = true;
    n.holds.holds = needed_work::part::state;
    if (!thresholds)
      n.hit_from = 0;
    else if (!thresholds->empty())
      n.hit_from = thresholds->front().similarity;
    else
      n.hit_from = above_every_similarity;
    return n;
  }
  for (uint32_t i = 0; i < by.known.near->size(); ++i) {
    const match& found = (*by.known.near)[i];
    const uint32_t allowed =
      thresholds
        ? allowed_skip(*thresholds, found.similarity, threshold_rule::above)
        : first.skip;
    // The level, or else the nearest one that skips no more than allowed.
    std::optional<uint32_t> best;
    uint32_t most = 0;
    const auto end = std::min<size_t>(
      size_t{memory->first_route} + memory->levels, by.in_force.routes.size());
    for (uint32_t route = memory->first_route; route < end; ++route) {
      if (by.in_force.routes[route].legs.empty())
        continue;
      const leg& level = by.in_force.routes[route].legs.front();
      if (level.from == origin::latent && level.skip > most
          && level.skip <= std::min(first.skip, allowed)) {
        most = level.skip;
        best = route;
      }
    }
    for (const uint32_t k : found.stored)
      if (best && k > 0 && k <= most)
        return go{core::route_id{*best}, i};
  }
  return go{core::route_id{memory->first_route}, {}};
}

compared argus_policy::compares(const profile& known) const {
  const bool skips =
    thresholds_in(known)
    && detail::ladder_of(known, ladder_kind::cached_latents) != nullptr;
  return skips ? compared::prompts : compared::nothing;
}

size_t argus_policy::pick(std::span<const argus::candidate> candidates,
                          uint32_t level, core::philox&) const {
  return *argus::choose_worker(candidates, level, rules_.wait);
}

core::queue_id argus_policy::place(const leg& next,
                                   const decision_context& by) const {
  if (!rules_.worker_queues)
    return vanilla::place(next, by);
  const core::variant_id variant = next.any_of.front();
  std::vector<argus::candidate> candidates;
  std::vector<core::worker_id> ids;
  for (const worker_view& w : by.there.workers) {
    if (!hosts(w, variant))
      continue;
    argus::candidate c;
    c.level = next.level_of_worker ? w.level : next.skip;
    c.requests = w.waiting + w.seats_taken;
    const auto v = on_kind(by.costs, variant, w.device_kind);
    c.seconds = argus::request_seconds(v, drawn_px(v, by.wanted), c.level);
    candidates.push_back(c);
    ids.push_back(w.worker);
  }
  if (candidates.empty())
    return queue_of(variant);
  return queue_of(ids[pick(candidates, next.skip, by.random)]);
}

} // namespace atelier::planning
