// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;
using core::ec;
using test::at_s;

namespace {

const vanilla sut;

cluster_view two_workers() {
  cluster_view there;
  for (uint32_t i : {3u, 5u}) {
    worker_view w;
    w.worker = core::worker_id{i};
    w.hosting = {core::variant_id{i % 2 == 1 ? 2u : 0u}};
    w.max_batch = i - 3;
    there.workers.push_back(w);
  }
  return there;
}

plan planned() {
  return sut.replan({}, test::three_variants(), two_workers(), {});
}

choice choose(const core::pins& fixed, const plan& p = planned(),
              const profile& known = test::three_variants()) {
  core::request wanted;
  wanted.fixed = fixed;
  auto random = test::random_of(0);
  return sut.choose({wanted, facts{}, known, p, two_workers(), random});
}

core::pins pins(std::optional<std::string> model,
                std::optional<std::string> variant,
                std::optional<uint32_t> steps = std::nullopt) {
  core::pins fixed;
  fixed.model = std::move(model);
  fixed.variant = std::move(variant);
  fixed.steps = steps;
  return fixed;
}

// Returns the route's number, or the code of the refusal.
std::string told(const choice& c) {
  if (const auto* route = std::get_if<go>(&c))
    return std::to_string(route->route.value);
  return std::string{to_string(std::get<refuse>(c).why.code)};
}

std::vector<uint64_t> values(const std::vector<core::request_id>& ids) {
  std::vector<uint64_t> found;
  for (const core::request_id id : ids)
    found.push_back(id.value);
  return found;
}

using ids = std::vector<uint64_t>;

} // namespace

BOOST_AUTO_TEST_SUITE(vanilla_test)

BOOST_AUTO_TEST_CASE(plans_a_route_for_each_variant) {
  const plan p = planned();
  BOOST_TEST(p.version == 1u);
  BOOST_REQUIRE(p.routes.size() == 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    const route& r = p.routes[i];
    BOOST_TEST(r.name == test::three_variants().variants[i].name);
    BOOST_TEST((r.late == late_rule::drop));
    BOOST_REQUIRE(r.legs.size() == 1u);
    BOOST_TEST((r.legs[0].from == origin::noise));
    BOOST_TEST((r.legs[0].any_of == std::vector{core::variant_id{i}}));
  }
  BOOST_TEST((p.share == std::vector<std::vector<double>>{{1, 0, 0}}));
  BOOST_TEST(!p.saturated);
}

BOOST_AUTO_TEST_CASE(workers_keep_what_they_host) {
  const cluster_view there = two_workers();
  const plan p = planned();
  BOOST_REQUIRE(p.workers.size() == 2u);
  for (size_t i = 0; i < 2; ++i) {
    const worker_view& w = there.workers[i];
    BOOST_TEST((p.workers[i].worker == w.worker));
    BOOST_TEST((p.workers[i].hosting == w.hosting));
    BOOST_TEST(p.workers[i].batch == std::max(w.max_batch, 1u));
    BOOST_TEST((p.workers[i].join == joining::step));
  }
}

BOOST_AUTO_TEST_CASE(plans_are_stable) {
  plan p = planned();
  plan again = sut.replan({}, test::three_variants(), two_workers(), p);
  BOOST_TEST(again.version == p.version + 1);
  again.version = p.version;
  BOOST_TEST((again == p));
}

BOOST_AUTO_TEST_CASE(plans_nothing_for_nothing) {
  const plan p = sut.replan({}, {}, {}, {});
  BOOST_TEST(p.version == 1u);
  BOOST_TEST(p.routes.empty());
  BOOST_TEST(p.workers.empty());
  BOOST_TEST(p.share.empty());
}

BOOST_AUTO_TEST_CASE(chooses_what_is_pinned) {
  const auto none = std::nullopt;
  BOOST_TEST(told(choose({})) == "0");
  BOOST_TEST(told(choose(pins("turbo", none))) == "2");
  BOOST_TEST(told(choose(pins("base", none))) == "0");
  BOOST_TEST(told(choose(pins("base@20", none))) == "1");
  BOOST_TEST(told(choose(pins(none, "base@20"))) == "1");
  BOOST_TEST(told(choose(pins("base", "base@20"))) == "1");
  BOOST_TEST(told(choose(pins(none, "base@50", 9))) == "0");
  BOOST_TEST(told(choose(pins("turbo", "base@20"))) == "invalid_argument");
}

BOOST_AUTO_TEST_CASE(refuses_what_is_not_there_and_names_what_is) {
  for (const auto& fixed :
       {pins("unknown", std::nullopt), pins(std::nullopt, "unknown"),
        pins("base", "unknown")}) {
    const auto refused = std::get<refuse>(choose(fixed));
    BOOST_TEST((refused.why.code == ec::not_found));
    BOOST_TEST(refused.retry_after.count() == 0);
    for (const char* word : {"unknown", "base", "turbo"})
      BOOST_TEST(refused.why.text.find(word) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(pinned_steps_reach_the_recipe) {
  core::request wanted;
  wanted.fixed.steps = 9;
  const plan p = planned();
  const auto chosen = std::get<go>(choose(wanted.fixed, p));
  const leg& runs = p.routes[chosen.route.value].legs[0];
  const auto how =
    recipe_of(wanted, runs, runs.any_of[0], test::three_variants());
  BOOST_TEST(how.steps == 9u);
}

BOOST_AUTO_TEST_CASE(refuses_for_now_without_a_plan_or_a_profile) {
  plan p;
  p.retry_after = 3s;
  for (const profile& known : {profile{}, test::three_variants()}) {
    const auto refused = std::get<refuse>(choose({}, p, known));
    BOOST_TEST((refused.why.code == ec::unavailable));
    BOOST_TEST((refused.retry_after == 3s));
  }
}

BOOST_AUTO_TEST_CASE(finds_the_route_in_a_plan_of_another_profile) {
  plan p = planned();
  std::swap(p.routes[0], p.routes[2]);
  BOOST_TEST(told(choose(pins("turbo", std::nullopt), p)) == "0");
  p.routes.resize(2);
  BOOST_TEST(told(choose(pins("base@50", std::nullopt), p)) == "unavailable");
}

BOOST_AUTO_TEST_CASE(places_in_the_queue_of_the_first_variant) {
  leg next;
  next.any_of = {core::variant_id{2}, core::variant_id{1}};
  auto random = test::random_of(0);
  const auto known = test::three_variants();
  BOOST_TEST((sut.place(next, {core::request{}, facts{}, known, planned(),
                               two_workers(), random})
              == queue_of(core::variant_id{2})));
}

BOOST_AUTO_TEST_CASE(takes_in_order_up_to_the_free_seats) {
  const std::vector<waiting> queue{test::waits(3), test::waits(1),
                                   test::waits(2)};
  for (const uint32_t seats : {0u, 1u, 2u, 3u, 4u}) {
    worker_view w;
    w.seats_free = seats;
    const taken some = sut.take(w, queue, {}, at_s(5));
    ids expected{3, 1, 2};
    expected.resize(std::min(seats, 3u));
    BOOST_TEST(values(some.join) == expected);
    BOOST_TEST(some.late.empty());
  }
  BOOST_TEST((sut.take({}, {}, {}, at_s(5)) == taken{}));
}

BOOST_AUTO_TEST_CASE(late_is_what_cannot_end_in_time) {
  worker_view w;
  w.seats_free = 1;
  std::vector<waiting> queue;
  for (uint64_t i = 0; i < 4; ++i)
    queue.push_back(test::waits(i, 0, core::priority::normal, at_s(8)));
  queue[0].still_needs = 5s;
  queue[1].still_needs = 3s;
  queue[2].still_needs = 3s + 1ns;
  queue[3].deadline = at_s(4);
  const taken some = sut.take(w, queue, {}, at_s(5));
  BOOST_TEST(values(some.join) == ids{1});
  BOOST_TEST(values(some.late) == (ids{0, 2, 3}));
}

BOOST_AUTO_TEST_CASE(without_a_deadline_nothing_is_late) {
  worker_view w;
  w.seats_free = 1;
  std::vector<waiting> queue{test::waits(1)};
  queue[0].still_needs = core::timespan::max();
  BOOST_TEST(values(sut.take(w, queue, {}, at_s(5)).join) == ids{1});
}

BOOST_AUTO_TEST_SUITE_END()
