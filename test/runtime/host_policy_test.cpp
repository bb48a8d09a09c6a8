// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/vanilla/vanilla.hpp>
#include <atelier/runtime/host_policy.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <stdexcept>

using namespace atelier;
using namespace atelier::planning;

namespace {

/// Vanilla, with results that a test supplies.
struct scripted : vanilla {
  std::string_view name() const override {
    return "scripted";
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override {
    auto next = vanilla::replan(asked, known, there, previous);
    if (change)
      change(next);
    return next;
  }

  choice choose(const decision_context& by) const override {
    return throws ? throw 7 : vanilla::choose(by);
  }

  core::queue_id place(const leg& next,
                       const decision_context& by) const override {
    return throws ? throw std::runtime_error("lost") : vanilla::place(next, by);
  }

  taken take(const worker_view&, std::span<const waiting>, const plan&,
             core::time_point) const override {
    return throws ? throw 7 : takes;
  }

  bool plan_due(const plan&, std::span<const retrieval_sample>) const override {
    return throws ? throw 7 : true;
  }

  core::class_id admission_class(const core::request&, const facts&,
                                 const profile&, const plan&) const override {
    return throws ? throw 7 : core::class_id{5};
  }

  std::function<void(plan&)> change;
  taken takes;
  bool throws = false;
};

struct rig {
  std::shared_ptr<scripted> own = std::make_shared<scripted>();
  runtime::host_policy sut{own, std::make_shared<runtime::own_thread_calls>()};
  profile known = test::three_variants();
  cluster_view there = [] {
    cluster_view x;
    x.workers.resize(1);
    x.workers[0].hosting = {core::variant_id{0}};
    x.workers[0].seats_free = 1;
    return x;
  }();
  plan now = sut.replan({}, known, there, {});

  std::string fault(std::function<void(plan&)> change) {
    own->change = std::move(change);
    try {
      sut.replan({}, known, there, now);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  }
};

std::vector<waiting> queue_of(uint64_t n) {
  std::vector<waiting> out(n);
  for (uint64_t i = 0; i < n; ++i)
    out[i].request = core::request_id{i + 1};
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(host_policy_test)

BOOST_AUTO_TEST_CASE(it_decides_as_its_policy_does) {
  rig x;
  BOOST_TEST(x.sut.name() == "scripted");
  BOOST_TEST(x.now.version == 1u);
  const core::request wanted;
  const facts nothing;
  auto random = test::random_of(0);
  const decision_context by{wanted, nothing, x.known, x.now, x.there, random};
  BOOST_TEST((x.sut.choose(by) == vanilla{}.choose(by)));
  BOOST_TEST(x.sut.plan_due(x.now, {}));
  BOOST_TEST(
    (x.sut.admission_class(wanted, nothing, x.known, x.now).value == 5u));
  x.own->takes.join = {core::request_id{2}};
  const auto queue = queue_of(2);
  BOOST_TEST(
    (x.sut.take(x.there.workers[0], queue, x.now, {}) == x.own->takes));
}

BOOST_AUTO_TEST_CASE(where_it_throws_another_decision_is_made) {
  rig x;
  x.own->throws = true;
  const core::request wanted;
  const facts nothing;
  auto random = test::random_of(0);
  const decision_context by{wanted, nothing, x.known, x.now, x.there, random};
  const auto choice = x.sut.choose(by);
  const auto& why = std::get<refuse>(choice).why;
  BOOST_TEST((why.code == core::ec::internal));
  BOOST_TEST(why.text
             == "policy scripted chose no route: an exception that is not a "
                "std::exception");
  const auto& leg = x.now.routes[1].legs[0];
  BOOST_TEST((x.sut.place(leg, by) == planning::queue_of(core::variant_id{1})));
  const auto queue = queue_of(2);
  const auto took = x.sut.take(x.there.workers[0], queue, x.now, {});
  BOOST_TEST((took.join == std::vector{core::request_id{1}}));
  BOOST_TEST(!x.sut.plan_due(x.now, {}));
  BOOST_TEST(
    (x.sut.admission_class(wanted, nothing, x.known, x.now).value == 0u));
}

BOOST_AUTO_TEST_CASE(a_plan_of_what_is_not_there_is_none) {
  rig x;
  BOOST_TEST(x.fault([](plan& p) { p.routes[0].legs[0].any_of.clear(); })
             == "route 'base@50' has a stage without a variant");
  BOOST_TEST(x.fault([](plan& p) { p.routes[0].legs[0].any_of[0].value = 3; })
             == "route 'base@50' names variant 3, but there are 3");
  BOOST_TEST(x.fault([](plan& p) {
    p.routes[0].legs[0].check = gate{"eye", 0};
  }) == "route 'base@50' names threshold 0, but there are 0");
  BOOST_TEST(x.fault([](plan& p) { p.workers[0].hosting[0].value = 9; })
             == "worker 0 names variant 9, but there are 3");
  BOOST_TEST(x.fault([](plan& p) { p.workers[0].batch = 0; })
             == "worker 0 has a batch of 0");
  BOOST_TEST(x.fault([](plan& p) { p.share[0].resize(9); })
             == "a class has shares of 9 routes, but there are 3");
  BOOST_TEST(x.fault([](plan&) { throw 7; })
             == "an exception that is not a std::exception");
  BOOST_TEST(x.fault([](plan& p) { p.version = 77; }) == "");
  BOOST_TEST(x.sut.replan({}, x.known, x.there, x.now).version
             == x.now.version + 1);
}

BOOST_AUTO_TEST_CASE(what_does_not_wait_is_not_taken) {
  rig x;
  x.own->takes.join = {core::request_id{9}, core::request_id{2}};
  x.own->takes.late = {core::request_id{8}, core::request_id{1}};
  const auto queue = queue_of(2);
  const auto took = x.sut.take(x.there.workers[0], queue, x.now, {});
  BOOST_TEST((took.join == std::vector{core::request_id{2}}));
  BOOST_TEST((took.late == std::vector{core::request_id{1}}));
}

BOOST_AUTO_TEST_SUITE_END()
