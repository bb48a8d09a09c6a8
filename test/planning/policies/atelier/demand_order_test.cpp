// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/atelier/problems.hpp"
#include "planning/profiles/read_profile.hpp"
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/demand_file.hpp>
#include <atelier/planning/policies/argus/allocation.hpp>
#include <atelier/planning/policies/argus/argus.hpp>
#include <atelier/planning/policies/argus/argus_memory.hpp>
#include <atelier/planning/policies/argus/argus_parts.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>
#include <atelier/planning/policies/atelier/detail/counts.hpp>
#include <atelier/planning/policies/atelier/detail/master.hpp>
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/policies/atelier/solve.hpp>
#include <atelier/planning/policies/atelier/unified_memory.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace atelier;
using namespace atelier::planning;

namespace {

// Returns a ladder of two to five levels of cached latents, some with qualities
// by class.
profile random_ladder(core::philox& random) {
  profile p;
  variant_profile v;
  v.model = "a";
  v.name = "a@50";
  v.steps = 50;
  v.native_px = {512, 512};
  v.step = {{1, 512 * 512, core::from_seconds(0.01 + 0.2 * random.uniform())}};
  p.variants.push_back(v);
  p.reuse.emplace();
  p.reuse->full = core::variant_id{0};
  ladder_profile ladder;
  const auto levels = 2 + random.below(4);
  const bool classes = random.below(2) == 0;
  double quality = 0.8 + 0.2 * random.uniform();
  uint32_t skip = 0;
  for (uint64_t i = 0; i < levels; ++i) {
    level_profile l;
    l.skip = skip;
    l.quality = quality;
    for (uint64_t c = 0; c < levels && classes; ++c)
      l.class_quality.push_back(c >= i ? 0.9 + 0.1 * random.uniform()
                                       : quality * random.uniform());
    ladder.levels.push_back(std::move(l));
    skip += 2 + static_cast<uint32_t>(random.below(9));
    quality *= 0.6 + 0.4 * random.uniform();
  }
  double left = 1;
  for (uint64_t i = 0; i < levels; ++i) {
    const double share = i + 1 < levels ? left * random.uniform() : left;
    ladder.class_shares.push_back(share);
    left -= share;
  }
  p.ladders.push_back(std::move(ladder));
  return p;
}

// Returns two to five variants, each quicker and worse than the one before.
profile random_models(core::philox& random) {
  profile p;
  ladder_profile ladder;
  ladder.kind = ladder_kind::smaller_models;
  const auto levels = 2 + random.below(4);
  double second = 0.5 + 9.5 * random.uniform();
  double quality = 0.8 + 0.2 * random.uniform();
  double left = 1;
  for (uint64_t i = 0; i < levels; ++i) {
    variant_profile v;
    v.model = std::string(1, static_cast<char>('a' + i));
    v.name = v.model + "@1";
    v.steps = 1;
    v.native_px = {512, 512};
    v.step = {{1, 512 * 512, core::from_seconds(second)}};
    v.quality = quality;
    v.load = core::from_seconds(20 * random.uniform());
    p.variants.push_back(std::move(v));
    level_profile l;
    l.variant = core::variant_id{static_cast<uint32_t>(i)};
    l.quality = quality;
    ladder.levels.push_back(std::move(l));
    const double share = i + 1 < levels ? left * random.uniform() : left;
    ladder.class_shares.push_back(share);
    left -= share;
    second *= 0.3 + 0.6 * random.uniform();
    quality *= 0.6 + 0.35 * random.uniform();
  }
  p.ladders.push_back(std::move(ladder));
  return p;
}

// Returns a light and a heavy variant with one to four batches each, and a
// judge.
profile random_cascade(core::philox& random) {
  profile p;
  const double second = 0.05 + 0.5 * random.uniform();
  for (const bool heavy : {false, true}) {
    variant_profile v;
    v.model = heavy ? "heavy" : "light";
    v.name = v.model + "@1";
    v.steps = 1;
    v.native_px = {512, 512};
    v.quality = heavy ? 1 : 0.5 + 0.4 * random.uniform();
    const auto sizes = 1 + random.below(4);
    double t = second * (heavy ? 3 + 7 * random.uniform() : 1);
    for (uint64_t i = 0; i < sizes; ++i) {
      v.step.push_back({1u << i, 512 * 512, core::from_seconds(t)});
      t *= 1.2 + 0.7 * random.uniform();
    }
    p.variants.push_back(std::move(v));
  }
  cascade_profile c;
  c.light = core::variant_id{0};
  c.heavy = core::variant_id{1};
  c.judge = "judge";
  c.deadline = core::from_seconds(second * (12 + 30 * random.uniform()));
  const double bend = 0.5 + random.uniform();
  for (int k = 0; k <= 20; ++k)
    c.deferred.emplace_back(k / 20.0, std::pow(k / 20.0, bend));
  if (random.below(2) == 0)
    c.fid = {{0, 18.0 + random.uniform()},
             {0.3, 17.0 + random.uniform()},
             {1, 20 + 4 * random.uniform()}};
  p.cascades.push_back(std::move(c));
  return p;
}

// Returns the most requests a second that the devices answer on the quickest
// route.
double capacity(const profile& p, uint32_t workers) {
  double least = 1e9;
  for (const variant_profile& v : p.variants)
    for (const step_cost& s : v.step) {
      double steps = v.steps;
      for (const ladder_profile& l : p.ladders)
        steps -= l.levels.back().skip;
      least = std::min(least, core::to_seconds(s.took) * steps / s.batch);
    }
  return workers / least;
}

cluster_view devices(uint32_t workers) {
  cluster_view there;
  for (uint32_t i = 0; i < workers; ++i) {
    worker_view w;
    w.worker = core::worker_id{i + 1};
    w.device_kind = "cuda";
    w.hosting = {core::variant_id{0}};
    w.max_batch = w.seats_free = 8;
    there.workers.push_back(std::move(w));
  }
  return there;
}

plan planned(std::string_view policy, const profile& known, double rate,
             uint32_t workers) {
  const auto by = *make_policy(policy);
  return by->replan(demand_of_rate(rate), known, devices(workers), {});
}

// Returns the problem that `atelier` solves without an earlier plan.
unified::problem offered(const profile& known, double rate, uint32_t workers) {
  std::vector<diffserve::deferral_profile> deferred;
  for (const auto& c : known.cascades)
    deferred.push_back(diffserve::deferral_of(c.deferred));
  return unified::make_offers(demand_of_rate(rate), known, devices(workers),
                              deferred)
    .asked;
}

// Checks that a decision is no worse than its relaxation (the same program
// without whole devices) with every pool rounded down and the flows solved
// again.
void check_against_rounding(const unified::problem& p,
                            const std::string& where) {
  using namespace atelier::planning::unified;
  solve_options with;
  with.rounds = 0;
  const auto found = unified::solve(p, with);
  BOOST_REQUIRE(found);
  // The solver does the same: the allowed utilisation of pools follows from the
  // parts.
  std::vector<double> parts;
  for (const pool& x : p.pools)
    parts.push_back(p.kinds[p.hostings[x.of].kind].alive);
  auto busy = busy_with(p, parts);
  for (uint32_t pass = 0; pass < with.passes; ++pass) {
    master m{p, busy};
    for (uint32_t c = 0; c < p.columns.size(); ++c)
      m.add(c);
    BOOST_REQUIRE(m.solve(0, with.effort, with.gap));
    parts = m.devices();
    const auto next = busy_with(p, parts);
    double change = 0;
    for (size_t k = 0; k < parts.size(); ++k)
      if (parts[k] > 1e-6)
        change = std::max(change, std::abs(next[k] / busy[k] - 1));
    busy = next;
    if (change < 0.02)
      break;
  }
  std::vector<uint32_t> floors;
  for (const double x : parts)
    floors.push_back(static_cast<uint32_t>(x + 1e-6));
  const auto rounded = spread(p, floors, with);
  BOOST_REQUIRE(rounded);
  BOOST_TEST(!better(rounded->values, found->values), where);
  // The decision is also no worse than one made without trying other counts.
  with.looks = 0;
  const auto first = unified::solve(p, with);
  BOOST_REQUIRE(first);
  BOOST_TEST(!better(first->values, found->values), where);
}

// The missing requests and quality, and the value of an answer.
struct reached {
  double refused = 0;
  double shortfall = 0;
  double quality = 0;
};

reached by_atelier(const profile& known, double rate, uint32_t workers) {
  const auto made = planned("atelier", known, rate, workers);
  const auto& v = made.memory.as<unified_memory>()->why.values;
  return {v.refused, v.shortfall,
          v.gain / std::max(rate * 1.05 - v.refused, 1e-12)};
}

reached by_argus(const profile& known, double rate, uint32_t workers) {
  const auto made = planned("argus", known, rate, workers);
  const auto& m = *made.memory.as<argus_memory>();
  const auto* l = detail::ladder_of(known, ladder_kind::cached_latents);
  const auto kept = detail::kept_of(known, *l);
  // The sums use the shares of the load, whichever class has which share.
  reached out;
  double seconds = 0;
  double all = 0;
  for (size_t c = 0; c < made.share.size(); ++c)
    for (uint32_t v = 0; v < m.levels; ++v) {
      const double part = l->class_shares[c] * made.share[c][m.first_route + v];
      seconds += part * kept.levels[v].seconds;
      out.quality += part * kept.levels[v].quality;
      all += part;
    }
  out.quality /= all;
  out.refused = std::max(0.0, rate - workers * all / seconds);
  return out;
}

// Returns the levels of smaller models, which workers host: a plan from nothing
// is solved for these.
argus::ladder models_in(const profile& known) {
  return detail::kept_of(known,
                         *detail::ladder_of(known, ladder_kind::smaller_models))
    .levels;
}

reached shown_by(const std::vector<double>& load, const argus::ladder& levels,
                 double rate) {
  reached out;
  double all = 0;
  for (size_t v = 0; v < load.size(); ++v) {
    out.quality += load[v] * levels[v].quality;
    all += load[v];
  }
  out.quality /= std::max(all, 1e-12);
  out.refused = std::max(0.0, rate - all);
  return out;
}

reached by_argus_of_models(const profile& known, double rate,
                           uint32_t workers) {
  const auto levels = models_in(known);
  const auto found = argus::allocate_counts(levels, {rate, workers, {}, 0});
  BOOST_REQUIRE(found);
  return shown_by(found->load, levels, rate);
}

// Rounds the relaxed program's workers of each level down, and fills them with
// flows.
reached rounded_down(const profile& known, double rate, uint32_t workers) {
  const auto levels = models_in(known);
  const auto parts = argus::allocate_pooled(levels, {rate, workers, {}, 0});
  BOOST_REQUIRE(parts);
  std::vector<double> load;
  double left = rate;
  // Answers come first; among equal numbers of answers, the better levels come
  // first.
  for (size_t v = 0; v < levels.size(); ++v) {
    const double whole = std::floor(parts->load[v] * levels[v].seconds + 1e-6);
    load.push_back(std::min(left, whole / levels[v].seconds));
    left -= load.back();
  }
  return shown_by(load, levels, rate);
}

enum class kind_of_instance : uint8_t { latents, models, cascade };

profile random_instance(core::philox& random, kind_of_instance of) {
  switch (of) {
    case kind_of_instance::latents:
      return random_ladder(random);
    case kind_of_instance::models:
      return random_models(random);
    case kind_of_instance::cascade:
      break;
  }
  return random_cascade(random);
}

std::string_view name_of(kind_of_instance of) {
  constexpr std::string_view names[] = {"latents", "models", "cascade"};
  return names[static_cast<size_t>(of)];
}

// Returns the scaled number of instances, but at least `least`.
size_t instances(size_t all, size_t least) {
  return std::max(test::scaled(all), least);
}

// Returns whether the result for less demand is no worse.
bool no_worse(const reached& less, const reached& more) {
  constexpr double noise = 1e-5;
  const auto below = [](double a, double b) {
    return a < b - noise * (1 + std::abs(a) + std::abs(b));
  };
  if (below(more.refused, less.refused))
    return false;
  if (below(less.refused, more.refused))
    return true;
  if (below(more.shortfall, less.shortfall))
    return false;
  if (below(less.shortfall, more.shortfall))
    return true;
  return !below(less.quality, more.quality);
}

std::string shown(const reached& x) {
  return fmt::format("refused {:.6f}, missing {:.6f}, quality {:.6f}",
                     x.refused, x.shortfall, x.quality);
}

} // namespace

BOOST_AUTO_TEST_SUITE(demand_order_test)

// The counts of the best plan for more demand serve less of it as well, so the
// best plan for less is no worse: branch and bound finds it.
BOOST_AUTO_TEST_CASE(less_demand_is_not_planned_worse) {
  const auto all = instances(500, 50);
  for (size_t i = 0; i < all; ++i) {
    auto random = test::random_of(i);
    const auto kind = static_cast<kind_of_instance>(i % 3);
    const auto known = random_instance(random, kind);
    const auto workers = static_cast<uint32_t>(1 + random.below(64));
    const double rate =
      capacity(known, workers) * (0.05 + 1.45 * random.uniform());
    const double more = 1.02 * rate + 1e-6;
    const auto at = by_atelier(known, rate, workers);
    const auto above = by_atelier(known, more, workers);
    BOOST_TEST(no_worse(at, above),
               fmt::format("instance {}, {}, {} workers, {}/s: {}; at 1.02 of "
                           "it {}",
                           i, name_of(kind), workers, rate, shown(at),
                           shown(above)));
    if (kind == kind_of_instance::cascade)
      continue;
    const auto argus =
      kind == kind_of_instance::latents ? by_argus : by_argus_of_models;
    const auto a = argus(known, rate, workers);
    const auto b = argus(known, more, workers);
    BOOST_TEST(no_worse(a, b), "instance " << i << ", argus: " << shown(a)
                                           << "; at 1.02 of it " << shown(b));
  }
}

BOOST_AUTO_TEST_CASE(whole_devices_are_no_worse_than_parts_rounded_down) {
  for (size_t i = 0; i < test::scaled(5000); ++i) {
    auto random = test::random_of(i);
    const auto p = test::random_problem(random, {2, 20, 6, 10, 8, 60, true});
    check_against_rounding(p, "problem " + std::to_string(i));
  }
  for (size_t i = 0; i < instances(500, 50); ++i) {
    auto random = test::random_of(i);
    const auto kind = static_cast<kind_of_instance>(i % 3);
    const auto known = random_instance(random, kind);
    const auto workers = static_cast<uint32_t>(1 + random.below(64));
    const double rate =
      capacity(known, workers) * (0.05 + 1.45 * random.uniform());
    const auto where = fmt::format("instance {}, {}, {} workers, {}/s", i,
                                   name_of(kind), workers, rate);
    check_against_rounding(offered(known, rate, workers), where);
    if (kind != kind_of_instance::models)
      continue;
    const auto found = by_argus_of_models(known, rate, workers);
    const auto rounded = rounded_down(known, rate, workers);
    BOOST_TEST(no_worse(found, rounded), where << ", argus: " << shown(found)
                                               << "; rounded "
                                               << shown(rounded));
  }
}

BOOST_AUTO_TEST_CASE(a_tight_wait_budget_is_left_for_a_better_one) {
  const auto known = test::read_profile("wait-budget");
  double before = 0;
  for (int i = 100; i <= 110; ++i) {
    const auto x = by_atelier(known, i / 100.0, 8);
    BOOST_TEST(x.shortfall < 1e-6, i / 100.0 << "/s: " << shown(x));
    const auto gain = x.quality * i;
    BOOST_TEST(gain > 0);
    if (i > 100)
      BOOST_TEST(x.quality <= before + 1e-6, i / 100.0 << "/s: " << shown(x));
    before = x.quality;
  }
}

BOOST_AUTO_TEST_SUITE_END()
