// SPDX-License-Identifier: Apache-2.0
// This file decides which requests may start from cached work, and how many
// steps they skip.
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/modm/refinement.hpp>
#include <atelier/planning/policies/nirvana/step_choice.hpp>

#include <algorithm>
#include <set>

namespace atelier::planning::unified {

namespace {

// Below every cosine.
constexpr double at_any_similarity = -2;

} // namespace

reuse_kind reuse_of(const profile& known) {
  const auto* ladder = detail::ladder_of(known, ladder_kind::cached_latents);
  const bool levels = ladder != nullptr && ladder->levels.size() > 1;
  if (levels || (known.reuse && !known.reuse->latents.empty()))
    return reuse_kind::latents;
  if (!known.reuse)
    return reuse_kind::none;
  // A measurement found that no skip keeps the quality.
  if (known.reuse->measured && known.reuse->images.empty())
    return reuse_kind::none;
  return reuse_kind::images;
}

skip_table reuse_table(const profile& known) {
  const auto kind = reuse_of(known);
  if (kind == reuse_kind::images)
    return modm::table_in(*known.reuse);
  if (kind == reuse_kind::none)
    return {};
  if (known.reuse && !known.reuse->latents.empty())
    return scaled_to(known.reuse->latents, known.reuse->steps,
                     known.variants[known.reuse->full.value].steps);
  std::set<uint32_t> skips;
  for (const level_profile& l :
       detail::ladder_of(known, ladder_kind::cached_latents)->levels)
    if (l.skip > 0)
      skips.insert(l.skip);
  skip_table out;
  for (const uint32_t k : skips)
    out.push_back({k, at_any_similarity});
  return out;
}

double reused_from(const profile& known) {
  const auto table = reuse_table(known);
  return table.empty() ? 0 : std::max(0.0, table.front().similarity);
}

compared compared_by(const profile& known) {
  if (reuse_of(known) == reuse_kind::images)
    return images_compared(*known.reuse);
  const auto table = reuse_table(known);
  return std::any_of(table.begin(), table.end(),
                     [](const skip_threshold& t) {
                       return t.similarity > at_any_similarity;
                     })
         ? compared::prompts
         : compared::nothing;
}

uint32_t allowed_by(const profile& known, const std::vector<match>& near) {
  const auto kind = reuse_of(known);
  const auto table = reuse_table(known);
  uint32_t most = 0;
  for (size_t i = 0; i < std::min(near.size(), nirvana::neighbours); ++i) {
    const uint32_t wished =
      allowed_skip(table, near[i].similarity,
                   kind == reuse_kind::images ? threshold_rule::from
                                              : threshold_rule::above);
    if (kind == reuse_kind::images)
      most = std::max(most, wished);
    else
      for (const uint32_t k : near[i].stored)
        if (k <= wished)
          most = std::max(most, k);
  }
  return most;
}

} // namespace atelier::planning::unified
