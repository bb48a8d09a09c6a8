// SPDX-License-Identifier: Apache-2.0
// needs:  the mask of an edit
// routes: vanilla's, then an edit from records and an edit that records, for
//         each variant with fitted costs
// queues: one for each worker for edits; vanilla's for other requests
// take:   as vanilla, joining between steps
// memory: none
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/instgenie/instgenie.hpp>
#include <atelier/planning/policies/instgenie/worker_choice.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace atelier::planning {

namespace {

using rule = instgenie_rules::worker_rule;

uint32_t edit_route(const profile& costs, size_t masked, bool recorded) {
  return static_cast<uint32_t>(costs.variants.size() + 2 * masked
                               + (recorded ? 0 : 1));
}

// Returns the index into profile::masked of a variant; its size if none exists.
size_t masked_of(const profile& costs, core::variant_id v) {
  size_t at = 0;
  while (at < costs.masked.size() && costs.masked[at].variant != v)
    ++at;
  return at;
}

// Examining a thousand workers takes most of a millisecond, and the workers
// with the most work are never chosen. Rolling out a worker takes longer than
// computing one step.
size_t most_looked_at(rule by) {
  return by == rule::finish ? 16 : 64;
}

// Returns the workers that host a variant; if there are many, those with the
// least work.
std::vector<const worker_view*> candidates(const cluster_view& there,
                                           core::variant_id variant,
                                           size_t most) {
  std::vector<const worker_view*> out;
  for (const worker_view& w : there.workers)
    if (detail::hosts(w, variant))
      out.push_back(&w);
  if (out.size() <= most)
    return out;
  const auto middle = out.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(out.begin(), middle, out.end(),
                   [](const worker_view* a, const worker_view* b) {
                     const auto key = [](const worker_view* w) {
                       return std::tuple{
                         w->steps_left, w->seats_taken + w->waiting, w->worker};
                     };
                     return key(a) < key(b);
                   });
  out.erase(middle, out.end());
  std::sort(out.begin(), out.end(),
            [](const worker_view* a, const worker_view* b) {
              return a->worker < b->worker;
            });
  return out;
}

instgenie::edit_worker edit_worker_of(const worker_view& w) {
  instgenie::edit_worker out;
  out.max_batch = std::max(w.max_batch, 1u);
  for (const worker_row& r : w.rows) {
    instgenie::edit_row row;
    row.member.ratio = r.masked;
    row.steps_left =
      static_cast<uint32_t>(std::clamp<uint64_t>(r.steps_left, 1, 1u << 20));
    (r.running ? out.running : out.queued).push_back(row);
  }
  if (!w.rows.empty())
    return out;
  // If only counts are known, they stand for whole images that share the
  // remaining steps.
  const uint64_t rows = std::min<uint64_t>(w.seats_taken + w.waiting, 1024);
  for (uint64_t i = 0; i < rows; ++i) {
    instgenie::edit_row row;
    row.steps_left = static_cast<uint32_t>(
      std::clamp<uint64_t>(w.steps_left / rows, 1, 1u << 20));
    (i < w.seats_taken ? out.running : out.queued).push_back(row);
  }
  return out;
}

} // namespace

instgenie::step_model edit_steps(const masked_profile& m) {
  const instgenie::estimator by{{m.compute_slope, m.compute_base, 1},
                                {m.load_slope, m.load_base, 1}};
  const instgenie::block_shape each{m.tokens, m.width, m.bytes_per_value};
  const auto what = m.keys_values ? instgenie::recorded::keys_values
                                  : instgenie::recorded::outputs;
  if (m.published_plan)
    return instgenie::greedy_steps({m.blocks, each}, by, what);
  return instgenie::equal_steps(m.blocks, each, by, what);
}

plan instgenie_policy::replan(const demand& asked, const profile& known,
                              const cluster_view& there,
                              const plan& previous) const {
  plan next = vanilla::replan(asked, known, there, previous);
  for (const masked_profile& m : known.masked)
    for (const bool recorded : {true, false}) {
      route r;
      r.name = known.variants[m.variant.value].name
             + (recorded ? ", edit" : ", edit and record");
      leg s = detail::leg_on(m.variant);
      s.from = origin::template_image;
      s.record = !recorded;
      r.legs.push_back(std::move(s));
      detail::add_route(next, std::move(r));
    }
  return next;
}

choice instgenie_policy::choose(const decision_context& by) const {
  auto plain = vanilla::choose(by);
  const auto* at = std::get_if<go>(&plain);
  const bool edit =
    by.wanted.kind == core::request_kind::edit && by.wanted.source;
  if (at == nullptr || !edit || by.wanted.deterministic)
    return plain;
  const auto variant =
    by.in_force.routes[at->route.value].legs.front().any_of.front();
  const size_t masked = masked_of(by.costs, variant);
  if (masked == by.costs.masked.size()
      || edit_route(by.costs, masked, false) >= by.in_force.routes.size())
    return plain;
  if (!by.known.mask) {
    need n;
    n.mask = true;
    return n;
  }
  // An empty or a full mask has no use for a record.
  if (!(by.known.mask->ratio > 0) || by.known.mask->ratio >= 1)
    return plain;
  return go{
    core::route_id{edit_route(by.costs, masked, by.known.mask->recorded)}, {}};
}

core::queue_id instgenie_policy::place(const leg& next,
                                       const decision_context& by) const {
  const core::variant_id variant = next.any_of.front();
  const size_t masked = masked_of(by.costs, variant);
  const bool edits = next.from == origin::template_image && by.known.mask;
  if (!edits || masked == by.costs.masked.size())
    return vanilla::place(next, by);
  const auto steps_of = [&](masked_profile m) {
    m.published_plan = m.published_plan || rules_.workers == rule::step;
    return edit_steps(m);
  };
  std::vector<instgenie::edit_worker> workers;
  std::vector<core::worker_id> ids;
  std::map<std::string_view, instgenie::step_model> by_kind;
  for (const worker_view* w :
       candidates(by.there, variant, most_looked_at(rules_.workers))) {
    workers.push_back(edit_worker_of(*w));
    ids.push_back(w->worker);
    if (by.costs.kinds.empty())
      continue;
    auto& steps = by_kind[w->device_kind];
    if (!steps)
      steps = steps_of(*masked_on(by.costs, variant, w->device_kind));
    workers.back().steps = &steps;
  }
  if (workers.empty())
    return queue_of(variant);
  instgenie::edit_row edit;
  edit.member = {by.known.mask->ratio, next.record};
  edit.steps_left = std::max(
    next.steps != 0 ? next.steps : by.costs.variants[variant.value].steps, 1u);
  return queue_of(ids[pick(workers, edit, steps_of(by.costs.masked[masked]))]);
}

size_t instgenie_policy::pick(std::span<const instgenie::edit_worker> workers,
                              const instgenie::edit_row& edit,
                              const instgenie::step_model& seconds) const {
  return rules_.workers == rule::finish
         ? *choose_by_finish(workers, edit, seconds)
         : *choose_by_step(workers, edit, seconds);
}

std::vector<instgenie_rules> all_instgenie_rules() {
  return {{"instgenie", rule::finish}, {"instgenie-paper", rule::step}};
}

} // namespace atelier::planning
