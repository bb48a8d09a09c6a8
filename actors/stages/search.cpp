// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/search.hpp>
#include <atelier/index/key.hpp>
#include <atelier/planning/reuse/least_similarity.hpp>

#include <utility>
#include <vector>

namespace atelier::actors {

namespace {

/// Maximum number of entries that a policy is shown.
constexpr uint32_t most_matches = 10;

} // namespace

search_stage::search_stage(std::shared_ptr<index::kept_work> kept,
                           core::timespan budget, double budget_share)
  : kept_(std::move(kept)) {
  row_.name = "search";
  row_.version = 2;
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
  work order;
  order.key = index::key_for(of.wanted, of.costs);
  order.text = of.wanted.text.positive;
  order.most = asked.near ? most_matches : 1;
  order.near = asked.near;
  order.hit_likely = asked.hit_likely;
  order.least = of.wanted.cache_similarity;
  order.hit_from = planning::least_similarity(*of.costs.reuse);
  return order;
}

core::timespan search_stage::takes(const work&,
                                   const planning::profile& costs) const {
  return costs.reuse ? costs.reuse->retrieval : core::timespan{0};
}

core::result<search_stage::done> search_stage::run(
  const work& order, planning::worker_context&) const {
  done out;
  out.near = kept_->near(order.key, order.text, order.most);
  std::erase_if(out.near, [&](const planning::match& x) {
    return static_cast<float>(x.similarity) < order.least;
  });
  out.tells_near = order.near;
  out.tells_hit = order.hit_likely;
  out.hit_likely =
    !out.near.empty() && out.near.front().similarity >= order.hit_from;
  return out;
}

core::result<void> search_stage::end(const done& found,
                                     planning::facts& known) const {
  if (found.tells_near)
    known.near = found.near;
  if (found.tells_hit)
    known.hit_likely = found.hit_likely;
  return {};
}

} // namespace atelier::actors
