// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/argus/settled.hpp>
#include <atelier/planning/policies/diffserve/settled.hpp>
#include <atelier/planning/settling.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;
using test::at_s;

namespace {

demand_window window_at(int64_t begin_s, uint64_t arrived) {
  demand_window w;
  w.begin = at_s(begin_s);
  w.length = std::chrono::seconds{1};
  w.arrived = arrived;
  return w;
}

// Light batches of one take .1 s, of four .2 s, and heavy images 1 s.
diffserve::cascade_problem cascade_at(double demand) {
  diffserve::cascade_problem p;
  p.light.batches = {{1, 0.1}, {4, 0.2}};
  p.heavy.variant = core::variant_id{1};
  p.heavy.batches = {{1, 1}};
  for (size_t k = 0; k < p.deferred.size(); ++k)
    p.deferred[k] = diffserve::threshold_at(k);
  p.demand = demand;
  p.workers = 16;
  p.slo = 5;
  return p;
}

} // namespace

BOOST_AUTO_TEST_SUITE(settling_test)

BOOST_AUTO_TEST_CASE(a_change_is_made_when_it_was_worth_it_for_long_enough) {
  settling state;
  hosting_change x;
  x.moves = 1;
  x.workers = 16;
  x.load_seconds = 40;
  // A gain of a sixteenth for forty seconds is .42 % over ten minutes, and at
  // least .5 is needed.
  x.gain = 0.004;
  BOOST_TEST(!worth_moving(state, x, at_s(0)));
  BOOST_TEST(!state.better_since);
  x.gain = 0.006;
  BOOST_TEST(!worth_moving(state, x, at_s(10)));
  BOOST_TEST(!worth_moving(state, x, at_s(129)));
  BOOST_TEST(worth_moving(state, x, at_s(130)));
  // An interruption restarts the wait.
  BOOST_TEST(!worth_moving(state, x, at_s(140)));
  x.gain = -1;
  BOOST_TEST(!worth_moving(state, x, at_s(200)));
  x.gain = 0.006;
  BOOST_TEST(!worth_moving(state, x, at_s(261)));
  // More or longer loads need a larger gain.
  x.moves = 8;
  BOOST_TEST(!worth_moving(state, x, at_s(1000)));
  BOOST_TEST(!state.better_since);
}

BOOST_AUTO_TEST_CASE(a_choice_is_kept_for_as_long_as_it_was_prepared) {
  BOOST_TEST(rules_after(0).patience == 0.0);
  BOOST_TEST(rules_after(30).patience == 15.0);
  BOOST_TEST(rules_after(1'000).patience == settling_rules{}.patience);
  BOOST_TEST(rules_after(30).least_gain == settling_rules{}.least_gain);
}

BOOST_AUTO_TEST_CASE(a_steady_rate_averages_over_long_and_follows_a_jump) {
  std::vector<demand_window> all;
  steady_rate s;
  auto random = test::random_of(0);
  for (int64_t t = 0; t < 900; ++t) {
    all.push_back(window_at(t, 2 + random.below(5)));
    if (all.size() > 20)
      all.erase(all.begin());
    s = with(s, all, 120);
  }
  BOOST_TEST(std::abs(s.value() - 4) < 1);
  BOOST_TEST((with(s, all, 120) == s));
  for (int64_t t = 900; t < 905; ++t) {
    all.push_back(window_at(t, 40));
    all.erase(all.begin());
    s = with(s, all, 120);
  }
  BOOST_TEST(s.value() > 25.0);
  for (int64_t t = 905; t < 925; ++t) {
    all.push_back(window_at(t, 0));
    all.erase(all.begin());
    s = with(s, all, 120);
  }
  BOOST_TEST(s.value() < 1.0);
  BOOST_TEST(with(steady_rate{}, std::span<const demand_window>{}, 120).value()
             == 0.0);
}

BOOST_AUTO_TEST_CASE(a_cascades_split_stays_while_it_serves) {
  const auto first = *diffserve::allocate(cascade_at(20));
  settling state;
  const auto at = [&](double demand, int64_t now_s) {
    return *diffserve::allocate_settled(diffserve::allocate, cascade_at(demand),
                                        {}, 20, first, state, at_s(now_s));
  };
  BOOST_TEST(at(20, 0).light == first.light);
  // The headroom is a tenth above what its light workers serve.
  const double serves = first.light * 4 / 0.2;
  BOOST_TEST(at(serves * 1.05, 5).light == first.light);
  BOOST_TEST(at(serves * 1.2, 10).light > first.light);
  // A plan for another number of workers keeps nothing.
  auto fewer = cascade_at(20);
  fewer.workers = 8;
  BOOST_TEST((*diffserve::allocate_settled(diffserve::allocate, fewer, {}, 20,
                                           first, state, at_s(20))
              == *diffserve::allocate(fewer)));
}

BOOST_AUTO_TEST_CASE(a_given_split_is_a_cascades_best_with_it) {
  for (uint32_t light = 0; light <= 16; ++light) {
    auto p = cascade_at(20);
    p.light_workers = light;
    const auto made = diffserve::allocate(p);
    if (light < 1) {
      BOOST_TEST(!made);
      continue;
    }
    BOOST_REQUIRE(made);
    BOOST_TEST(made->light == light);
    BOOST_TEST(made->heavy == 16 - light);
    BOOST_TEST(made->threshold
               <= diffserve::allocate(cascade_at(20))->threshold);
  }
}

BOOST_AUTO_TEST_CASE(given_levels_take_the_load_best_first) {
  argus::ladder levels(2);
  levels[0].seconds = 1;
  levels[0].quality = 1;
  levels[1].seconds = 0.5;
  levels[1].quality = 0.8;
  levels[1].load_seconds = levels[0].load_seconds = 10;
  const std::vector<uint32_t> workers{2, 2};
  const auto x = argus::allocate_within(levels, 3, workers);
  BOOST_REQUIRE(x);
  BOOST_TEST(x->load[0] == 2.0, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(x->load[1] == 1.0, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(argus::allocate_within(levels, 7, workers)->saturated);
  // A plan for less load is followed only after a while.
  settling state;
  argus::load_to_place asked;
  asked.rate = 3;
  asked.workers = 4;
  const auto best = *argus::allocate_counts(levels, asked);
  BOOST_TEST((best.workers != workers));
  double deviation = 0.1;
  const auto at = [&](double rate, int64_t now_s) {
    return argus::allocate_settled(levels, rate, rate, best, workers, state,
                                   at_s(now_s), deviation)
      ->workers;
  };
  BOOST_TEST((at(3, 0) == workers));
  BOOST_TEST((at(3, 119) == workers));
  BOOST_TEST((at(3, 120) == best.workers));
  // It is not followed if it were worse for a load that chance alone explains.
  deviation = 0.75;
  BOOST_TEST((at(3, 121) == workers));
  BOOST_TEST((at(3, 300) == workers));
  // The plan is followed at once if the present workers do not serve the load.
  BOOST_TEST((at(7, 130) == best.workers));
}

BOOST_AUTO_TEST_SUITE_END()
