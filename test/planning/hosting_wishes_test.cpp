// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/hosting_wishes.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

using namespace atelier;
using namespace atelier::planning;

namespace {

using variants = std::vector<core::variant_id>;

constexpr core::variant_id a{0};
constexpr core::variant_id b{1};
constexpr core::variant_id c{2};

constexpr uint64_t model_bytes = uint64_t{100} << 20;

/// Three models of 100 MiB.
const profile known = [] {
  profile p;
  for (const char* model : {"a", "b", "c"}) {
    auto& v = p.variants.emplace_back();
    v.model = model;
    v.memory_bytes = model_bytes;
  }
  return p;
}();

worker_view worker(uint32_t id, variants hosting, uint64_t models = 0) {
  worker_view w;
  w.worker = core::worker_id{id};
  w.hosting = std::move(hosting);
  w.becoming = w.hosting;
  w.memory_bytes = models * model_bytes;
  return w;
}

void assign(plan& in, uint32_t worker, variants hosting) {
  auto& x = in.workers.emplace_back();
  x.worker = core::worker_id{worker};
  x.hosting = std::move(hosting);
}

const assignment* of(const plan& p, uint32_t worker) {
  for (const auto& x : p.workers)
    if (x.worker == core::worker_id{worker})
      return &x;
  return nullptr;
}

} // namespace

BOOST_AUTO_TEST_SUITE(hosting_wishes_test)

BOOST_AUTO_TEST_CASE(without_wishes_a_plan_stays_as_it_is) {
  cluster_view there{{worker(1, {a}), worker(2, {b})}};
  plan made;
  assign(made, 1, {c});
  BOOST_TEST((with_wishes(made, {}, {}, known, there) == made));
}

BOOST_AUTO_TEST_CASE(what_is_wanted_comes_beside_what_the_emptiest_hosts) {
  cluster_view there{{worker(1, {a, b}, 3), worker(2, {a}, 3)}};
  const auto p = with_wishes({}, {{c}, {}}, {}, known, there);
  BOOST_TEST_REQUIRE(of(p, 2) != nullptr);
  BOOST_TEST((of(p, 2)->hosting == variants{a, c}));
  BOOST_TEST((of(p, 1) == nullptr));
  BOOST_TEST((p.wishes.there == variants{c}));
}

BOOST_AUTO_TEST_CASE(what_is_wanted_waits_where_nobody_has_room) {
  cluster_view there{{worker(1, {a}, 1), worker(2, {b}, 1)}};
  there.workers[1].may_host = {b};
  auto p = with_wishes({}, {{c}, {}}, {}, known, there);
  BOOST_TEST(p.workers.empty());
  BOOST_TEST((p.wishes.there == variants{c}));
  // A policy that hosts the model itself needs no change.
  plan made;
  assign(made, 1, {c});
  p = with_wishes(made, {{c}, {}}, {}, known, there);
  BOOST_TEST((of(p, 1)->hosting == variants{c}));
}

BOOST_AUTO_TEST_CASE(what_is_away_is_hosted_nowhere_whatever_is_planned) {
  cluster_view there{{worker(1, {a, b}), worker(2, {a}), worker(3, {c})}};
  plan made;
  assign(made, 3, {b, c});
  assign(made, 2, {b});
  const auto p = with_wishes(made, {{}, {b}}, {}, known, there);
  BOOST_TEST((of(p, 1)->hosting == variants{a}));
  BOOST_TEST((of(p, 1)->leaving == variants{b}));
  // Without another plan, the worker keeps its models.
  BOOST_TEST(of(p, 2)->hosting.empty());
  BOOST_TEST((of(p, 3)->hosting == variants{c}));
}

BOOST_AUTO_TEST_CASE(what_nobody_hosts_leaves_the_memory_once) {
  cluster_view there{{worker(1, {a})}};
  const auto p = with_wishes({}, {{}, {b}}, {b}, known, there);
  BOOST_TEST((of(p, 1)->leaving == variants{b}));
  BOOST_TEST(of(p, 1)->hosting.empty());
  BOOST_TEST(with_wishes({}, {{}, {b}}, {}, known, there).workers.empty());
}

BOOST_AUTO_TEST_CASE(who_waits_for_it_has_it_come_back) {
  hosting_wishes x{{}, {a, b, c}};
  demand asked;
  asked.waiting_shared = {0, 2};
  cluster_view there;
  there.unhosted = {c};
  drop_waited(x, asked, there);
  BOOST_TEST((x.away == variants{a}));
}

BOOST_AUTO_TEST_CASE(any_wishes_leave_a_plan_that_can_be_done) {
  auto random = test::random_of(1);
  const auto some = [&] {
    variants out;
    for (uint32_t v = 0; v < 3; ++v)
      if (random.below(2) == 0)
        out.push_back(core::variant_id{v});
    return out;
  };
  for (uint64_t i = 0; i < test::scaled(10'000); ++i) {
    cluster_view there;
    for (uint32_t w = 1; w <= 1 + random.below(4); ++w) {
      auto x = worker(w, some(), random.below(4));
      if (x.memory_bytes > 0 && x.hosting.size() * model_bytes > x.memory_bytes)
        x.hosting = x.becoming = {};
      there.workers.push_back(std::move(x));
    }
    hosting_wishes wishes{some(), {}};
    for (const auto v : some())
      if (std::find(wishes.there.begin(), wishes.there.end(), v)
          == wishes.there.end())
        wishes.away.push_back(v);
    const auto p =
      with_wishes({}, wishes, random.below(2) == 0 ? variants{} : wishes.away,
                  known, there);
    for (const auto& w : there.workers) {
      auto then = hosting_after(of(p, w.worker.value), w);
      if (const auto* x = of(p, w.worker.value))
        for (const auto v : x->leaving)
          std::erase(then, v);
      BOOST_TEST(may_host(w, then, known));
      for (const auto v : then)
        BOOST_TEST((std::find(wishes.away.begin(), wishes.away.end(), v)
                    == wishes.away.end()));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
