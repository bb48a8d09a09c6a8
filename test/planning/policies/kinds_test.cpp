// SPDX-License-Identifier: Apache-2.0
// The behaviour of policies with devices of several kinds.
#include "planning/policies/scene.hpp"
#include "planning/two_kinds.hpp"
#include <atelier/planning/feasibility.hpp>
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/policies/diffserve/diffserve.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

namespace {

constexpr core::variant_id light{0};
constexpr core::variant_id heavy{1};

unified::offers offers_of(profile known, const cluster_view& there) {
  // A mix is worth more than either variant by itself.
  for (auto& c : known.cascades)
    c.fid = {{0, 20}, {0.5, 10}, {1, 30}};
  demand asked;
  demand_window w;
  w.length = 60s;
  w.arrived = 60;
  asked.windows.push_back(w);
  std::vector<diffserve::deferral_profile> deferred;
  for (const auto& c : known.cascades)
    deferred.push_back(diffserve::deferral_of(c.deferred));
  return unified::make_offers(asked, known, there, deferred);
}

/// Returns the kinds on which columns run these variants in order.
std::set<std::vector<std::string>> kinds_of(
  const unified::offers& o, const std::vector<core::variant_id>& legs) {
  std::set<std::vector<std::string>> out;
  for (const auto& c : o.asked.columns) {
    std::vector<std::string> kinds;
    bool same = c.legs == legs.size();
    for (size_t i = 0; same && i < c.works().size(); ++i) {
      const auto& pool = o.pools[c.works()[i].pool];
      same = pool.variant == legs[i];
      kinds.push_back(pool.device_kind);
    }
    if (same)
      out.insert(kinds);
  }
  return out;
}

/// Returns how many workers of a kind a plan gives a variant.
size_t hosting(const plan& made, const cluster_view& there,
               core::variant_id variant, std::string_view kind) {
  size_t n = 0;
  for (size_t i = 0; i < there.workers.size(); ++i)
    n += there.workers[i].device_kind == kind
          && made.workers[i].hosting == std::vector{variant}
         ? 1u
         : 0u;
  return n;
}

struct mixed : test::scene {
  explicit mixed(std::string_view policy, uint32_t quick = 2, uint32_t slow = 4)
    : scene(policy, 0) {
    known = test::two_kinds();
    there = test::quick_and_slow(quick, slow);
  }

  /// Replans until no worker has anything to load.
  void settle(double rate) {
    for (int i = 0; i < 6; ++i) {
      window(rate);
      replan();
      load();
    }
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(kinds_test)

BOOST_AUTO_TEST_CASE(a_cascade_is_offered_over_two_kinds) {
  const auto o = offers_of(test::two_kinds(), test::quick_and_slow(2, 2));
  using kinds = std::vector<std::string>;
  const auto cascades = kinds_of(o, {light, heavy});
  BOOST_TEST(cascades.count(kinds{"slow", "quick"}) == 1u);
  BOOST_TEST(cascades.count(kinds{"quick", "quick"}) == 1u);
  // On a slow device the heavy variant by itself would end after the deadline.
  BOOST_TEST((kinds_of(o, {heavy}) == std::set<kinds>{{"quick"}}));
  BOOST_TEST((kinds_of(o, {light}) == std::set<kinds>{{"quick"}, {"slow"}}));
  for (const auto& c : o.asked.columns)
    if (c.legs == 1) {
      const auto& pool = o.pools[c.work[0].pool];
      const double step = pool.device_kind == "slow" ? 0.8 : 0.1;
      BOOST_TEST(c.work[0].seconds == step * (pool.variant == heavy ? 10 : 1),
                 boost::test_tools::tolerance(1e-9));
    }
  for (size_t h = 0; h < o.asked.hostings.size(); ++h) {
    const auto& x = o.asked.hostings[h];
    BOOST_TEST(x.load_seconds
               == (o.asked.kinds[x.kind].name == "slow" ? 8 : 1));
  }
}

BOOST_AUTO_TEST_CASE(a_judge_takes_its_time_on_the_lights_kind) {
  const auto o = offers_of(test::two_kinds(), test::quick_and_slow(2, 2));
  bool looked = false;
  for (const auto& c : o.asked.columns)
    if (c.legs == 2 && o.pools[c.work[0].pool].device_kind == "slow") {
      BOOST_TEST(c.work[0].seconds == 0.8 + 0.16,
                 boost::test_tools::tolerance(1e-9));
      looked = true;
    }
  BOOST_TEST(looked);
}

BOOST_AUTO_TEST_CASE(alike_kinds_keep_their_cascades_to_themselves) {
  auto known = test::two_kinds();
  known.kinds.clear();
  const auto o = offers_of(known, test::quick_and_slow(2, 2));
  using kinds = std::vector<std::string>;
  BOOST_TEST((kinds_of(o, {light, heavy})
              == std::set<kinds>{{"quick", "quick"}, {"slow", "slow"}}));
}

BOOST_AUTO_TEST_CASE(atelier_draws_heavy_images_on_quick_devices) {
  mixed x{"atelier"};
  x.settle(4);
  BOOST_TEST(hosting(x.now, x.there, heavy, "slow") == 0u);
  BOOST_TEST(hosting(x.now, x.there, heavy, "quick") > 0u);
  BOOST_TEST(hosting(x.now, x.there, light, "slow") == 4u);
  BOOST_TEST((x.now.feasible == feasibility::yes), x.now.reason);
  // Some images are heavy although light ones would suffice.
  double heavies = 0;
  for (size_t r = 0; r < x.now.routes.size(); ++r)
    if (x.now.routes[r].legs.back().any_of.front() == heavy)
      heavies += x.now.share.front()[r];
  BOOST_TEST(heavies > 0.2);
}

BOOST_AUTO_TEST_CASE(idle_devices_make_ready_each_for_what_it_can) {
  mixed x{"atelier"};
  x.replan();
  x.load();
  x.replan();
  BOOST_TEST(hosting(x.now, x.there, heavy, "slow") == 0u);
  BOOST_TEST(hosting(x.now, x.there, heavy, "quick") > 0u);
}

BOOST_AUTO_TEST_CASE(what_many_devices_can_is_what_their_kinds_can) {
  // Two quick devices and four slow ones draw 2 * 10 + 4 * 1.25 light images.
  const auto feasible = [](std::string_view policy, double rate) {
    mixed x{policy};
    x.settle(rate);
    return x.now.feasible;
  };
  for (const auto policy : {"atelier", "diffserve"}) {
    BOOST_TEST_CONTEXT(policy) {
      BOOST_TEST((feasible(policy, 8) == feasibility::yes));
      BOOST_TEST((feasible(policy, 40) == feasibility::no));
    }
  }
}

BOOST_AUTO_TEST_CASE(who_counts_devices_alike_gets_them_in_proportion) {
  mixed x{"diffserve", 4, 4};
  x.settle(3);
  const auto quick = hosting(x.now, x.there, heavy, "quick");
  const auto slow = hosting(x.now, x.there, heavy, "slow");
  BOOST_TEST(quick + slow > 1u);
  BOOST_TEST(std::max(quick, slow) - std::min(quick, slow) <= 1u);
}

BOOST_AUTO_TEST_CASE(a_batch_takes_what_it_does_on_its_worker) {
  mixed x{"diffserve", 4, 4};
  x.settle(3);
  for (size_t i = 0; i < x.there.workers.size(); ++i) {
    const auto& a = x.now.workers[i];
    const bool slow = x.there.workers[i].device_kind == "slow";
    const auto one = a.hosting.front() == heavy ? 1000ms : 120ms;
    BOOST_TEST((a.batch_time == (slow ? 8 * one : one)));
  }
}

BOOST_AUTO_TEST_CASE(a_first_image_is_judged_on_the_quickest_kind) {
  auto known = test::two_kinds();
  known.cascades[0].deadline = 110ms;
  known.cascades[0].judging = 0ms;
  const auto by = [&](uint32_t quick, uint32_t slow) {
    const auto there = test::quick_and_slow(quick, slow);
    return judged((*make_policy("vanilla"))->replan({}, known, there, {}),
                  known, there);
  };
  BOOST_TEST((by(1, 3).feasible == feasibility::unchecked));
  const auto none = by(0, 3);
  BOOST_TEST((none.feasible == feasibility::never));
  BOOST_TEST(none.reason.find("takes 800 ms on 'slow'") != std::string::npos,
             none.reason);
}

BOOST_AUTO_TEST_CASE(a_request_goes_where_it_ends_first) {
  // Three rows wait at a quick worker, one at a slow one.
  mixed x{"argus-paper", 1, 1};
  x.there.workers[0].seats_taken = 3;
  x.there.workers[1].seats_taken = 1;
  x.replan();
  leg s;
  s.any_of = {light};
  BOOST_TEST((x.place(s, {}) == queue_of(x.there.workers[0].worker)));
}

BOOST_AUTO_TEST_CASE(an_edit_goes_to_the_kind_that_runs_it_soonest) {
  mixed x{"instgenie", 1, 1};
  masked_profile m;
  m.variant = light;
  m.blocks = 4;
  m.tokens = 256;
  m.width = 64;
  m.compute_slope = 1e-9;
  m.compute_base = 1e-3;
  x.known.masked = {m};
  m.compute_slope *= 8;
  m.compute_base *= 8;
  x.known.kinds[0].masked = {m};
  // The quick worker already has a row, and the slow one has none.
  x.there.workers[0].seats_taken = 1;
  x.there.workers[0].steps_left = 1;
  x.replan();
  facts f;
  f.mask = mask_facts{};
  f.mask->ratio = 0.3;
  leg s;
  s.any_of = {light};
  s.from = origin::template_image;
  BOOST_TEST((x.place(s, f) == queue_of(x.there.workers[0].worker)));
}

BOOST_AUTO_TEST_SUITE_END()
