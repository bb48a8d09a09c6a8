// SPDX-License-Identifier: Apache-2.0
#include "planning/profiles/read_profile.hpp"
#include <atelier/planning/demand_file.hpp>
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/policies/atelier/solve.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace atelier;
using namespace atelier::planning;

namespace {

cluster_view devices(uint32_t n) {
  cluster_view there;
  for (uint32_t i = 0; i < n; ++i) {
    worker_view w;
    w.worker = core::worker_id{i + 1};
    w.device_kind = "cuda";
    w.hosting = {core::variant_id{0}};
    w.max_batch = w.seats_free = 8;
    there.workers.push_back(std::move(w));
  }
  return there;
}

// Returns a demand whose requests are all predicted to have one level.
demand all_of_level(double rate, size_t ladder, size_t levels, size_t level) {
  auto out = demand_of_rate(rate);
  for (auto& w : out.windows) {
    w.predicted.assign(ladder + 1, std::vector<uint64_t>(levels, 0));
    w.predicted[ladder][level] = std::max<uint64_t>(w.arrived, 1);
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(unified_offers_test)

BOOST_AUTO_TEST_CASE(a_class_without_requests_weighs_nothing) {
  const auto known = test::read_profile("argus-a100");
  constexpr double rate = 2;
  const auto ladder =
    unified::make_offers(demand_of_rate(rate), known, devices(8), {})
      .classes.ladder;
  const auto levels = known.ladders.at(ladder).levels.size();
  for (size_t level = 0; level < levels; ++level)
    BOOST_TEST_CONTEXT("level " << level) {
      const auto o = unified::make_offers(
        all_of_level(rate, ladder, levels, level), known, devices(8), {});
      // The whole demand has that level.
      double others = 0;
      double own = 0;
      for (uint32_t l = 0; l < o.classes.labels; ++l)
        for (const auto skip : o.classes.skips)
          (l == level ? own : others) +=
            o.asked.classes[class_in(o.classes, l, skip)].rate;
      BOOST_TEST(others == 0);
      BOOST_TEST(own > 0);
      const auto found = unified::solve(o.asked);
      BOOST_TEST_REQUIRE(static_cast<bool>(found));
      // Such a class refuses nothing and receives nothing.
      for (size_t k = 0; k < o.asked.classes.size(); ++k)
        if (o.asked.classes[k].rate == 0)
          BOOST_TEST(found->refused[k] < 1e-9);
      for (size_t i = 0; i < o.asked.columns.size(); ++i)
        if (o.asked.classes[o.asked.columns[i].of].rate == 0)
          BOOST_TEST(found->taken[i] < 1e-9);
      // The value and the target of the other classes do not change the plan.
      auto changed = o.asked;
      for (auto& c : changed.classes)
        if (c.rate == 0) {
          c.floor = 1;
          c.weight = 100;
        }
      for (auto& c : changed.columns)
        if (changed.classes[c.of].rate == 0)
          c.quality = 0.01;
      const auto again = unified::solve(changed);
      BOOST_TEST_REQUIRE(static_cast<bool>(again));
      BOOST_TEST(!unified::better(found->values, again->values));
      BOOST_TEST(!unified::better(again->values, found->values));
    }
}

BOOST_AUTO_TEST_SUITE_END()
