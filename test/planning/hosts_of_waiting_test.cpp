// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/hosts_of_waiting.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

using namespace atelier;
using namespace atelier::planning;

namespace {

constexpr core::variant_id light{0};
constexpr core::variant_id heavy{1};

/// Workers that host these now, numbered from 3.
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

std::vector<uint32_t> hosted(const plan& p) {
  std::vector<uint32_t> out;
  for (const auto& a : p.workers)
    out.push_back(a.hosting.front().value);
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(hosts_of_waiting)

BOOST_AUTO_TEST_CASE(what_waits_keeps_the_host_that_has_it) {
  const auto there = hosting_now({light, heavy, light});
  const auto made = plan_of({light, light, light});
  const auto p = hosting_waiting(made, asking({0, 2}), there);
  BOOST_TEST(hosted(p) == (std::vector<uint32_t>{0, 1, 0}),
             boost::test_tools::per_element());
  // Nothing waits, or the policy sees to it: its plan.
  BOOST_TEST((hosting_waiting(made, asking({3, 0}), there) == made));
  BOOST_TEST((hosting_waiting(made, {}, there) == made));
  const auto both = plan_of({heavy, light, light});
  BOOST_TEST((hosting_waiting(both, asking({0, 2}), there) == both));
}

BOOST_AUTO_TEST_CASE(a_lane_that_another_serves_has_its_host) {
  auto made = plan_of({light, light});
  made.workers[1].also_serves = {lane_of(heavy)};
  BOOST_TEST((hosting_waiting(made, asking({0, 2}), hosting_now({light, light}))
              == made));
}

BOOST_AUTO_TEST_CASE(what_nobody_plans_keeps_what_it_hosts) {
  plan made = plan_of({light, light});
  made.workers.pop_back();
  const auto same =
    hosting_waiting(made, asking({0, 2}), hosting_now({light, heavy}));
  BOOST_TEST((same == made));
  made.workers[0].hosting.clear();
  const auto p =
    hosting_waiting(made, asking({1, 2}), hosting_now({light, light}));
  BOOST_TEST_REQUIRE(p.workers.size() == 1u);
  BOOST_TEST(p.workers[0].hosting.front().value == 1u);
}

BOOST_AUTO_TEST_CASE(with_one_worker_what_has_no_host_goes_first) {
  const auto busy = asking({5, 2});
  const auto p =
    hosting_waiting(plan_of({light}), busy, hosting_now({light}));
  BOOST_TEST(hosted(p).front() == 1u);
  BOOST_TEST(hosted(hosting_waiting(plan_of({light}), asking({5, 0}),
                                    hosting_now({heavy})))
               .front()
             == 0u);
  BOOST_TEST(hosting_waiting({}, busy, {}).workers.empty());
}

BOOST_AUTO_TEST_CASE(random_plans_host_what_waits_where_workers_are_enough) {
  for (uint64_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto variants = 1 + random.below(5);
    const auto workers = 1 + random.below(8);
    std::vector<core::variant_id> now, then;
    for (uint32_t w = 0; w < workers; ++w) {
      now.push_back(core::variant_id{static_cast<uint32_t>(random.below(variants))});
      then.push_back(core::variant_id{static_cast<uint32_t>(random.below(variants))});
    }
    std::vector<uint64_t> waits(variants);
    for (auto& x : waits)
      x = random.below(2) * random.below(9);
    const auto made = plan_of(then);
    const auto p = hosting_waiting(made, asking(waits), hosting_now(now));
    const auto is = hosted(p);
    const auto was = hosted(made);
    size_t changed = 0, missing = 0;
    for (size_t w = 0; w < workers; ++w)
      changed += is[w] != was[w];
    for (uint32_t v = 0; v < variants; ++v) {
      const auto there = std::count(is.begin(), is.end(), v);
      const auto before = std::count(was.begin(), was.end(), v);
      missing += waits[v] > 0 && before == 0;
      if (workers >= variants && waits[v] > 0)
        BOOST_TEST(there > 0, "seed " << test::seed() << ", plan " << i);
    }
    if (workers >= variants)
      BOOST_TEST(changed == missing,
                 "seed " << test::seed() << ", plan " << i);
  }
}

BOOST_AUTO_TEST_SUITE_END()
