// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/search.hpp>
#include <atelier/index/key.hpp>

#include <utility>

namespace atelier::actors {

namespace {

/// Entries that a policy is shown.
constexpr uint32_t most_matches = 10;

} // namespace

search_stage::search_stage(std::shared_ptr<index::kept_work> kept,
                           core::timespan budget, double budget_share)
  : kept_(std::move(kept)) {
  row_.name = "search";
  row_.where = planning::place::background;
  row_.at = planning::hook::before_route;
  row_.budget = budget;
  row_.budget_share = budget_share;
  row_.otherwise = planning::if_failed::go_on;
  row_.on_demand = true;
}

std::optional<search_stage::work> search_stage::begin(
  const planning::row_view& of) const {
  // Words say nothing of how near a prompt is to an image.
  if (!of.asked.near || of.asked.by == planning::compared::pictures
      || !of.costs.reuse || !index::is_remembered(of.wanted))
    return std::nullopt;
  work order;
  order.key = index::key_for(of.wanted, of.costs);
  order.text = of.wanted.text.positive;
  order.most = most_matches;
  return order;
}

core::timespan search_stage::takes(const work&,
                                   const planning::profile& costs) const {
  return costs.reuse ? costs.reuse->retrieval : core::timespan{0};
}

core::result<search_stage::done> search_stage::run(
  const work& order, planning::worker_context&) const {
  return done{kept_->near(order.key, order.text, order.most)};
}

core::result<void> search_stage::end(const done& found,
                                     planning::facts& known) const {
  known.near = found.near;
  return {};
}

} // namespace atelier::actors
