// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/demand/workload.hpp>
#include <atelier/planning/diffserve/deferral.hpp>
#include <atelier/runtime/simulation/accounts.hpp>
#include <atelier/runtime/simulation/knowledge.hpp>

#include <caf/send.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace atelier::runtime {

namespace {

/// Source: Argus, section 4.1: its classifier answers in a few milliseconds.
constexpr core::timespan classifying = std::chrono::milliseconds{5};

constexpr core::timespan usual_retrieval = std::chrono::milliseconds{50};

/// Entries that a search returns.
constexpr size_t nearest = 1;

/// Of a cache with contents.
/// Source: specification of Nirvana, A7: the policy `nirvana` looks at eight.
constexpr size_t nearest_kept = 8;

enum class draw : uint32_t {
  found = 0,
  similarity = 8,
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
  out.ratio = planning::beta_share(random, edits.mean, edits.spread);
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

simulated_knowledge::simulated_knowledge(const scenario& of,
                                         std::shared_ptr<core::timers> timers,
                                         std::shared_ptr<ipc::slot_store> slots,
                                         core::time_point begin)
  : of_(of),
    timers_(std::move(timers)),
    slots_(std::move(slots)),
    begin_(begin) {
  std::set<uint32_t> steps;
  for (const auto& ladder : of.profile->ladders)
    for (const auto& level : ladder.levels)
      if (level.skip > 0)
        steps.insert(level.skip);
  if (of.profile->reuse)
    for (const auto& t : of.profile->reuse->latents)
      steps.insert(t.skip);
  stored_.assign(steps.begin(), steps.end());
}

void simulated_knowledge::connect(actors::scheduler_actor hub) {
  hub_ = std::move(hub);
}

void simulated_knowledge::clear() {
  hub_ = nullptr;
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

std::vector<planning::match> simulated_knowledge::near(
  const core::request& of) const {
  // What a probe finds is nobody's.
  if (of.kind == core::request_kind::probe)
    return {};
  if (cache_ != nullptr)
    return cache_->near(of.id.value - 1, nearest_kept);
  auto any = stream(of_, of.id, draw::found);
  if (any.uniform() >= of_.similarity.found)
    return {};
  auto random = stream(of_, of.id, draw::similarity);
  planning::match x;
  x.entry = 1;
  x.similarity = std::clamp(
    of_.similarity.mean + of_.similarity.spread * random.normal(), 0.0, 1.0);
  x.stored = stored_;
  return std::vector<planning::match>(nearest, x);
}

void simulated_knowledge::find(std::shared_ptr<const core::request> of,
                               planning::need wanted, uint32_t question) {
  actors::facts_found told;
  told.id = of->id;
  told.question = question;
  core::timespan takes{0};
  if (wanted.tolerated) {
    const auto content = of_.trace[of->id.value - 1].content;
    takes = classifying;
    auto random = stream(of_, of->id, draw::label);
    auto& labels = told.what.tolerated.emplace();
    for (const auto& ladder : of_.profile->ladders) {
      const bool right = random.uniform() < of_.classifier_accuracy;
      labels.push_back(
        class_of_content(ladder, right ? content : random.next_u64()));
    }
  }
  double factor = 1;
  if (wanted.mask) {
    auto& mask = told.what.mask.emplace();
    mask = mask_of(of_, of->id).value_or(mask);
    if (strikes(fault_kind::lost_cache, factor))
      mask.recorded = false;
  }
  if (wanted.near || wanted.hit_likely) {
    const auto found = near(*of);
    if (wanted.hit_likely) {
      const auto& tables = of_.profile->reuse;
      const bool latents = tables && !tables->latents.empty();
      const auto& table = latents ? tables->latents
                        : tables  ? tables->images
                                  : planning::skip_table{};
      told.what.hit_likely =
        !found.empty()
        && planning::allowed_skip(table, found.front().similarity,
                                  planning::threshold_rule::from)
             > 0;
    }
    if (wanted.near) {
      auto search =
        of_.profile->reuse ? of_.profile->reuse->retrieval : usual_retrieval;
      if (strikes(fault_kind::slow_cache, factor))
        search = core::from_seconds(core::to_seconds(search) * factor);
      takes = std::max(takes, search);
      if (strikes(fault_kind::lost_cache, factor))
        return;
      if (cache_ != nullptr && of->kind != core::request_kind::probe)
        cache_->searched(found);
      told.what.near = found;
    }
  }
  timers_->after(takes, [hub = hub_, told = std::move(told)] {
    if (hub)
      caf::anon_send(hub, told);
  });
}

bool simulated_knowledge::give_picture(uint64_t entry, core::extent,
                                       ipc::slot_ref into) {
  double factor = 1;
  if (strikes(fault_kind::lost_cache, factor))
    return false;
  if (cache_ != nullptr
      && !cache_->use(entry, 0, core::to_seconds(timers_->now() - begin_)))
    return false;
  return static_cast<bool>(slots_->publish(into, 1, 0));
}

bool simulated_knowledge::give_state(uint64_t, uint32_t steps,
                                     ipc::slot_ref into) {
  return static_cast<bool>(slots_->publish(into, uint64_t{steps} + 1, 0));
}

simulated_scores::simulated_scores(const scenario& of) : of_(of) {
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
  uint32_t word = 0;
  for (const char letter : judge)
    word = word * 31 + static_cast<uint8_t>(letter);
  return number_of(content, 100 + word % 1'000'000);
}

} // namespace atelier::runtime
