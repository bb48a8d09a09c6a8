// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>
#include <atelier/planning/policies/atelier/detail/offer_builder.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <span>

namespace atelier::planning::unified {

namespace {

// Returns the batch sizes of a variant: one row, the largest measured size with
// which an image is ready within `deadline`, and two sizes in between.
std::vector<uint32_t> batches_of(const variant_table& x, uint32_t most,
                                 double deadline) {
  const variant_profile& v = x.costs;
  std::set<uint32_t> all{1};
  for (const step_cost& s : v.step) {
    const auto runs =
      x.steps.at(std::max(s.batch, 1u), v.native_px) * v.steps + v.decode;
    if (s.batch >= 1 && s.batch <= most && core::to_seconds(runs) <= deadline)
      all.insert(s.batch);
  }
  std::vector<uint32_t> out(all.begin(), all.end());
  if (const size_t last = out.size() - 1; last > 3)
    out = {out.front(), out[(last + 1) / 3], out[(2 * last + 1) / 3],
           out.back()};
  return out;
}

} // namespace

offer_builder::offer_builder(const demand& asked, const profile& known,
                             const cluster_view& there,
                             const offer_rules& rules)
  : known_(known), tables_(known), rules_(rules) {
  deadline_ = deadline(there);
  add_pools(there);
  add_classes(asked);
}

offers offer_builder::done() {
  add_floors();
  if (nobody_asks_)
    scale_to_devices();
  out_.asked.period = rules_.period;
  // The gain is quality per second; a load is paid for once per period.
  out_.asked.load_price = rules_.load_price / std::max(rules_.period, 1e-9);
  out_.asked.fresh = rules_.fresh;
  return std::move(out_);
}

uint32_t offer_builder::add_route(route r, bool reuses) {
  out_.routes.push_back(std::move(r));
  out_.reuses.push_back(reuses ? 1 : 0);
  return static_cast<uint32_t>(out_.routes.size() - 1);
}

uint32_t offer_builder::add_threshold(double t, double deferred) {
  out_.thresholds.push_back(t);
  out_.deferred.push_back(deferred);
  return static_cast<uint32_t>(out_.thresholds.size() - 1);
}

uint32_t offer_builder::add_mix(mix x) {
  out_.asked.mixes.push_back(std::move(x));
  return static_cast<uint32_t>(out_.asked.mixes.size() - 1);
}

void offer_builder::add(uint32_t of, uint32_t route, double quality, bool fresh,
                        const std::vector<leg_offer>& legs,
                        std::optional<std::pair<uint32_t, double>> part) {
  column c;
  c.of = of;
  c.key = route;
  c.quality = std::max(0.0, quality);
  c.fresh = fresh;
  if (part) {
    c.mix = part->first;
    c.light = part->second;
  }
  bind(c, legs, 0, 0);
}

void offer_builder::bind(column& c, const std::vector<leg_offer>& legs,
                         size_t at, double seconds) {
  // A column has no more legs than this; the second test shows it to the
  // compiler.
  if (at == legs.size() || at == c.work.size()) {
    out_.asked.columns.push_back(c);
    return;
  }
  const leg_offer& l = legs[at];
  for (const uint32_t p : pools_of_[l.variant.value]) {
    const pool_key& key = out_.pools[p];
    // The next leg has the same budget: other pairs gain less than the time to
    // examine them. If an earlier answer exists, the leg need not be certain to
    // end in time: a request that would be late is answered with it, before it
    // takes any device time.
    if (at > 0 && !may_follow(c, key))
      continue;
    const uint32_t wait = l.may_be_left_out ? any_wait()
                        : at > 0            ? out_.pools[c.work[0].pool].wait
                                            : key.wait;
    if (key.wait != wait || (key.wait == any_wait() && !l.may_be_left_out))
      continue;
    const double step = step_seconds(l, key);
    const double once = once_seconds(l, key.device_kind);
    const double runs = l.steps * step + once;
    const double waits = l.may_be_left_out ? 0 : rules_.waits[key.wait];
    const double ends = seconds + runs * (1 + waits);
    if (ends > deadline_ + 1e-9)
      continue;
    c.work[at] = {p, l.reach * (l.steps * step / key.batch + once)};
    c.legs = static_cast<uint32_t>(at + 1);
    bind(c, legs, at + 1, ends);
    c.legs = static_cast<uint32_t>(at);
  }
}

// Without kinds in the profile, devices of another kind add no better option.
bool offer_builder::may_follow(const column& c, const pool_key& next) const {
  return !known_.kinds.empty()
      || next.device_kind == out_.pools[c.work[0].pool].device_kind;
}

double offer_builder::step_seconds(const leg_offer& l,
                                   const pool_key& on) const {
  if (l.step_seconds)
    return l.step_seconds(on.device_kind, on.batch);
  const variant_table& x = tables_.of(l.variant, on.device_kind);
  return core::to_seconds(x.steps.at(on.batch, x.costs.native_px));
}

// Returns the time that each image takes in addition to its steps.
double offer_builder::once_seconds(const leg_offer& l,
                                   std::string_view kind) const {
  const variant_profile& v = tables_.of(l.variant, kind).costs;
  const double own = core::to_seconds(v.text + v.decode);
  return l.judged_by == nullptr
         ? own
         : own + core::to_seconds(judging_on(known_, *l.judged_by, kind));
}

void offer_builder::add_pools(const cluster_view& there) {
  pools_of_.resize(known_.variants.size());
  std::vector<uint32_t> most;
  for (const worker_view& w : there.workers) {
    size_t k = 0;
    while (k < out_.asked.kinds.size()
           && out_.asked.kinds[k].name != w.device_kind)
      ++k;
    if (k == out_.asked.kinds.size()) {
      out_.asked.kinds.push_back({w.device_kind, 0});
      most.push_back(1);
    }
    ++out_.asked.kinds[k].alive;
    most[k] = std::max(most[k], w.max_batch);
  }
  for (uint32_t k = 0; k < out_.asked.kinds.size(); ++k)
    for (uint32_t i = 0; i < known_.variants.size(); ++i) {
      const core::variant_id id{i};
      const auto h = static_cast<uint32_t>(out_.asked.hostings.size());
      hosting x;
      x.kind = k;
      const variant_table& costs = tables_.of(id, out_.asked.kinds[k].name);
      x.load_seconds = core::to_seconds(costs.costs.load);
      // A worker with several variants counts for its first one.
      for (const worker_view& w : there.workers)
        x.now += w.device_kind == out_.asked.kinds[k].name && !w.hosting.empty()
              && w.hosting.front() == id;
      out_.asked.hostings.push_back(x);
      const bool is_deferred_to =
        std::any_of(known_.cascades.begin(), known_.cascades.end(),
                    [&](const cascade_profile& c) { return c.heavy == id; });
      const uint32_t budgets = any_wait() + (is_deferred_to ? 1 : 0);
      for (const uint32_t batch : batches_of(costs, most[k], deadline_))
        for (uint32_t b = 0; b < budgets; ++b) {
          pools_of_[i].push_back(
            static_cast<uint32_t>(out_.asked.pools.size()));
          const double mean = b < any_wait()
                              ? rules_.waits[b] / 3
                              : std::numeric_limits<double>::infinity();
          out_.asked.pools.push_back({h, batch, mean, rules_.busy});
          out_.pools.push_back({id, out_.asked.kinds[k].name, batch, b});
        }
    }
}

double offer_builder::deadline(const cluster_view& there) const {
  double longest = 0;
  for (const cascade_profile& c : known_.cascades)
    longest = std::max(longest, core::to_seconds(c.deadline));
  if (longest > 0)
    return longest;
  const auto groups = groups_in(there);
  for (uint32_t i = 0; i < known_.variants.size(); ++i)
    longest = std::max(
      longest, argus::quickest_seconds(known_, core::variant_id{i}, groups));
  return rules_.deadline_factor * longest;
}

void offer_builder::add_floors() {
  for (const column& c : out_.asked.columns) {
    double& floor = out_.asked.classes[c.of].floor;
    floor = std::max(floor, rules_.floor * c.quality);
  }
}

// Idle devices prepare for as many requests as they could answer at the best
// quality, each kind by itself.
void offer_builder::scale_to_devices() {
  // The classes of waiting requests are the last ones, and keep their rates.
  const std::span asks = std::span{out_.asked.classes}.first(
    out_.asked.classes.size()
    - static_cast<size_t>(std::count_if(waiting_.begin(), waiting_.end(),
                                        [](const auto& c) { return !!c; })));
  double times = 0;
  for (const device_kind& d : out_.asked.kinds)
    if (const double work = best_work(asks, d.name); work > 0)
      times += rules_.busy * d.alive / work;
  if (times > 0)
    for (request_class& c : asks)
      c.rate *= times;
}

// Returns the seconds of devices of one kind for the requests of a second if
// each class gets its best answer there.
double offer_builder::best_work(std::span<const request_class> asks,
                                std::string_view kind) const {
  double work = 0;
  for (uint32_t k = 0; k < asks.size(); ++k) {
    const column* best = nullptr;
    double least = 0;
    for (const column& c : out_.asked.columns) {
      double seconds = 0;
      bool here = true;
      for (const pool_work& w : c.works()) {
        seconds += w.seconds;
        here = here && out_.pools[w.pool].device_kind == kind;
      }
      if (c.of == k && here
          && (best == nullptr || c.quality > best->quality
              || (c.quality == best->quality && seconds < least))) {
        best = &c;
        least = seconds;
      }
    }
    work += asks[k].rate * least;
  }
  return work;
}

} // namespace atelier::planning::unified
