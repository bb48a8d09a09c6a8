// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/search.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/index/key.hpp>
#include <atelier/planning/reuse/least_similarity.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace atelier::actors {

namespace {

/// Maximum number of entries that a policy is shown.
constexpr uint32_t most_matches = 10;

/// Whether a request searches although it is predicted to miss. The same for
/// all questions about the request.
bool is_sampled(const core::request& x) {
  core::philox random{x.seed, core::purpose::routing, x.id};
  // The words before decide on routes.
  random.seek(1024);
  return random.below(planning::predicted_misses_per_search) == 0;
}

/// Whether a request is drawn in full.
bool is_fresh(const core::request& x, double share) {
  core::philox random{x.seed, core::purpose::routing, x.id};
  // Behind the words that decide on samples.
  random.seek(2048);
  return random.uniform() < share;
}

} // namespace

search_stage::search_stage(std::shared_ptr<index::kept_work> kept,
                           std::shared_ptr<index::match_prediction> predicts,
                           core::timespan budget, double budget_share,
                           double fresh)
  : kept_(std::move(kept)), predicts_(std::move(predicts)), fresh_(fresh) {
  row_.name = "search";
  row_.version = 5;
  row_.place = planning::place::background;
  row_.hook = planning::hook::before_route;
  row_.budget = budget;
  row_.budget_share = budget_share;
  row_.otherwise = planning::if_failed::go_on;
  row_.on_demand = true;
}

std::optional<search_stage::work> search_stage::begin(
  const planning::row_view& of) const {
  const auto& asked = of.asked;
  if ((!asked.near && !asked.hit_likely)
      || (asked.by != planning::compared::nothing
          && asked.by != kept_->compares())
      || !of.costs.reuse || !index::is_searched_for(of.wanted))
    return std::nullopt;
  // A probe measures how long a search takes.
  if (of.wanted.kind != core::request_kind::probe
      && is_fresh(of.wanted, fresh_))
    return std::nullopt;
  work order;
  order.key = index::key_for(of.wanted, of.costs);
  order.text = of.wanted.text.positive;
  order.most = asked.near ? most_matches : 1;
  order.near = asked.near;
  order.hit_likely = asked.hit_likely;
  order.least = of.wanted.cache_similarity;
  order.needs = asked.holds;
  order.hit_from =
    asked.hit_from.value_or(planning::least_similarity(*of.costs.reuse));
  if (asked.predicts == planning::predicted_from::nothing)
    return order;
  order.predicts = asked.predicts;
  // A policy that has not asked the predictor searches for every miss, too.
  if (asked.near && !of.known.hit_likely)
    order.stands_for = 1;
  else if (is_sampled(of.wanted))
    order.stands_for = planning::predicted_misses_per_search;
  return order;
}

core::timespan search_stage::takes(const work& order,
                                   const planning::profile& costs) const {
  if (!order.near && order.predicts != planning::predicted_from::nothing)
    return core::timespan{0};
  return costs.reuse ? costs.reuse->retrieval : core::timespan{0};
}

core::result<search_stage::done> search_stage::run(
  const work& order, planning::worker_context&) const {
  done out;
  out.tells_near = order.near;
  out.tells_hit = order.hit_likely;
  const bool predicts =
    predicts_ && order.predicts != planning::predicted_from::nothing;
  if (predicts && !order.near) {
    const auto vector = kept_->vector_of(order.key, order.text);
    out.hit_likely =
      predicts_->ask(order.predicts, order.key, vector) || order.stands_for > 0;
    return out;
  }
  out.near = kept_->near(
    order.key, order.text,
    {order.most, order.needs, std::max(order.hit_from, double{order.least})});
  const auto hits = [&] {
    return !out.near.empty() && out.near.front().similarity >= order.hit_from;
  };
  if (predicts)
    learn(order, hits(), out);
  std::erase_if(out.near, [&](const planning::match& x) {
    return static_cast<float>(x.similarity) < order.least;
  });
  out.hit_likely = hits();
  return out;
}

void search_stage::learn(const work& order, bool hit, done& found) const {
  const auto vector = kept_->vector_of(order.key, order.text);
  // A search that failed says nothing of what the cache holds.
  if (vector.empty() || (found.near.empty() && kept_->counts().reads_left_out))
    return;
  auto& x = found.prediction;
  x.hit = hit;
  x.said_hit =
    predicts_->learn(order.predicts, order.key, vector, hit, order.stands_for);
  x.stands_for = x.said_hit ? 1 : order.stands_for;
  found.tells_prediction = x.stands_for > 0;
  if (found.tells_prediction)
    predicts_->count(x);
}

core::result<void> search_stage::end(const done& found,
                                     planning::facts& known) const {
  if (found.tells_near)
    known.near = found.near;
  if (found.tells_hit)
    known.hit_likely = found.hit_likely;
  if (found.tells_prediction)
    known.prediction = found.prediction;
  return {};
}

} // namespace atelier::actors
