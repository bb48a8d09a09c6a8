// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/atelier/problems.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/atelier/detail/lean_problem.hpp>
#include <atelier/planning/solver/linear_program.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::unified;

namespace {

bool same(const phase_values& a, const phase_values& b) {
  return !better(a, b) && !better(b, a);
}

// Programs are solved within tolerances, which a later phase can amplify. In
// some thousand instances, one had a shortfall .00006 below that of the best
// counts at equal refusals, and one had a shortfall .0001 above it with a
// larger gain.
bool close(double x, double y) {
  return std::abs(x - y) <= 2e-4 * (1 + std::abs(y));
}

bool near(const phase_values& a, const phase_values& b) {
  return close(a.refused, b.refused) && close(a.shortfall, b.shortfall)
      && close(a.gain, b.gain);
}

bool beats(const phase_values& a, const phase_values& b) {
  return better(a, b) && !near(a, b);
}

// Returns whether a decision is no worse than another within tolerances. If an
// earlier phase differs within them, the later phases had other bounds.
bool as_good(const phase_values& a, const phase_values& b) {
  constexpr double same_bound = 1e-6;
  for (const auto& [x, y] :
       {std::pair{a.refused, b.refused}, std::pair{a.shortfall, b.shortfall}}) {
    if (!close(x, y))
      return x < y;
    if (std::abs(x - y) > same_bound)
      return true;
  }
  return a.gain >= b.gain || close(a.gain, b.gain);
}

// Returns whether a decision is as good as the best one, and no better.
bool equals_best(const phase_values& a, const phase_values& best) {
  return as_good(a, best) && (as_good(best, a) || !beats(a, best));
}

// Returns whether a decision exceeds a bound that no decision can exceed.
bool above(const phase_values& a, const phase_values& bound) {
  constexpr double noise = 1e-7;
  if (std::abs(a.refused - bound.refused) > noise * (1 + bound.refused))
    return a.refused < bound.refused;
  if (std::abs(a.shortfall - bound.shortfall) > noise * (1 + bound.shortfall))
    return a.shortfall < bound.shortfall;
  return better({0, 0, a.gain}, {0, 0, bound.gain});
}

std::string shown(const phase_values& v) {
  return fmt::format("{:.10f}, {:.10f}, {:.10f}", v.refused, v.shortfall,
                     v.gain);
}

// Solves the program as it is written, for given devices, one phase after
// another.
phase_values written_out(const problem& p, const std::vector<uint32_t>& n) {
  linear_program lp;
  std::vector<std::vector<double>> gains(3);
  const auto column = [&](double most = lp_infinity) {
    for (auto& g : gains)
      g.push_back(0);
    return lp.add(lp_column{"", 0, 0, most, false});
  };
  lp_row refusals{"", {}, lp_relation::at_most, 1e6};
  lp_row shortfalls{"", {}, lp_relation::at_most, 1e6};
  std::vector<lp_column_id> x;
  for (const auto& c : p.columns) {
    x.push_back(column());
    gains[2].back() = c.mix ? 0 : c.quality;
  }
  for (uint32_t c = 0; c < p.classes.size(); ++c) {
    const auto u = column();
    gains[0].back() = -p.classes[c].weight;
    refusals.terms.push_back({u, p.classes[c].weight});
    lp_row all{"", {{u, 1}}, lp_relation::equal, p.classes[c].rate};
    lp_row floor{"",
                 {{u, p.classes[c].floor}},
                 lp_relation::at_least,
                 p.classes[c].floor * p.classes[c].rate};
    lp_row fresh{
      "", {{u, p.fresh}}, lp_relation::at_least, p.fresh * p.classes[c].rate};
    bool some = false;
    bool every = true;
    for (uint32_t i = 0; i < p.columns.size(); ++i) {
      if (p.columns[i].of != c)
        continue;
      all.terms.push_back({x[i], 1});
      floor.terms.push_back({x[i], p.columns[i].quality});
      if (p.columns[i].fresh)
        fresh.terms.push_back({x[i], 1});
      some = some || p.columns[i].fresh;
      every = every && p.columns[i].fresh;
    }
    lp.add(all);
    for (auto* row : {&floor, &fresh}) {
      if (row == &fresh && (!some || every || p.fresh <= 0))
        continue;
      if (row == &floor && p.classes[c].floor <= 0)
        continue;
      const auto s = column();
      gains[1].back() = -1;
      shortfalls.terms.push_back({s, 1});
      row->terms.push_back({s, 1});
      lp.add(*row);
    }
  }
  for (uint32_t h = 0; h < p.hostings.size(); ++h) {
    lp_row loads{"", {}, lp_relation::at_least, -1.0 * p.hostings[h].now};
    for (uint32_t k = 0; k < p.pools.size(); ++k) {
      if (p.pools[k].of != h)
        continue;
      const auto a = column(n[k]);
      gains[2].back() = -p.load_price * p.hostings[h].load_seconds;
      loads.bound += n[k];
      loads.terms.push_back({a, 1});
      const double part = std::min(1.0, p.hostings[h].load_seconds / p.period);
      const double busy = busy_of(p.pools[k], n[k]);
      lp_row work{"", {{a, busy * part}}, lp_relation::at_most, busy * n[k]};
      for (uint32_t i = 0; i < p.columns.size(); ++i) {
        double w = 0;
        for (const pool_work& one : p.columns[i].works())
          w += one.pool == k ? one.seconds : 0;
        if (w > 0)
          work.terms.push_back({x[i], w});
      }
      lp.add(work);
    }
    lp.add(loads);
  }
  for (uint32_t m = 0; m < p.mixes.size(); ++m) {
    const auto z = column();
    gains[2].back() = 1;
    for (const auto& s : p.mixes[m].segments) {
      lp_row row{"", {{z, 1}}, lp_relation::at_most, 0};
      for (uint32_t i = 0; i < p.columns.size(); ++i)
        if (p.columns[i].mix == m)
          row.terms.push_back({x[i], -s.light * p.columns[i].light - s.all});
      lp.add(row);
    }
  }
  const auto cap_refused = lp.add(refusals);
  const auto cap_short = lp.add(shortfalls);
  double value[3] = {};
  for (size_t phase = 0; phase < 3; ++phase) {
    for (size_t i = 0; i < lp.columns.size(); ++i)
      lp.columns[i].gain = gains[phase][i];
    auto at = planning::solve(lp);
    if (!at) {
      // The phases before leave so little room that rounding errors would fail
      // the solver.
      for (size_t i = 0; i < phase; ++i)
        lp.rows[(i == 0 ? cap_refused : cap_short).value].bound += 1e-6;
      at = planning::solve(lp);
    }
    BOOST_REQUIRE_MESSAGE(static_cast<bool>(at),
                          "phase " << phase << ": "
                                   << (at ? "" : at.why().text));
    BOOST_REQUIRE(at->has_values());
    value[phase] = at->objective;
    if (phase == 0)
      lp.rows[cap_refused.value].bound = -value[0] + 1e-8;
    if (phase == 1)
      lp.rows[cap_short.value].bound = -value[1] + 1e-8;
  }
  return {std::max(0.0, -value[0]), std::max(0.0, -value[1]), value[2]};
}

// Returns the best result of all assignments of whole devices to pools.
phase_values best_of_all(const problem& p) {
  std::vector<uint32_t> n(p.pools.size(), 0);
  std::optional<phase_values> best;
  const auto next = [&](auto& self, size_t k) -> void {
    if (k == n.size()) {
      const auto v = written_out(p, n);
      if (!best || better(v, *best))
        best = v;
      return;
    }
    const auto kind = p.hostings[p.pools[k].of].kind;
    uint32_t left = p.kinds[kind].alive;
    for (size_t i = 0; i < k; ++i)
      if (p.hostings[p.pools[i].of].kind == kind)
        left -= n[i];
    for (n[k] = 0; n[k] <= left; ++n[k])
      self(self, k + 1);
    n[k] = 0;
  };
  next(next, 0);
  return *best;
}

// Returns a full variant of 2 s with a quality of 1 and a light variant of half
// a second with 0.5, each with its own hosting.
problem two_variants(uint32_t devices, double rate) {
  problem p;
  p.kinds = {{"cuda", devices}};
  p.hostings = {{0, devices, 10}, {0, 0, 10}};
  p.pools = {{0, 1}, {1, 1}};
  p.classes = {{"all", rate, 0, 1}};
  column full;
  full.quality = 1;
  full.legs = 1;
  full.work[0] = {0, 2};
  column light;
  light.key = 1;
  light.quality = 0.5;
  light.legs = 1;
  light.work[0] = {1, 0.5};
  p.columns = {full, light};
  return p;
}

// Adds a pool that answers all that another one does, and waits longer.
void add_replacement(problem& p, uint32_t of) {
  auto other = p.pools[of];
  other.wait *= 2;
  ++other.seats;
  const auto at = static_cast<uint32_t>(p.pools.size());
  p.pools.push_back(other);
  for (size_t i = 0, all = p.columns.size(); i < all; ++i) {
    auto c = p.columns[i];
    bool used = false;
    for (uint32_t l = 0; l < c.legs; ++l)
      if (c.work[l].pool == of) {
        c.work[l].pool = at;
        used = true;
      }
    if (used)
      p.columns.push_back(c);
  }
}

decision solved(const problem& p, const solve_options& with = {}) {
  auto d = unified::solve(p, with);
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(d), (d ? "" : d.why().text));
  test::check_decision(p, *d);
  return std::move(*d);
}

} // namespace

BOOST_AUTO_TEST_SUITE(unified_solve_test)

BOOST_AUTO_TEST_CASE(what_can_run_in_full_does) {
  const auto d = solved(two_variants(4, 1.5));
  BOOST_TEST(d.count[0] == 4u);
  BOOST_TEST(d.taken[0] == 1.5, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(d.values.gain == 1.5, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(more_load_moves_devices_to_the_light_variant) {
  // n full workers serve n/2, and each other worker serves 2, less a sixth
  // during its load.
  const auto d = solved(two_variants(4, 3));
  BOOST_TEST(d.count[1] >= 1u);
  BOOST_TEST(d.values.refused < 1e-6);
  BOOST_TEST(d.taken[0] + d.taken[1] == 3.0,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST((better(d.bound, d.values) || same(d.bound, d.values)));
}

BOOST_AUTO_TEST_CASE(too_much_load_is_refused_and_the_least_weight_first) {
  auto p = two_variants(2, 100);
  p.classes.push_back({"dear", 1, 0, 3});
  auto c = p.columns[1];
  c.of = 1;
  p.columns.push_back(c);
  const auto d = solved(p);
  BOOST_TEST(d.refused[0] > 90.0);
  BOOST_TEST(d.refused[1] < 1e-6);
  // One more device would refuse fewer requests.
  BOOST_TEST(d.worth[0] > 0.0);
  // Without any device everything is refused, and that is a valid plan.
  p.kinds[0].alive = 0;
  p.hostings[0].now = 0;
  const auto none = solved(p);
  BOOST_TEST(none.values.refused == 103.0, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(floors_give_way_before_requests_are_refused) {
  auto p = two_variants(1, 1.5);
  p.classes[0].floor = 1;
  const auto d = solved(p);
  BOOST_TEST(d.values.refused < 1e-6);
  BOOST_TEST(d.values.shortfall > 0.1);
}

BOOST_AUTO_TEST_CASE(loads_that_take_the_whole_period_are_not_made) {
  auto p = two_variants(4, 3);
  p.hostings[1].load_seconds = 100;
  const auto d = solved(p);
  BOOST_TEST(d.count[1] == 0u);
  BOOST_TEST(d.values.refused == 1.0, boost::test_tools::tolerance(1e-6));
  // The result is the same if loading is expensive.
  auto dear = two_variants(4, 2.1);
  dear.hostings[1].load_seconds = 1;
  BOOST_TEST(solved(dear).count[1] > 0u);
}

BOOST_AUTO_TEST_CASE(a_mix_stops_at_its_best_share) {
  auto p = two_variants(8, 2);
  p.hostings[1].now = 4;
  p.hostings[0].now = 4;
  // A share of 0.4 light answers is best, although all could be drawn in full.
  p.mixes = {{segments_of(envelope({{0, 0.8}, {0.4, 1}, {1, 0.7}}, 8))}};
  for (auto& c : p.columns)
    c.mix = 0;
  p.columns[1].light = 1;
  const auto d = solved(p);
  BOOST_TEST(d.taken[1] == 0.8, boost::test_tools::tolerance(1e-5));
  BOOST_TEST(d.values.gain == 2.0, boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(some_answers_stay_fresh) {
  auto p = two_variants(4, 1);
  // This route starts from a cached state, is as good and takes less time.
  p.columns[1].quality = 1.1;
  p.columns[1].work[0] = {0, 1};
  p.columns[0].fresh = true;
  BOOST_TEST(solved(p).taken[0] < 1e-6);
  p.fresh = 0.05;
  BOOST_TEST(solved(p).taken[0] == 0.05, boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(waits_leave_pools_room) {
  auto p = two_variants(4, 1.9);
  for (auto& k : p.pools)
    k.wait = 0.25;
  const auto d = solved(p);
  // Four full devices would be busy for 95 % of the time.
  BOOST_TEST(d.taken[0] < 1.7);
}

BOOST_AUTO_TEST_CASE(decisions_equal_trying_every_count) {
  const size_t loops = test::scaled(10'000);
  solve_options rough;
  rough.exact_devices = 0;
  size_t equal = 0;
  double compared = 0;
  double lost = 0;
  for (size_t i = 0; i < loops; ++i) {
    auto random = test::random_of(i);
    const auto p = test::random_problem(random, {});
    const auto truth = best_of_all(p);
    solve_options exact;
    exact.exact_nodes = 1'000'000;
    exact.gap = 0;
    const auto d = solved(p, exact);
    BOOST_REQUIRE_MESSAGE(equals_best(d.values, truth),
                          "instance " << i << ": " << shown(d.values)
                                      << " is not " << shown(truth));
    BOOST_REQUIRE_MESSAGE(!above(d.values, d.bound),
                          "instance " << i << ": above its bound");
    const auto r = solved(p, rough);
    BOOST_REQUIRE_MESSAGE(!beats(r.values, truth), "instance " << i);
    equal += same(r.values, truth) ? 1u : 0u;
    if (std::abs(r.values.refused - truth.refused) < 1e-6
        && std::abs(r.values.shortfall - truth.shortfall) < 1e-6
        && truth.gain > 1e-3) {
      compared += truth.gain;
      lost += truth.gain - r.values.gain;
    }
  }
  BOOST_TEST_MESSAGE("rounding finds the best of "
                     << equal << " of " << loops
                     << "; where it refuses and lacks no more it loses "
                     << 100 * lost / std::max(compared, 1e-9)
                     << " % of the quality");
}

// A busy share that rises with the devices of a pool, and pools that others
// replace.
BOOST_AUTO_TEST_CASE(decisions_with_waits_equal_trying_every_count) {
  size_t replaced = 0;
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    auto p = test::random_problem(random, {2, 6, 3, 2, 3, 10, true});
    const auto whole = p.columns.size();
    add_replacement(p, static_cast<uint32_t>(random.below(p.pools.size())));
    const auto truth = best_of_all(p);
    solve_options exact;
    exact.exact_nodes = 1'000'000;
    exact.looks = 0;
    exact.gap = 0;
    const auto d = solved(p, exact);
    BOOST_REQUIRE_MESSAGE(equals_best(d.values, truth),
                          "instance " << i << ": " << shown(d.values)
                                      << " is not " << shown(truth));
    replaced += without_replaceable(p).origin.size() == whole ? 1u : 0u;
  }
  BOOST_TEST(replaced > 0u);
}

BOOST_AUTO_TEST_CASE(pools_that_answer_less_are_left_out) {
  auto p = two_variants(4, 1);
  const auto count = [&] {
    return without_replaceable(p).asked.columns.size();
  };
  BOOST_TEST(count() == 2u);
  add_replacement(p, 0);
  BOOST_REQUIRE(p.columns.size() == 3u);
  BOOST_TEST((without_replaceable(p).origin == std::vector<uint32_t>{1, 2}));
  const auto changed = [&](auto change) {
    const auto before = p;
    change();
    const auto out = count();
    p = before;
    return out;
  };
  // More work, another answer, another class, less busy devices, or another
  // hosting is no replacement.
  BOOST_TEST(changed([&] { p.columns[2].work[0].seconds *= 1.01; }) == 3u);
  BOOST_TEST(changed([&] { p.columns[2].quality = 0.9; }) == 3u);
  BOOST_TEST(changed([&] { p.columns[2].fresh = true; }) == 3u);
  BOOST_TEST(changed([&] { p.columns[2].key = 8; }) == 3u);
  BOOST_TEST(changed([&] { p.pools[2].busy = 0.5; }) == 3u);
  BOOST_TEST(changed([&] { p.pools[2].of = 1; }) == 3u);
  // A pool that answers more stays.
  auto more = p.columns[0];
  more.key = 9;
  p.columns.push_back(more);
  BOOST_TEST(count() == 4u);
  // The decision has the columns of the whole problem.
  BOOST_TEST(solved(p).taken.size() == 4u);
}

BOOST_AUTO_TEST_CASE(generated_columns_are_as_good_as_all) {
  const size_t loops = test::scaled(10'000);
  for (size_t i = 0; i < loops; ++i) {
    auto random = test::random_of(i);
    const auto p = test::random_problem(random, {2, 20, 6, 8, 6, 120, false});
    solve_options generated;
    generated.exact_devices = 0;
    generated.rounds = 100;
    generated.gap = 0;
    solve_options all = generated;
    all.rounds = 0;
    const auto a = solved(p, generated);
    const auto b = solved(p, all);
    BOOST_REQUIRE_MESSAGE(same(a.bound, b.bound),
                          "instance " << i << ": " << shown(a.bound)
                                      << " is not " << shown(b.bound));
  }
}

BOOST_AUTO_TEST_CASE(decisions_with_waits_hold_their_constraints) {
  double gap = 0;
  size_t counted = 0;
  const size_t loops = test::scaled(10'000);
  for (size_t i = 0; i < loops; ++i) {
    auto random = test::random_of(i);
    const auto p = test::random_problem(random, {2, 200, 6, 10, 8, 100, true});
    const auto d = solved(p);
    BOOST_REQUIRE_MESSAGE(!above(d.values, d.bound),
                          "instance " << i << ": " << shown(d.values)
                                      << " is above " << shown(d.bound));
    if (d.bound.refused < 1e-6 && d.values.refused < 1e-6 && d.bound.gain > 1e-3
        && d.bound.shortfall < 1e-6 && d.values.shortfall < 1e-6) {
      ++counted;
      gap += 1 - d.values.gain / d.bound.gain;
    }
  }
  BOOST_TEST_MESSAGE("without refusals and shortfalls ("
                     << counted << " of " << loops << ") whole devices lie "
                     << 100 * gap
                          / static_cast<double>(std::max<size_t>(counted, 1))
                     << " % below the bound in the mean");
}

BOOST_AUTO_TEST_CASE(one_more_device_never_makes_it_worse) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    auto p = test::random_problem(random, {});
    solve_options exact;
    exact.exact_nodes = 1'000'000;
    const auto before = solved(p, exact);
    ++p.kinds[random.below(p.kinds.size())].alive;
    const auto after = solved(p, exact);
    BOOST_REQUIRE_MESSAGE(!better(before.values, after.values),
                          "instance " << i);
  }
}

BOOST_AUTO_TEST_CASE(given_counts_are_kept) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto p = test::random_problem(random, {});
    std::vector<uint32_t> n(p.pools.size(), 0);
    for (size_t k = 0; k < n.size(); ++k)
      n[k] = static_cast<uint32_t>(random.below(2));
    solve_options exact;
    exact.gap = 0;
    const auto d = spread(p, n, exact);
    BOOST_REQUIRE(static_cast<bool>(d));
    BOOST_REQUIRE(d->count == n);
    const auto truth = written_out(p, n);
    // A phase may use the slack that the tolerance of earlier phases leaves.
    const phase_values first{d->values.refused, d->values.shortfall,
                             truth.gain};
    BOOST_REQUIRE_MESSAGE(same(first, truth)
                            && std::abs(d->values.gain - truth.gain) < 1e-4,
                          "instance " << i << ": " << shown(d->values)
                                      << " against " << shown(truth));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_problem_is_refused) {
  const auto refused = [](auto change) {
    auto p = two_variants(2, 1);
    change(p);
    const auto d = unified::solve(p);
    BOOST_REQUIRE(!d);
    BOOST_TEST((d.why().code == core::ec::invalid_argument), d.why().text);
  };
  refused([](problem& p) { p.classes[0].rate = -1; });
  refused([](problem& p) { p.classes[0].rate = std::nan(""); });
  refused([](problem& p) { p.columns[0].of = 7; });
  refused([](problem& p) { p.columns[1].work[0].pool = 2; });
  refused([](problem& p) { p.columns[1].legs = 4; });
  refused([](problem& p) { p.columns[1].mix = 0; });
  refused([](problem& p) { p.pools[0].busy = 0; });
  refused([](problem& p) { p.pools[1].of = 2; });
  refused([](problem& p) { p.hostings[0].kind = 1; });
  refused([](problem& p) { p.mixes.emplace_back(); });
  refused([](problem& p) { p.period = std::nan(""); });
  BOOST_TEST(!spread(two_variants(2, 1), std::vector<uint32_t>{1}));
}

BOOST_AUTO_TEST_SUITE_END()
