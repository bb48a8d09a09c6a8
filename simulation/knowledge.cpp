// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/demand/workload.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/planning/policies/nirvana/step_choice.hpp>
#include <atelier/planning/random_judge.hpp>
#include <atelier/simulation/accounts.hpp>
#include <atelier/simulation/knowledge.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace atelier::runtime {

namespace {

constexpr core::timespan usual_retrieval = std::chrono::milliseconds{50};

/// Number of entries that a search returns.
constexpr size_t nearest = 1;

/// Number of entries for a cache with contents.
/// Source: specification of Nirvana, A7: the policy `nirvana` looks at eight.
constexpr size_t nearest_kept = 8;

enum class draw : uint32_t {
  found = 0,
  similarity = 8,
  predicted = 24,
  label = 32,
  edit = 64,
  recorded = 66,
  mask = 68
};

core::philox stream(const scenario& of, core::request_id id, draw from) {
  core::philox random{of.seed, core::purpose::sampling, id};
  random.seek(static_cast<uint32_t>(from));
  return random;
}

} // namespace

std::optional<planning::mask_facts> edit_of(const scenario& of,
                                            core::request_id id) {
  const auto& edits = of.edits;
  if (stream(of, id, draw::edit).uniform() >= edits.share)
    return std::nullopt;
  auto random = stream(of, id, draw::mask);
  planning::mask_facts out;
  out.ratio = edits.masks.empty()
              ? planning::beta_share(random, edits.mean, edits.spread)
              : edits.masks[random.below(edits.masks.size())];
  out.recorded = stream(of, id, draw::recorded).uniform() < edits.recorded;
  return out;
}

std::optional<planning::mask_facts> mask_of(const scenario& of,
                                            core::request_id image) {
  const auto& traced = of.trace[image.value - 1];
  const core::request_id id{uint64_t{traced.request} + 1};
  if (traced.masked <= 0)
    return edit_of(of, id);
  planning::mask_facts out;
  out.ratio = traced.masked;
  out.recorded = stream(of, id, draw::recorded).uniform() < of.edits.recorded;
  return out;
}

simulated_knowledge::simulated_knowledge(const scenario& of, unmeasured& lacks)
  : of_(of), lacks_(lacks) {
  std::set<uint32_t> steps;
  for (const auto& ladder : of.profile->ladders)
    for (const auto& level : ladder.levels)
      if (level.skip > 0)
        steps.insert(level.skip);
  if (const auto& reuse = of.profile->reuse) {
    // `nirvana` keeps the states of a run of other steps than the table's after
    // as many steps as the table says for it.
    for (const auto& t : reuse->latents)
      steps.insert(t.skip);
    for (const auto& t :
         planning::scaled_to(reuse->latents, reuse->steps,
                             of.profile->variants[reuse->full.value].steps))
      steps.insert(t.skip);
  }
  stored_.assign(steps.begin(), steps.end());
}

void simulated_knowledge::begin(std::shared_ptr<core::timers> timers) {
  timers_ = std::move(timers);
  begin_ = timers_->now();
}

void simulated_knowledge::end() {
  timers_ = nullptr;
}

bool simulated_knowledge::strikes(fault_kind kind, double& factor) const {
  const double now = core::to_seconds(timers_->now() - begin_);
  for (const fault& f : of_.faults)
    if (f.kind == kind && now >= f.at_seconds
        && now < f.at_seconds + f.for_seconds) {
      factor = f.factor;
      return true;
    }
  return false;
}

std::vector<planning::match> simulated_knowledge::near(core::request_id of,
                                                       bool probes,
                                                       planning::compared by) {
  // The results of a probe belong to no request.
  if (probes)
    return {};
  if (cache_ != nullptr)
    return cache_->near(of.value - 1, nearest_kept);
  planning::match x;
  x.entry = 1;
  x.stored = stored_;
  const auto& told_prompts = of_.nearest_prompts;
  if (by == planning::compared::prompts && !told_prompts.empty()) {
    x.similarity = told_prompts[(of.value - 1) % told_prompts.size()];
    return std::vector<planning::match>(nearest, x);
  }
  planning::nearness spec{1, 0, 1};
  if (by != planning::compared::nothing) {
    const auto told = nearness_of(of_, by);
    if (!told)
      lacks_.tell(by == planning::compared::prompts
                    ? "compares prompts, but neither the profile's reuse.near "
                      "(for thresholds in reuse.latents) nor --similarity "
                      "gives their similarities"
                    : "compares prompts with images, but neither the "
                      "profile's reuse.near (for thresholds in reuse.images) "
                      "nor --similarity gives their similarities");
    spec = told.value_or(spec);
  }
  auto any = stream(of_, of, draw::found);
  if (any.uniform() >= spec.found)
    return {};
  auto random = stream(of_, of, draw::similarity);
  x.similarity =
    std::clamp(spec.mean + spec.spread * random.normal(), 0.0, 1.0);
  return std::vector<planning::match>(nearest, x);
}

std::vector<uint32_t> simulated_knowledge::labels_of(core::request_id of) {
  const auto content = of_.trace[of.value - 1].content;
  auto random = stream(of_, of, draw::label);
  std::vector<uint32_t> out;
  for (const auto& ladder : of_.profile->ladders) {
    // A prediction means nothing for classes that do not differ.
    const bool differ =
      std::any_of(ladder.levels.begin(), ladder.levels.end(),
                  [](const auto& l) { return !l.class_quality.empty(); });
    if (differ && ladder.class_shares.empty())
      lacks_.tell("asks for predicted classes, but the profile's "
                  "ladders[].class_shares does not give the share of prompts "
                  "in each class");
    const auto accuracy =
      of_.classifier_accuracy ? of_.classifier_accuracy : ladder.accuracy;
    if (differ && !accuracy)
      lacks_.tell("asks for predicted classes, but neither the profile's "
                  "ladders[].accuracy nor --classifier-accuracy gives the "
                  "share of correct predictions");
    const bool right = random.uniform() < accuracy.value_or(1);
    out.push_back(
      class_of_content(ladder, right ? content : random.next_u64()));
  }
  return out;
}

bool simulated_knowledge::hit_likely(
  core::request_id of, const std::vector<planning::match>& found) {
  const auto told = predictor_of(of_);
  if (!told)
    lacks_.tell("asks a predictor of hits, but neither the profile's "
                "reuse.predictor nor --hit-predictor gives the share of "
                "correct predictions");
  const auto& tables = of_.profile->reuse;
  const bool latents = tables && !tables->latents.empty();
  const auto& table = latents ? tables->latents
                    : tables  ? tables->images
                              : planning::skip_table{};
  const bool hit = !found.empty()
                && planning::allowed_skip(table, found.front().similarity,
                                          planning::threshold_rule::from)
                     > 0;
  const auto by = told.value_or(planning::hit_predictor{});
  return stream(of_, of, draw::predicted).uniform()
       < (hit ? by.recall : by.false_alarms);
}

void simulated_knowledge::searched(const std::vector<planning::match>& found) {
  if (cache_ != nullptr)
    cache_->searched(found);
}

planning::mask_facts simulated_knowledge::mask(core::request_id image) const {
  auto out = mask_of(of_, image).value_or(planning::mask_facts{});
  out.recorded = out.recorded && !lost();
  return out;
}

core::timespan simulated_knowledge::searching() const {
  const auto usual =
    of_.profile->reuse ? of_.profile->reuse->retrieval : usual_retrieval;
  double factor = 1;
  if (!strikes(fault_kind::slow_cache, factor))
    return usual;
  return core::from_seconds(core::to_seconds(usual) * factor);
}

bool simulated_knowledge::lost() const {
  double factor = 1;
  return strikes(fault_kind::lost_cache, factor);
}

bool simulated_knowledge::take_image(uint64_t entry) {
  if (lost())
    return false;
  return cache_ == nullptr
      || cache_->use(entry, 0, core::to_seconds(timers_->now() - begin_));
}

simulated_scores::simulated_scores(const scenario& of, unmeasured& lacks)
  : of_(of), lacks_(lacks) {
  for (const auto& c : of.profile->cascades)
    if (!c.deferred.empty())
      tables_.emplace_back(c.judge,
                           planning::diffserve::deferral_of(c.deferred));
}

double simulated_scores::operator()(core::request_id id,
                                    const std::string& judge) const {
  const auto content = of_.trace[id.value - 1].content;
  for (const auto& [name, table] : tables_)
    if (name == judge)
      return planning::diffserve::confidence_at(table, number_of(content, 0));
  // The random judge.
  if (judge == planning::random_judge)
    return number_of(content, 100);
  lacks_.tell(fmt::format("has images judged by '{}', but the profile's "
                          "cascades[].deferred has no scores for them",
                          judge));
  return 0;
}

} // namespace atelier::runtime
