// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

using namespace atelier;
using namespace atelier::planning;

namespace {

constexpr core::variant_id light{0};
constexpr core::variant_id heavy{1};

/// Returns workers that host these variants now, numbered from 3.
cluster_view hosting_now(const std::vector<core::variant_id>& each) {
  cluster_view there;
  for (uint32_t i = 0; i < each.size(); ++i) {
    worker_view w;
    w.worker = core::worker_id{i + 3};
    w.hosting = {each[i]};
    there.workers.push_back(w);
  }
  return there;
}

plan plan_of(const std::vector<core::variant_id>& each) {
  plan p;
  for (uint32_t i = 0; i < each.size(); ++i) {
    auto& a = p.workers.emplace_back();
    a.worker = core::worker_id{i + 3};
    a.hosting = {each[i]};
  }
  return p;
}

demand asking(std::vector<uint64_t> shared) {
  demand asked;
  asked.waiting = shared;
  asked.waiting_shared = std::move(shared);
  return asked;
}

/// Returns the first variant of each worker.
std::vector<uint32_t> hosted(const plan& p) {
  std::vector<uint32_t> out;
  for (const auto& a : p.workers)
    out.push_back(a.hosting.front().value);
  return out;
}

/// Five models of 100 MiB each; the last two variants belong to one model.
const profile known = [] {
  profile p;
  for (const char* model : {"a", "b", "c", "d", "d"}) {
    auto& v = p.variants.emplace_back();
    v.model = model;
    v.memory_bytes = uint64_t{100} << 20;
  }
  return p;
}();

} // namespace

BOOST_AUTO_TEST_SUITE(hosting_rules)

BOOST_AUTO_TEST_CASE(what_waits_keeps_the_host_that_has_it) {
  const auto there = hosting_now({light, heavy, light});
  const auto made = plan_of({light, light, light});
  const auto p = hosting_waiting(made, asking({0, 2}), known, there);
  BOOST_TEST(hosted(p) == (std::vector<uint32_t>{0, 1, 0}),
             boost::test_tools::per_element());
  // If nothing waits, or the policy hosts it already, the plan is unchanged.
  BOOST_TEST((hosting_waiting(made, asking({3, 0}), known, there) == made));
  BOOST_TEST((hosting_waiting(made, {}, known, there) == made));
  const auto both = plan_of({heavy, light, light});
  BOOST_TEST((hosting_waiting(both, asking({0, 2}), known, there) == both));
}

BOOST_AUTO_TEST_CASE(what_a_worker_cannot_load_is_not_planned_for_it) {
  auto there = hosting_now({light, light});
  there.workers[0].unloadable = {heavy};
  auto made = plan_of({heavy, heavy});
  made.workers[1].hosting = {light, heavy};
  const auto p = only_possible(made, known, there);
  BOOST_TEST(p.workers[0].hosting.empty());
  BOOST_TEST((p.workers[1].hosting == std::vector{light, heavy}));
  there.workers[1].unloadable = {heavy};
  BOOST_TEST((only_possible(made, known, there).workers[1].hosting
              == std::vector{light}));
}

BOOST_AUTO_TEST_CASE(what_waits_gets_a_host_that_can_load_it) {
  auto there = hosting_now({light, light});
  there.workers[0].unloadable = {heavy};
  there.unhosted = {heavy};
  const auto made = plan_of({light, light});
  const auto p = hosting_waiting(made, asking({0, 1}), known, there);
  BOOST_TEST(hosted(p) == (std::vector<uint32_t>{0, 1}),
             boost::test_tools::per_element());
  there.workers[1].unloadable = {heavy};
  BOOST_TEST((hosting_waiting(made, asking({0, 1}), known, there) == made));
}

BOOST_AUTO_TEST_CASE(what_waited_before_the_last_report_keeps_no_host) {
  auto there = hosting_now({light});
  there.unhosted = {heavy};
  const auto made = plan_of({heavy});
  BOOST_TEST((hosting_waiting(made, asking({1, 0}), known, there) != made));
  there.waiting = {0, 3};
  BOOST_TEST((hosting_waiting(made, asking({1, 0}), known, there) == made));
}

BOOST_AUTO_TEST_CASE(a_queue_that_another_serves_has_its_host) {
  auto made = plan_of({light, light});
  made.workers[1].also_serves = {queue_of(heavy)};
  BOOST_TEST(
    (hosting_waiting(made, asking({0, 2}), known, hosting_now({light, light}))
     == made));
}

BOOST_AUTO_TEST_CASE(what_nobody_plans_keeps_what_it_hosts) {
  plan made = plan_of({light, light});
  made.workers.pop_back();
  const auto same =
    hosting_waiting(made, asking({0, 2}), known, hosting_now({light, heavy}));
  BOOST_TEST((same == made));
  made.workers[0].hosting.clear();
  const auto p =
    hosting_waiting(made, asking({1, 2}), known, hosting_now({light, light}));
  BOOST_TEST_REQUIRE(p.workers.size() == 1u);
  BOOST_TEST(p.workers[0].hosting.front().value == 1u);
}

BOOST_AUTO_TEST_CASE(with_one_worker_what_has_no_host_goes_first) {
  const auto busy = asking({5, 2});
  const auto p =
    hosting_waiting(plan_of({light}), busy, known, hosting_now({light}));
  BOOST_TEST(hosted(p).front() == 1u);
  BOOST_TEST(hosted(hosting_waiting(plan_of({light}), asking({5, 0}), known,
                                    hosting_now({heavy})))
               .front()
             == 0u);
  BOOST_TEST(hosting_waiting({}, busy, known, {}).workers.empty());
}

BOOST_AUTO_TEST_CASE(a_worker_that_loads_counts_as_what_it_becomes) {
  auto there = hosting_now({light, light});
  there.workers[1].hosting.clear();
  there.workers[1].becoming = {heavy};
  plan made = plan_of({light, light});
  made.workers[1].hosting.clear();
  BOOST_TEST((hosting_waiting(made, asking({0, 2}), known, there) == made));
}

BOOST_AUTO_TEST_CASE(what_began_to_wait_needs_no_window) {
  auto there = hosting_now({light, light});
  there.unhosted = {core::variant_id{3}};
  const auto p = hosting_waiting(plan_of({light, light}), {}, known, there);
  BOOST_TEST(hosted(p) == (std::vector<uint32_t>{3, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(who_may_not_host_it_is_not_asked) {
  auto there = hosting_now({light, light, light});
  there.workers[0].may_host = {light};
  there.workers[1].memory_bytes = 1;
  const auto made = plan_of({light, light, light});
  const auto p = hosting_waiting(made, asking({0, 2}), known, there);
  BOOST_TEST(hosted(p) == (std::vector<uint32_t>{0, 0, 1}),
             boost::test_tools::per_element());
  there.workers[2].may_host = {light};
  BOOST_TEST((hosting_waiting(made, asking({0, 2}), known, there) == made));
}

BOOST_AUTO_TEST_CASE(a_plan_of_what_cannot_be_leaves_workers_as_they_are) {
  auto there = hosting_now({light, light, light, light});
  there.workers[0].may_host = {light};
  there.workers[1].may_host = {heavy};
  there.workers[2].memory_bytes = uint64_t{150} << 20;
  const auto made = plan_of({heavy, heavy, heavy, heavy});
  BOOST_TEST(only_possible(made, known, there).workers[0].hosting.empty());
  BOOST_TEST((only_possible(made, known, there).workers[1].hosting
              == std::vector{heavy}));
  BOOST_TEST((only_possible(made, known, there).workers[2].hosting
              == std::vector{heavy}));
  plan many = made;
  many.workers[2].hosting = {light, heavy};
  BOOST_TEST(only_possible(many, known, there).workers[2].hosting.empty());
  // Two variants of one model count as one model.
  many.workers[2].hosting = {core::variant_id{3}, core::variant_id{4}};
  BOOST_TEST(only_possible(many, known, there).workers[2].hosting.size() == 2u);
  BOOST_TEST(only_possible(many, known, there).workers[3].hosting.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_worker_hosts_what_waits_beside_another_level_of_it) {
  constexpr core::variant_id many{3};
  constexpr core::variant_id few{4};
  auto there = hosting_now({light, many, light});
  auto made = plan_of({light, many, light});
  made.workers[1].level = 2;
  auto p = hosting_waiting(made, asking({1, 0, 0, 1, 1}), known, there);
  BOOST_TEST((p.workers[0].hosting == std::vector{light}));
  BOOST_TEST((p.workers[1].hosting == std::vector{many, few}));
  // What the policy planned for the worker stays.
  BOOST_TEST(p.workers[1].level == 2u);
  // A worker that gets a model gets all levels that legs wait for.
  there = hosting_now({light});
  p = hosting_waiting(plan_of({light}), asking({0, 0, 0, 1, 1}), known, there);
  BOOST_TEST((p.workers[0].hosting == std::vector{many, few}));
  // A worker that may not host the level keeps what it has.
  there = hosting_now({light, many});
  there.workers[1].may_host = {many};
  p = hosting_waiting(plan_of({light, many}), asking({0, 0, 0, 1, 1}), known,
                      there);
  BOOST_TEST((p.workers[0].hosting == std::vector{few}));
  BOOST_TEST((p.workers[1].hosting == std::vector{many}));
}

BOOST_AUTO_TEST_CASE(random_plans_host_what_waits_where_workers_are_enough) {
  for (uint64_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto variants = 1 + random.below(5);
    const auto workers = 1 + random.below(8);
    std::vector<core::variant_id> now, then;
    for (uint32_t w = 0; w < workers; ++w) {
      now.push_back(
        core::variant_id{static_cast<uint32_t>(random.below(variants))});
      then.push_back(
        core::variant_id{static_cast<uint32_t>(random.below(variants))});
    }
    std::vector<uint64_t> waits(variants);
    for (auto& x : waits)
      x = random.below(2) * random.below(9);
    const auto made = plan_of(then);
    const auto p =
      hosting_waiting(made, asking(waits), known, hosting_now(now));
    const auto hosts_of = [](const plan& x, uint32_t v) {
      return std::count_if(
        x.workers.begin(), x.workers.end(), [&](const assignment& a) {
          return std::count(a.hosting.begin(), a.hosting.end(),
                            core::variant_id{v})
               > 0;
        });
    };
    size_t changed = 0, missing = 0;
    for (size_t w = 0; w < workers; ++w)
      changed += p.workers[w].hosting != made.workers[w].hosting;
    const auto lacks = [&](uint32_t v) {
      return v < variants && waits[v] > 0 && hosts_of(made, v) == 0;
    };
    for (uint32_t v = 0; v < variants; ++v) {
      missing += lacks(v);
      if (workers >= variants && waits[v] > 0)
        BOOST_TEST(hosts_of(p, v) > 0,
                   "seed " << test::seed() << ", plan " << i);
    }
    // The last two share their worker.
    if (lacks(3) && lacks(4))
      --missing;
    if (workers >= variants)
      BOOST_TEST(changed == missing, "seed " << test::seed() << ", plan " << i);
  }
}

BOOST_AUTO_TEST_SUITE_END()
