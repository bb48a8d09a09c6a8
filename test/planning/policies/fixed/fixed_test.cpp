// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/scene.hpp"
#include "support/scale.hpp"
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policies/fixed/fixed.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

using namespace atelier;
using namespace atelier::planning;

namespace {

saved_plan of_counts(const std::vector<uint32_t>& counts) {
  saved_plan x;
  for (const auto n : counts) {
    worker_group g;
    g.count = n;
    g.batch = 1 + static_cast<uint32_t>(x.workers.size());
    g.hosting = {core::variant_id{static_cast<uint32_t>(x.workers.size() % 3)}};
    x.workers.push_back(g);
  }
  return x;
}

std::map<uint32_t, size_t> batches(const plan& of) {
  std::map<uint32_t, size_t> out;
  for (const auto& a : of.workers)
    ++out[a.batch];
  return out;
}

facts everything(core::philox& random) {
  facts f;
  f.tolerated = std::vector<uint32_t>{static_cast<uint32_t>(random.below(5)),
                                      static_cast<uint32_t>(random.below(5))};
  f.hit_likely = random.below(2) == 0;
  match m;
  m.similarity = random.uniform();
  m.stored = {5, 10, 15, 20, 25};
  f.near = std::vector<match>{m};
  f.mask = mask_facts{random.uniform(), 3, random.below(2) == 0};
  return f;
}

} // namespace

BOOST_AUTO_TEST_SUITE(fixed_test)

BOOST_AUTO_TEST_CASE(groups_share_whatever_workers_there_are) {
  const auto x = of_counts({12, 3, 1});
  using all = std::vector<uint32_t>;
  BOOST_TEST((workers_by_group(x, 16) == all{12, 3, 1}));
  BOOST_TEST((workers_by_group(x, 32) == all{24, 6, 2}));
  BOOST_TEST((workers_by_group(x, 15) == all{11, 3, 1}));
  // Each group keeps one worker if there are enough.
  BOOST_TEST((workers_by_group(x, 4) == all{2, 1, 1}));
  BOOST_TEST((workers_by_group(x, 3) == all{1, 1, 1}));
  BOOST_TEST((workers_by_group(x, 2) == all{2, 0, 0}));
  BOOST_TEST((workers_by_group(x, 0) == all{0, 0, 0}));
  BOOST_TEST(workers_by_group(of_counts({}), 5).empty());
  for (size_t i = 0; i < test::scaled(20'000); ++i) {
    auto random = test::random_of(i);
    all counts(1 + random.below(6));
    uint64_t sum = 0;
    for (auto& n : counts)
      sum += n = static_cast<uint32_t>(1 + random.below(50));
    const auto there = random.below(200);
    const auto given = workers_by_group(of_counts(counts), there);
    BOOST_REQUIRE(std::accumulate(given.begin(), given.end(), uint64_t{0})
                  == there);
    for (size_t g = 0; g < counts.size(); ++g) {
      if (there >= counts.size())
        BOOST_REQUIRE(given[g] >= 1u);
      if (there == sum)
        BOOST_REQUIRE(given[g] == counts[g]);
    }
  }
}

// A plan from a file gives the same results as the policy that made it: the
// same workers, and for every request the same requested fact or chosen route.
BOOST_AUTO_TEST_CASE(requests_go_as_with_the_policy_that_made_the_plan) {
  const auto policies = test::every_policy();
  for (size_t i = 0; i < test::scaled(20'000); ++i) {
    auto random = test::random_of(i);
    test::scene s{policies[i % policies.size()]->name(), 1 + random.below(12)};
    for (size_t period = 1 + random.below(4); period > 0; --period) {
      auto& w = s.window(4 * random.uniform());
      w.searched = w.arrived;
      w.hits = w.arrived / 2;
      w.skips = {{10, w.hits}};
      w.allowed = {{10, w.hits}, {0, w.arrived - w.hits}};
      w.predicted = {{random.below(50), random.below(50), random.below(50)},
                     {random.below(50), random.below(50), random.below(50)}};
      s.replan();
      s.load();
    }
    const auto text = to_json(saved(s.now, s.sut->name()), s.known);
    const auto made =
      make_fixed(text, "p.json", s.known, std::string{fixed_name},
                 papers::paper_policies());
    BOOST_REQUIRE_MESSAGE(made, s.sut->name()
                                  << ": " << (made ? "" : made.why().text));
    BOOST_TEST((*made)->name() == "fixed");
    const auto fixed = (*made)->replan({}, s.known, s.there, {});
    BOOST_REQUIRE(fixed.version == 1u);
    BOOST_REQUIRE((saved(fixed, s.sut->name()).share == s.now.share));
    BOOST_REQUIRE((fixed.routes == s.now.routes));
    std::multiset<std::tuple<uint32_t, uint32_t, std::vector<core::variant_id>>>
      wanted;
    auto told = wanted;
    for (const auto& a : s.now.workers)
      wanted.emplace(a.batch, a.level, a.hosting);
    for (const auto& a : fixed.workers)
      told.emplace(a.batch, a.level, a.hosting);
    BOOST_REQUIRE_MESSAGE((wanted == told), s.sut->name());
    for (size_t n = 0; n < 8; ++n) {
      const auto all = everything(random);
      core::request r;
      r.id = core::request_id{n};
      if (random.below(3) == 0) {
        r.kind = core::request_kind::edit;
        r.source = std::make_shared<core::source_images>();
        r.px = {512, 512};
      }
      const facts nothing;
      for (const auto* f : {&nothing, &all}) {
        auto a = test::random_of(n);
        auto b = test::random_of(n);
        const auto by_policy =
          s.sut->choose({r, *f, s.known, s.now, s.there, a});
        const auto by_file =
          (*made)->choose({r, *f, s.known, fixed, s.there, b});
        BOOST_REQUIRE_MESSAGE((by_policy == by_file), s.sut->name());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(nobody_loads_who_does_what_is_wished_already) {
  test::scene s{"vanilla", 8};
  s.sut = std::make_shared<fixed_policy>(of_counts({2, 4, 2}), s.sut, "fixed");
  s.there.workers[3].hosting = {core::variant_id{2}};
  s.replan();
  BOOST_TEST(
    (batches(s.now) == std::map<uint32_t, size_t>{{1, 2}, {2, 4}, {3, 2}}));
  BOOST_TEST((s.now.workers[3].hosting
              == std::vector<core::variant_id>{core::variant_id{2}}));
  s.load();
  const auto before = s.now.workers;
  // Rows start and end, and no worker changes what it hosts.
  s.there.workers[0].steps_left = 50;
  s.replan();
  BOOST_TEST((s.now.workers == before));
  // One worker dies. At most one of the others changes what it hosts.
  s.there.workers.erase(s.there.workers.begin() + 1);
  s.replan();
  size_t changed = 0;
  for (const auto& a : s.now.workers)
    for (const auto& b : before)
      changed += a.worker == b.worker && !(a == b) ? 1u : 0u;
  BOOST_TEST(changed <= 1u);
  BOOST_TEST(batches(s.now).size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_plan_without_workers_leaves_them_as_they_are) {
  test::scene s{"vanilla", 2};
  s.sut = std::make_shared<fixed_policy>(of_counts({}), s.sut, "fixed");
  s.replan();
  BOOST_REQUIRE(s.now.workers.size() == 2u);
  for (const auto& a : s.now.workers) {
    BOOST_TEST(a.hosting.empty());
    BOOST_TEST(a.batch == 4u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
