// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/policies/instgenie_comparisons.hpp>

#include <algorithm>

namespace atelier::papers {

namespace {

using planning::decision_context;
using planning::facts;
using planning::leg;
using planning::instgenie::edit_row;
using planning::instgenie::edit_worker;

template <class Score>
std::optional<size_t> least(std::span<const edit_worker> workers, Score score) {
  if (workers.empty())
    return std::nullopt;
  return static_cast<size_t>(std::ranges::min_element(workers, {}, score)
                             - workers.begin());
}

bool is_edit(const core::request& wanted) {
  return wanted.kind == core::request_kind::edit && wanted.source;
}

// Returns the facts of an edit whose template has a record.
facts with_mask(const facts& known, double ratio) {
  auto out = known;
  out.mask = planning::mask_facts{ratio, 0, true};
  return out;
}

decision_context with(const decision_context& by, const facts& known) {
  return {by.wanted, known, by.costs, by.in_force, by.there, by.random};
}

} // namespace

std::optional<size_t> choose_fewest_requests(
  std::span<const edit_worker> workers) {
  return least(workers, [](const edit_worker& w) {
    return w.running.size() + w.queued.size();
  });
}

std::optional<size_t> choose_fewest_tokens(
  std::span<const edit_worker> workers) {
  return least(workers, [](const edit_worker& w) {
    double sum = 0;
    for (const auto* rows : {&w.running, &w.queued})
      for (const edit_row& r : *rows)
        sum += r.member.ratio;
    return sum;
  });
}

std::optional<size_t> choose_first_fit(std::span<const edit_worker> workers) {
  return least(workers, [](const edit_worker& w) {
    return w.running.size() + w.queued.size() < w.max_batch ? 0 : 1;
  });
}

// The baselines examine as many workers as the published system, and so have
// its rule for blocks, which they do not use.
instgenie_comparison::instgenie_comparison(instgenie_comparison_rules rules)
  : instgenie_policy(
    {rules.name, planning::instgenie_rules::worker_rule::step}),
    own_(std::move(rules)) {}

planning::plan instgenie_comparison::replan(
  const planning::demand& asked, const planning::profile& known,
  const planning::cluster_view& there, const planning::plan& previous) const {
  auto next = instgenie_policy::replan(asked, known, there, previous);
  if (own_.whole_batches)
    for (auto& a : next.workers)
      a.join = planning::joining::whole_batch;
  if (own_.in_full)
    // In full, an edit is the same as any other request with a source.
    for (auto& r : next.routes)
      for (leg& s : r.legs) {
        s.from = planning::origin::noise;
        s.record = false;
      }
  return next;
}

planning::choice instgenie_comparison::choose(
  const decision_context& by) const {
  if (!own_.in_full)
    return instgenie_policy::choose(by);
  // The mask itself is not needed.
  constexpr double some_mask = 0.5;
  return instgenie_policy::choose(with(by, with_mask(by.known, some_mask)));
}

core::queue_id instgenie_comparison::place(const leg& next,
                                           const decision_context& by) const {
  if (!own_.in_full || !is_edit(by.wanted))
    return instgenie_policy::place(next, by);
  leg whole = next;
  whole.from = planning::origin::template_image;
  whole.record = true;
  return instgenie_policy::place(whole, with(by, with_mask(by.known, 1)));
}

size_t instgenie_comparison::pick(
  std::span<const edit_worker> workers, const edit_row&,
  const planning::instgenie::step_model&) const {
  return *own_.workers(workers);
}

std::vector<instgenie_comparison_rules> instgenie_comparisons() {
  return {{"request-balance", choose_fewest_requests, false, false},
          {"token-balance", choose_fewest_tokens, false, false},
          {"first-fit", choose_first_fit, false, false},
          {"static-batching", choose_fewest_requests, false, true},
          {"full-recompute", choose_fewest_requests, true, true}};
}

} // namespace atelier::papers
