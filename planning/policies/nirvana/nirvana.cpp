// SPDX-License-Identifier: Apache-2.0
// needs:  a likely hit, while asking gains; the matches
// routes: vanilla's, then from noise, from each skip, the found image
// queues: one for each variant
// take:   as vanilla
// memory: whether to ask for a likely hit first
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/nirvana/cost_model.hpp>
#include <atelier/planning/policies/nirvana/nirvana.hpp>
#include <atelier/planning/policies/nirvana/nirvana_memory.hpp>
#include <atelier/planning/policies/nirvana/step_choice.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace atelier::planning {

namespace {

using reuse = nirvana_rules::reuse_rule;

// The precision and recall of the paper's predictor, which the policy assumes
// until enough predictions were checked.
// Source: Nirvana, section 7.2.
constexpr double published_precision = 0.96;
constexpr double published_recall = 0.95;

// Above every similarity.
constexpr double never_similar = 2;

// Returns the route from noise; it is followed by one for each skip of the
// table, then by that of the found image.
uint32_t scratch_route(const profile& costs) {
  return static_cast<uint32_t>(costs.variants.size());
}

// A measurement may have found that no skip keeps the quality.
bool has_own_table(const reuse_profile& x) {
  return !x.latents.empty() || x.measured;
}

skip_table table_of(const profile& costs) {
  const reuse_profile& r = *costs.reuse;
  const uint32_t steps = costs.variants[r.full.value].steps;
  return has_own_table(r)
         ? scaled_to(r.latents, r.steps, steps)
         : scaled_to(nirvana::published_table(), table_steps, steps);
}

bool has_measured_answers(const nirvana_rules& rules, const reuse_profile& x) {
  return rules.by == compared::images && x.measured && x.measured->answers;
}

// A similarity that was not measured is a profile's own, of prompts.
bool has_own_answers(const nirvana_rules& rules, const reuse_profile& x) {
  return rules.by == compared::prompts && x.answers_from
      && !(x.measured && x.measured->answers);
}

// Returns the similarity from which on an image is the answer; none: never. A
// measurement may have found none.
std::optional<double> image_from(const nirvana_rules& rules,
                                 const reuse_profile& x) {
  return has_measured_answers(rules, x) || has_own_answers(rules, x)
         ? x.answers_from
         : std::optional{rules.image_from};
}

// Says from which similarity on images answer, and why.
std::string told_images(const nirvana_rules& rules, const reuse_profile& x) {
  const auto from = image_from(rules, x);
  const auto what = from ? fmt::format("from similarity {:.3f} on", *from)
                         : std::string{"at no similarity"};
  return has_measured_answers(rules, x)
         ? fmt::format("images answer {}: measured by {}, {} images compared "
                       "by {}",
                       what, x.measured->scorer, x.measured->answers->images,
                       x.measured->encoder)
         : fmt::format("images answer {}: {}", what,
                       has_own_answers(rules, x)
                         ? "the profile's threshold"
                         : "the policy's own threshold");
}

// Says where the thresholds come from.
std::string origin_of_table(const reuse_profile& x) {
  if (x.measured)
    return fmt::format("measured by {}, {} prompts compared by {}",
                       x.measured->scorer, x.measured->resumed,
                       x.measured->encoder);
  return has_own_table(x) ? "of the profile" : "as published";
}

// Returns the rates of the predictor without the costs: measured, or published.
nirvana::predictor_record rates_in(const prediction_tally& counted) {
  nirvana::predictor_record out;
  if (counted.checked >= enough_predictions && counted.has_rates()) {
    out.precision = counted.precision();
    out.recall = counted.recall();
    out.hits = counted.hits();
  } else {
    out.precision = published_precision;
    out.recall = published_recall;
  }
  return out;
}

// What decides whether to ask the predictor.
struct predictor_case {
  nirvana::predictor_record record;
  uint64_t checked = 0;
  bool is_measured = false;
  // Whether enough is known to compare searches with lost hits.
  bool is_known = false;
};

predictor_case case_in(const demand& asked, const profile& known) {
  predictor_case out;
  uint64_t searched = 0;
  uint64_t hits = 0;
  double saved = 0;
  prediction_tally counted;
  const variant_profile& v = known.variants[known.reuse->full.value];
  for (const demand_window& w : asked.windows) {
    searched += w.searched;
    hits += w.hits;
    counted += w.predictions;
    for (const auto& [skip, n] : w.skips)
      saved +=
        static_cast<double>(n)
        * (argus::request_seconds(v, {}) - argus::request_seconds(v, {}, skip));
  }
  out.record = rates_in(counted);
  out.checked = counted.checked;
  // Only measured rates come with the share of all requests that hit. The share
  // of the searches that a predictor let through is larger.
  out.is_measured = out.record.hits > 0;
  out.is_known = searched > 0 && hits > 0;
  if (!out.is_known)
    return out;
  if (!out.is_measured)
    out.record.hits = static_cast<double>(hits) / static_cast<double>(searched);
  out.record.search_seconds = core::to_seconds(known.reuse->retrieval);
  out.record.hit_saves = saved / static_cast<double>(hits);
  return out;
}

// Says which rates of the predictor decided.
std::string told(const predictor_case& of, bool always) {
  auto out = fmt::format("precision {:.3f} and recall {:.3f} ",
                         of.record.precision, of.record.recall);
  out += of.is_measured ? fmt::format("measured by {} searches", of.checked)
                        : fmt::format("as published; {} of {} searches that "
                                      "check it are counted",
                                      of.checked, enough_predictions);
  if (always)
    return "asked always, " + out;
  if (!of.is_known)
    return "not asked, as no search has hit yet, " + out;
  const double gain = nirvana::predictor_gain(of.record);
  return fmt::format("{} {:.1f} ms a request, {}",
                     gain > 0 ? "asked, as it gains"
                              : "not asked, as it would lose",
                     std::abs(gain) * 1000, out);
}

} // namespace

plan nirvana_policy::replan(const demand& asked, const profile& by_kind,
                            const cluster_view& there,
                            const plan& previous) const {
  // The paper's devices are all alike.
  const profile known = mean_over(by_kind, groups_in(there));
  plan next = vanilla::replan(asked, known, there, previous);
  if (!known.reuse)
    return next;
  const bool small = rules_.small && !known.reuse->small.empty();
  core::variant_id runs =
    small ? known.reuse->small.front() : known.reuse->full;
  const hosting_target all{
    {runs}, static_cast<uint32_t>(there.workers.size()), {}};
  detail::host(next, there, {&all, 1}, known);

  if (detail::hosting_now(there, runs) == 0)
    runs = known.reuse->full;

  const auto table = table_of(known);
  route scratch;
  scratch.name = "scratch";
  leg whole = detail::leg_on(runs);
  const bool resumes =
    rules_.reuse == reuse::nearest || rules_.reuse == reuse::furthest;
  if (resumes) {
    for (const skip_threshold& t : table)
      whole.capture.push_back(t.skip);
    scratch.store.latents = !whole.capture.empty();
  }
  scratch.store.image = rules_.reuse == reuse::image;
  scratch.legs.push_back(std::move(whole));
  const uint32_t first = detail::add_route(next, std::move(scratch));
  for (const skip_threshold& t : table) {
    route r;
    r.name = fmt::format("latent, K={}", t.skip);
    leg s = detail::leg_on(runs);
    s.from = origin::latent;
    s.skip = t.skip;
    r.legs.push_back(std::move(s));
    detail::add_route(next, std::move(r));
  }
  route found;
  found.name = "picture";
  found.from = origin::image;
  detail::add_route(next, std::move(found));
  next.share.assign(1, std::vector<double>(next.routes.size(), 0.0));
  next.share[0][first] = 1;
  nirvana_memory memory;
  if (rules_.predicts != predicted_from::nothing) {
    const auto by = case_in(asked, known);
    memory.asks_predictor = rules_.predictor_always
                         || (by.is_known && nirvana::predictor_pays(by.record));
    memory.predictor_of = told(by, rules_.predictor_always);
  }
  if (rules_.reuse == reuse::image)
    memory.images_of = told_images(rules_, *known.reuse);
  if (resumes) {
    memory.thresholds = table;
    memory.thresholds_of = origin_of_table(*known.reuse);
  }
  next.memory = memory;
  return next;
}

choice nirvana_policy::choose(const decision_context& by) const {
  const auto* memory = by.in_force.memory.as<nirvana_memory>();
  if (memory == nullptr || !by.costs.reuse || !detail::leaves_choice(by.wanted))
    return vanilla::choose(by);
  const uint32_t scratch = scratch_route(by.costs);
  if (scratch >= by.in_force.routes.size())
    return vanilla::choose(by);
  const go from_scratch{core::route_id{scratch}, {}};
  if (rules_.reuse == reuse::none || !detail::may_reuse(by.wanted))
    return from_scratch;
  const auto table = table_of(by.costs);
  if (rules_.reuse != reuse::image && table.empty())
    return from_scratch;
  by.random.seek(0);
  if (nirvana::starts_fresh(by.random, rules_.fresh))
    return from_scratch;
  need n;
  n.by = rules_.by;
  n.predicts = rules_.predicts;
  if (rules_.reuse == reuse::image) {
    n.holds.holds = needed_work::part::image;
    // The answer counts as an image that the whole run drew.
    n.holds.most_depth = 0;
    n.hit_from = image_from(rules_, *by.costs.reuse).value_or(never_similar);
  } else {
    n.holds.holds = needed_work::part::state;
    n.holds.least_steps = table.front().skip;
    n.hit_from = table.front().similarity;
  }
  if (memory->asks_predictor) {
    n.hit_likely = !by.known.hit_likely;
    if (n.hit_likely)
      return n;
    if (!*by.known.hit_likely)
      return from_scratch;
  }
  n.near = !by.known.near;
  if (n.near)
    return n;
  if (rules_.reuse == reuse::image) {
    const auto image = static_cast<uint32_t>(by.in_force.routes.size() - 1);
    const auto from = image_from(rules_, *by.costs.reuse);
    const auto drawn = std::ranges::find(*by.known.near, 0u, &match::depth);
    if (from && drawn != by.known.near->end() && drawn->similarity >= *from)
      return go{core::route_id{image},
                static_cast<uint32_t>(drawn - by.known.near->begin())};
    return from_scratch;
  }
  const auto at = rules_.reuse == reuse::furthest
                  ? nirvana::resume_furthest(*by.known.near, table)
                  : nirvana::resume_nearest(*by.known.near, table);
  if (!at)
    return from_scratch;
  for (uint32_t i = 0; i < table.size(); ++i)
    if (table[i].skip == at->used
        && scratch + 1 + i < by.in_force.routes.size())
      return go{core::route_id{scratch + 1 + i},
                static_cast<uint32_t>(at->match)};
  return from_scratch;
}

compared nirvana_policy::compares(const profile& known) const {
  return known.reuse && rules_.reuse != reuse::none ? rules_.by
                                                    : compared::nothing;
}

std::optional<assumed_thresholds> nirvana_policy::assumes(
  const profile& known) const {
  if (compares(known) != compared::prompts)
    return std::nullopt;
  if (rules_.reuse != reuse::image) {
    if (has_own_table(*known.reuse))
      return std::nullopt;
    const auto table = nirvana::published_table();
    return assumed_thresholds{
      fmt::format("skips steps from similarity {:.2f} on, as published",
                  table.front().similarity),
      "measure reuse.latents with 'atelier profile --cache'"};
  }
  if (has_own_answers(rules_, *known.reuse))
    return std::nullopt;
  return assumed_thresholds{
    fmt::format("answers with the image found from similarity {:.2f} on",
                rules_.image_from),
    "say reuse.answers_from there (1: only for the same words)"};
}

std::vector<nirvana_rules> all_nirvana_rules() {
  nirvana_rules ours;
  nirvana_rules paper;
  paper.name = "nirvana-paper";
  paper.reuse = reuse::nearest;
  paper.predicts = predicted_from::entries;
  paper.predictor_always = true;
  nirvana_rules unpredicted = paper;
  unpredicted.name = "nirvana-no-predictor";
  unpredicted.predicts = predicted_from::nothing;
  unpredicted.predictor_always = false;
  // Baselines that return whole images. The paper does not state their
  // thresholds; 0.8 is GPTCache's default, 0.85 is ours for CLIP's texts.
  nirvana_rules gptcache;
  gptcache.name = "gptcache";
  gptcache.reuse = reuse::image;
  gptcache.image_from = 0.8;
  gptcache.predicts = predicted_from::nothing;
  gptcache.fresh = 0;
  nirvana_rules pinecone = gptcache;
  pinecone.name = "pinecone";
  pinecone.image_from = 0.85;
  // This baseline compares prompts with images; without a measurement it starts
  // at MoDM's first threshold, which is for CLIP's vectors.
  nirvana_rules crs = gptcache;
  crs.name = "crs";
  crs.image_from = 0.25;
  crs.by = compared::images;
  nirvana_rules small = gptcache;
  small.name = "small-model";
  small.reuse = reuse::none;
  small.small = true;
  return {ours, paper, unpredicted, gptcache, pinecone, crs, small};
}

} // namespace atelier::planning
