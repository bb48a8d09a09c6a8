// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/argus/ladders.hpp"
#include "planning/policies/argus/literal_allocation.hpp"
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/bench/papers/policies/argus_allocations.hpp>
#include <atelier/planning/policies/argus/allocation.hpp>
#include <atelier/planning/policies/argus/shift.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::argus;
using papers::allocate_alone;
using papers::allocate_fixed;

namespace {

load_to_place load(double rate, uint32_t workers,
                   std::vector<uint32_t> hosting = {}) {
  return {rate, workers, std::move(hosting), 0};
}

double sum_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0);
}

uint32_t sum_of(const std::vector<uint32_t>& x) {
  return std::accumulate(x.begin(), x.end(), 0u);
}

void check_sound(const ladder& levels, const allocation& a,
                 const load_to_place& asked) {
  BOOST_REQUIRE_SMALL(sum_of(a.share) - 1, 1e-9);
  BOOST_REQUIRE(sum_of(a.workers) <= asked.workers);
  for (size_t v = 0; v < levels.size(); ++v) {
    BOOST_REQUIRE(a.load[v] >= 0);
    if (!a.workers.empty())
      BOOST_REQUIRE(a.load[v] <= levels[v].rate() * a.workers[v] + 1e-6);
  }
  if (!a.saturated)
    BOOST_REQUIRE_SMALL(sum_of(a.load) - asked.rate, 1e-6);
}

// Draws a rate below what all workers serve on the fastest level.
double some_rate(core::philox& random, const ladder& levels, uint32_t workers) {
  return levels.back().rate() * workers * random.uniform() * 0.999;
}

} // namespace

BOOST_AUTO_TEST_SUITE(argus_allocation_test)

BOOST_AUTO_TEST_CASE(no_load_runs_on_the_best_level) {
  const auto levels = test::six_levels();
  for (const auto& a : {allocate_counts(levels, load(0, 8)),
                        allocate_pooled(levels, load(0, 8)),
                        allocate_alone(levels, load(0, 8))}) {
    BOOST_REQUIRE(static_cast<bool>(a));
    BOOST_TEST(a->share[0] == 1.0);
    BOOST_TEST(!a->saturated);
    BOOST_TEST(a->quality == 0.0);
  }
  BOOST_TEST(allocate_counts(levels, load(0, 8))->workers[0] == 8u);
}

BOOST_AUTO_TEST_CASE(overload_runs_on_the_fastest_level_and_says_so) {
  const auto levels = test::six_levels();
  const double most = 8 / 2.1;
  for (const auto& a : {allocate_counts(levels, load(most * 1.5, 8)),
                        allocate_pooled(levels, load(most * 1.5, 8))}) {
    BOOST_REQUIRE(static_cast<bool>(a));
    BOOST_TEST(a->saturated);
    BOOST_TEST(a->share[5] == 1.0);
    BOOST_TEST(sum_of(a->load) == most, boost::test_tools::tolerance(1e-9));
  }
  const auto full = allocate_counts(levels, load(most, 8));
  BOOST_TEST(full->workers[5] == 8u);
  BOOST_TEST(!full->saturated);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_solved_is_refused) {
  const auto levels = test::six_levels();
  const auto code = [](const auto& r) {
    return r ? core::ec::none : r.why().code;
  };
  using core::ec;
  BOOST_TEST((code(allocate_counts({}, load(1, 8))) == ec::invalid_argument));
  BOOST_TEST((code(allocate_counts(levels, load(1, 0))) == ec::unavailable));
  for (const double rate : {-1.0, double{NAN}, lp_infinity})
    BOOST_TEST(
      (code(allocate_pooled(levels, load(rate, 8))) == ec::invalid_argument));
  auto broken = levels;
  broken[2].seconds = 0;
  BOOST_TEST(
    (code(allocate_counts(broken, load(1, 8))) == ec::invalid_argument));
  BOOST_TEST(
    (code(allocate_fixed(levels, load(1, 8), 6)) == ec::invalid_argument));
  lp_limits none;
  none.stop = [] { return true; };
  BOOST_TEST(
    (code(allocate_counts(levels, load(3, 8), none)) == ec::unavailable));
}

BOOST_AUTO_TEST_CASE(workers_that_are_not_needed_stay_where_they_are) {
  const auto levels = test::six_levels();
  // Two workers suffice on the first level.
  const auto fresh = allocate_counts(levels, load(0.4, 4));
  BOOST_TEST((fresh->workers == std::vector<uint32_t>{4, 0, 0, 0, 0, 0}));
  const auto stays = allocate_counts(levels, load(0.4, 4, {1, 0, 0, 1, 0, 2}));
  BOOST_TEST((stays->workers == std::vector<uint32_t>{2, 0, 0, 1, 0, 1}));
  const auto joins = allocate_counts(levels, load(0.4, 5, {1, 0, 0, 0, 0, 1}));
  BOOST_TEST((joins->workers == std::vector<uint32_t>{4, 0, 0, 0, 0, 1}));
}

BOOST_AUTO_TEST_CASE(loads_that_cost_more_than_they_gain_are_not_made) {
  auto levels = test::six_levels();
  for (level& v : levels)
    v.load_seconds = 10;
  auto asked = load(2.0, 8, {0, 0, 0, 0, 0, 8});
  const auto cheap = allocate_counts(levels, asked);
  BOOST_TEST(cheap->workers[5] < 8u);
  asked.load_price = 1;
  const auto dear = allocate_counts(levels, asked);
  BOOST_TEST(dear->workers[5] == 8u);
  BOOST_TEST(dear->quality < cheap->quality);
}

BOOST_AUTO_TEST_CASE(counts_equal_trying_every_plan) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto levels = test::random_ladder(random, 1 + random.below(4));
    const auto workers = static_cast<uint32_t>(1 + random.below(8));
    const auto asked = load(some_rate(random, levels, workers), workers);
    double best = -1;
    test::each_count(levels.size(), workers, [&](const auto& n) {
      best = std::max(best, test::filled(levels, n, asked.rate));
    });
    const auto a = allocate_counts(levels, asked);
    BOOST_REQUIRE_MESSAGE(static_cast<bool>(a), "instance " << i);
    check_sound(levels, *a, asked);
    BOOST_REQUIRE_MESSAGE(std::abs(a->quality - best) < 1e-6,
                          "instance " << i << ": " << a->quality
                                      << " instead of " << best);
  }
}

BOOST_AUTO_TEST_CASE(the_published_form_equals_the_counts) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto levels = test::random_ladder(random, 1 + random.below(3));
    const auto workers = static_cast<uint32_t>(1 + random.below(4));
    const auto asked = load(some_rate(random, levels, workers), workers);
    const auto counts = allocate_counts(levels, asked);
    const auto literal = test::allocate_literal(levels, asked);
    BOOST_REQUIRE_MESSAGE(counts && literal, "instance " << i);
    check_sound(levels, *literal, asked);
    BOOST_REQUIRE_MESSAGE(std::abs(counts->quality - literal->quality) < 1e-6,
                          "instance " << i);
  }
}

BOOST_AUTO_TEST_CASE(the_published_form_has_no_plan_in_overload) {
  const auto levels = test::six_levels();
  const auto a = test::allocate_literal(levels, load(5, 2));
  BOOST_REQUIRE(!a);
  BOOST_TEST(a.why().text.find("infeasible") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(pools_are_never_worse_than_counts) {
  const size_t loops = test::scaled(100'000);
  size_t better = 0;
  double gain = 0;
  for (size_t i = 0; i < loops; ++i) {
    auto random = test::random_of(i);
    const auto levels = test::random_ladder(random, 1 + random.below(6));
    const auto workers = static_cast<uint32_t>(1 + random.below(16));
    const auto asked = load(some_rate(random, levels, workers), workers);
    const auto counts = allocate_counts(levels, asked);
    const auto pooled = allocate_pooled(levels, asked);
    BOOST_REQUIRE_MESSAGE(counts && pooled, "instance " << i);
    check_sound(levels, *pooled, asked);
    double busy = 0;
    for (size_t v = 0; v < levels.size(); ++v)
      busy += pooled->load[v] * levels[v].seconds;
    BOOST_REQUIRE(busy <= workers + 1e-6);
    BOOST_REQUIRE_MESSAGE(pooled->quality >= counts->quality - 1e-6,
                          "instance " << i << ": " << pooled->quality << " < "
                                      << counts->quality);
    if (pooled->quality > counts->quality * (1 + 1e-6) + 1e-9) {
      ++better;
      gain += pooled->quality / std::max(counts->quality, 1e-9) - 1;
    }
  }
  BOOST_TEST_MESSAGE("pooled better in "
                     << better << " of " << loops << ", by a mean of "
                     << 100 * gain
                          / static_cast<double>(std::max<size_t>(better, 1))
                     << " % of quality");
  BOOST_TEST(better > 0u);
}

BOOST_AUTO_TEST_CASE(pools_equal_the_linear_programme) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto levels = test::random_ladder(random, 1 + random.below(7));
    const auto asked = load(some_rate(random, levels, 9), 9);
    linear_program p;
    lp_row all{"load", {}, lp_relation::equal, asked.rate};
    lp_row busy{"busy", {}, lp_relation::at_most, 9};
    for (const level& v : levels) {
      const auto f = p.add(lp_column{v.name, v.quality});
      all.terms.push_back({f, 1});
      busy.terms.push_back({f, v.seconds});
    }
    p.add(all);
    p.add(busy);
    const auto best = solve(p);
    const auto a = allocate_pooled(levels, asked);
    BOOST_REQUIRE(best && best->has_values() && a);
    BOOST_REQUIRE_MESSAGE(std::abs(best->objective - a->quality) < 1e-6,
                          "instance " << i);
  }
}

BOOST_AUTO_TEST_CASE(each_worker_runs_only_what_it_has_loaded) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto levels = test::random_ladder(random, 1 + random.below(3));
    std::vector<worker_group> groups(1 + random.below(3));
    double most = 0;
    for (worker_group& g : groups) {
      g.count = static_cast<uint32_t>(1 + random.below(3));
      g.can.assign(levels.size(), 0);
      g.can[random.below(levels.size())] = 1;
      g.can[random.below(levels.size())] = 1;
      for (size_t v = levels.size(); v-- > 0;)
        if (g.can[v] != 0) {
          most += levels[v].rate() * g.count;
          break;
        }
    }
    const double rate = random.uniform() * most * 1.2;
    const double wanted = std::min(1.5 * rate, most);
    // Tries every way to distribute the members of each group.
    double best = -1;
    std::vector<uint32_t> n(levels.size(), 0);
    const std::function<void(size_t)> go = [&](size_t at) {
      if (at == groups.size()) {
        best = std::max(best, test::filled(levels, n, wanted - 1e-9));
        return;
      }
      test::each_count(levels.size(), groups[at].count, [&](const auto& part) {
        for (size_t v = 0; v < levels.size(); ++v)
          if (part[v] > 0 && groups[at].can[v] == 0)
            return;
        for (size_t v = 0; v < levels.size(); ++v)
          n[v] += part[v];
        go(at + 1);
        for (size_t v = 0; v < levels.size(); ++v)
          n[v] -= part[v];
      });
    };
    go(0);
    const auto a = allocate_limited(levels, rate, groups);
    BOOST_REQUIRE_MESSAGE(static_cast<bool>(a), "instance " << i);
    BOOST_REQUIRE(a->saturated == (rate > most));
    BOOST_REQUIRE_SMALL(sum_of(a->load) - std::min(rate, most), 1e-6);
    const double scale = std::min(rate, most) / std::max(wanted, 1e-12);
    BOOST_REQUIRE_MESSAGE(std::abs(a->quality - best * scale) < 1e-6,
                          "instance " << i << ": " << a->quality
                                      << " instead of " << best * scale);
  }
}

BOOST_AUTO_TEST_CASE(a_worker_with_nothing_loaded_counts_for_nothing) {
  const auto levels = test::six_levels();
  const std::vector<worker_group> none{{4, std::vector<char>(6, 0)}};
  BOOST_TEST(
    (allocate_limited(levels, 1, none).why().code == core::ec::unavailable));
  const std::vector<worker_group> one{{4, std::vector<char>(6, 0)},
                                      {1, {1, 0, 0, 0, 0, 0}}};
  const auto a = allocate_limited(levels, 1, one);
  BOOST_TEST(a->saturated);
  BOOST_TEST(a->workers[0] == 1u);
}

BOOST_AUTO_TEST_CASE(baselines_allocate_as_described) {
  const auto levels = test::six_levels();
  const auto heavy = allocate_fixed(levels, load(3, 8), 0);
  BOOST_TEST(heavy->saturated);
  BOOST_TEST(heavy->workers[0] == 8u);
  BOOST_TEST(heavy->share[0] == 1.0);
  const auto light = allocate_fixed(levels, load(3, 8), 5);
  BOOST_TEST(!light->saturated);
  BOOST_TEST(light->load[5] == 3.0);
  // Each worker gets 0.25 requests a second, 4 s each, which level K=5 serves
  // in 3.78 s.
  const auto alone = allocate_alone(levels, load(2, 8));
  BOOST_TEST(alone->workers[1] == 8u);
  const auto too_much = allocate_alone(levels, load(9, 8));
  BOOST_TEST(too_much->workers[5] == 8u);
  BOOST_TEST(too_much->saturated);
  const auto mixed = allocate_pooled(levels, load(2.2, 8));
  std::vector<double> drawn(6, 0.0);
  auto random = test::random_of(0);
  for (size_t i = 0; i < 20'000; ++i)
    drawn[draw_level(mixed->share, random)] += 1.0 / 20'000;
  for (size_t v = 0; v < 6; ++v)
    BOOST_TEST(std::abs(drawn[v] - mixed->share[v]) < 0.02);
}

BOOST_AUTO_TEST_SUITE_END()
