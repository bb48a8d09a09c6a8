// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/hosting_by_demand.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

namespace {

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;
using variants = std::vector<core::variant_id>;

constexpr uint64_t gib = uint64_t{1} << 30;

core::variant_id v(uint32_t i) {
  return core::variant_id{i};
}

/// Six models of 4 GiB each. An image takes 20 s, eight take 24 s, and a load
/// 30 s.
const profile known = [] {
  profile p;
  for (uint32_t i = 0; i < 6; ++i) {
    auto& x = p.variants.emplace_back();
    x.model = "m" + std::to_string(i);
    x.name = x.model + "@10";
    x.steps = 10;
    x.native_px = {64, 64};
    x.step = {{1, 4096, 2000ms}, {8, 4096, 2400ms}};
    x.load = 30s;
    x.memory_bytes = 4 * gib;
  }
  return p;
}();

worker_view worker(uint32_t id, variants hosting, uint64_t memory_gib = 4) {
  worker_view w;
  w.worker = core::worker_id{id};
  w.hosting = w.becoming = std::move(hosting);
  w.memory_bytes = memory_gib * gib;
  w.max_batch = 8;
  return w;
}

/// Returns `w` with `rows` rows of one of its variants, none of which has begun
/// its steps.
worker_view running(worker_view w, uint32_t rows) {
  w.seats_taken = rows;
  w.steps_left = uint64_t{rows} * 10;
  w.running = {w.hosting.front()};
  return w;
}

plan planned(const cluster_view& there, const plan& before = {},
             const demand& asked = {}) {
  return host_by_demand({}, asked, known, there, before);
}

/// Returns the variants that a worker must change to; empty if it need not
/// change.
variants hosting(const plan& p, uint32_t id) {
  for (const auto& a : p.workers)
    if (a.worker.value == id)
      return a.hosting;
  return {};
}

/// Returns a history in which the variants were requested this often.
demand history(std::vector<uint64_t> placed) {
  demand asked;
  auto& w = asked.windows.emplace_back();
  w.length = 1s;
  w.placed = std::move(placed);
  return asked;
}

} // namespace

BOOST_AUTO_TEST_SUITE(hosting_by_demand_test)

BOOST_AUTO_TEST_CASE(what_nobody_hosts_gets_an_idle_worker) {
  cluster_view there{{running(worker(3, {v(0)}), 1), worker(4, {v(1)})}};
  there.unhosted = {v(2)};
  const auto p = planned(there);
  BOOST_TEST(p.grouped);
  BOOST_TEST(hosting(p, 3).empty());
  BOOST_TEST((hosting(p, 4) == variants{v(2)}));
}

BOOST_AUTO_TEST_CASE(a_worker_holds_as_many_as_its_memory_does) {
  cluster_view there{{worker(3, {v(0), v(1)}, 12)}};
  there.unhosted = {v(2)};
  BOOST_TEST((hosting(planned(there), 3) == variants{v(0), v(1), v(2)}));
  there.workers[0].memory_bytes = 8 * gib;
  BOOST_TEST(hosting(planned(there), 3).size() == 2u);
  // A worker without a memory bound holds one model, since nothing says that it
  // can hold more.
  there.workers[0].memory_bytes = 0;
  BOOST_TEST((hosting(planned(there), 3) == variants{v(2)}));
}

BOOST_AUTO_TEST_CASE(levels_of_a_model_are_hosted_together) {
  auto levels = known;
  // Variants 4 and 5 are levels of one model.
  levels.variants[5].model = levels.variants[4].model;
  const auto hosts = [&](const cluster_view& there) {
    return hosting(host_by_demand({}, {}, levels, there, {}), 3);
  };
  cluster_view there{{worker(3, {v(4)}, 0)}};
  there.unhosted = {v(5)};
  there.waiting = {0, 0, 0, 0, 1, 1};
  BOOST_TEST((hosts(there) == variants{v(4), v(5)}));
  // The worker changes to both at once.
  there.workers[0] = worker(3, {v(0)}, 0);
  there.unhosted = {v(4), v(5)};
  BOOST_TEST((hosts(there) == variants{v(4), v(5)}));
  // Memory that holds one model holds all its levels, and no other model.
  there.workers[0] = worker(3, {v(0), v(4)}, 8);
  there.unhosted = {v(5)};
  BOOST_TEST((hosts(there) == variants{v(0), v(4), v(5)}));
  there.workers[0] = worker(3, {v(4), v(5)}, 4);
  there.unhosted = {v(0)};
  there.waiting = {1};
  BOOST_TEST((hosts(there) == variants{v(0)}));
}

BOOST_AUTO_TEST_CASE(what_is_asked_for_least_leaves) {
  const auto before = planned({}, {}, history({50, 1, 20}));
  cluster_view there{{worker(3, {v(0), v(1), v(2)}, 12)}};
  there.unhosted = {v(3)};
  BOOST_TEST(
    (hosting(planned(there, before), 3) == variants{v(0), v(2), v(3)}));
}

BOOST_AUTO_TEST_CASE(of_two_hosts_one_goes_before_a_single_one) {
  const auto before = planned({}, {}, history({10, 8}));
  cluster_view there{{worker(3, {v(0)}), worker(4, {v(0)}), worker(5, {v(1)})}};
  there.unhosted = {v(2)};
  const auto p = planned(there, before);
  BOOST_TEST((hosting(p, 3) == variants{v(2)}));
  BOOST_TEST(hosting(p, 5).empty());
}

BOOST_AUTO_TEST_CASE(a_long_queue_brings_more_hosts) {
  cluster_view there{{running(worker(3, {v(0)}), 8), worker(4, {v(1)}),
                      worker(5, {v(2)}), worker(6, {v(3)})}};
  const auto hosts_with = [&](uint64_t waiting) {
    there.waiting = {waiting};
    const auto p = planned(there);
    return std::count_if(p.workers.begin(), p.workers.end(), [](const auto& a) {
      return a.hosting == variants{v(0)};
    });
  };
  // A load takes longer than the batch that runs.
  BOOST_TEST(hosts_with(8) == 0);
  // The fewer workers are busy, the less a load must gain.
  BOOST_TEST(hosts_with(24) == 2);
  BOOST_TEST(hosts_with(64) == 3);
  // All workers but one are busy, and for a long time.
  for (size_t i = 1; i < 3; ++i)
    there.workers[i] = running(there.workers[i], 8);
  BOOST_TEST(hosts_with(24) == 1);
}

BOOST_AUTO_TEST_CASE(an_idle_host_is_enough) {
  cluster_view there{{worker(3, {v(0)}), worker(4, {v(1)})}};
  there.waiting = {8};
  BOOST_TEST(hosting(planned(there), 4).empty());
}

BOOST_AUTO_TEST_CASE(what_is_waited_for_keeps_its_last_host) {
  cluster_view there{{worker(3, {v(0)}), worker(4, {v(1)})}};
  there.waiting = {0, 3};
  there.unhosted = {v(2)};
  const auto p = planned(there);
  BOOST_TEST((hosting(p, 3) == variants{v(2)}));
  BOOST_TEST(hosting(p, 4).empty());
}

BOOST_AUTO_TEST_CASE(a_change_under_way_is_left_alone_and_counted) {
  auto changing = worker(3, {});
  changing.becoming = {v(2)};
  cluster_view there{{changing, worker(4, {v(1)})}};
  there.unhosted = {v(2)};
  const auto p = planned(there);
  BOOST_TEST((hosting(p, 3) == variants{v(2)}));
  BOOST_TEST(hosting(p, 4).empty());
}

BOOST_AUTO_TEST_CASE(what_was_planned_counts_before_it_is_told) {
  cluster_view there{{worker(3, {v(0)}), worker(4, {v(1)})}};
  there.unhosted = {v(2)};
  const auto first = planned(there);
  // The view is the one from before the first plan.
  const auto second = planned(there, first);
  BOOST_TEST((hosting(second, 3) == variants{v(2)}));
  BOOST_TEST(hosting(second, 4).empty());
  // A worker that failed to load has no model, and gets the same instruction
  // again.
  there.workers[0].hosting = there.workers[0].becoming = {};
  BOOST_TEST((hosting(planned(there, second), 3) == variants{v(2)}));
}

BOOST_AUTO_TEST_CASE(a_worker_is_not_given_what_it_may_not_host) {
  cluster_view there{{worker(3, {v(0)}), worker(4, {v(1)})}};
  there.workers[0].may_host = {v(0)};
  there.unhosted = {v(2)};
  const auto p = planned(there);
  BOOST_TEST(hosting(p, 3).empty());
  BOOST_TEST((hosting(p, 4) == variants{v(2)}));
}

BOOST_AUTO_TEST_CASE(equal_histories_have_equal_plans) {
  cluster_view there{{worker(3, {v(0)}), worker(4, {v(1)})}};
  there.unhosted = {v(2), v(4)};
  there.waiting = {0, 0, 9, 0, 1};
  const auto asked = history({3, 1, 4, 1, 5});
  BOOST_TEST((planned(there, {}, asked) == planned(there, {}, asked)));
}

BOOST_AUTO_TEST_CASE(the_policy_atelier_hosts_unrelated_variants_by_demand) {
  cluster_view there{{worker(3, {v(0), v(1)}, 12)}};
  there.unhosted = {v(2)};
  const auto p = (*make_policy("atelier"))->replan({}, known, there, {});
  BOOST_TEST(p.grouped);
  BOOST_TEST((hosting(p, 3) == variants{v(0), v(1), v(2)}));
  BOOST_TEST(p.routes.size() == known.variants.size());
}

BOOST_AUTO_TEST_SUITE_END()
