// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/admission.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;
using core::priority;
using claim = admission::claim;

namespace {

constexpr core::class_id one{0};
constexpr core::class_id other{1};

struct scene {
  void follow(std::vector<double> rates) {
    plan p;
    p.admitted_rates = std::move(rates);
    sut.follow(p, now);
  }

  /// Submits until a request is refused; returns how many were admitted.
  int admitted(core::class_id of, priority prio, claim whose = claim::usual) {
    for (int n = 0;; ++n)
      if (n == 10'000 || sut.admit(of, prio, now, whose) != 0s)
        return n;
  }

  core::time_point now{1h};
  admission sut;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(admission_test, scene)

BOOST_AUTO_TEST_CASE(without_rates_nobody_is_refused) {
  BOOST_TEST(admitted(one, priority::low) == 10'000);
  follow({1});
  BOOST_TEST(admitted(one, priority::low) < 10'000);
  follow({});
  BOOST_TEST(admitted(one, priority::low) == 10'000);
}

BOOST_AUTO_TEST_CASE(what_comes_in_ten_seconds_may_come_at_once) {
  follow({10});
  BOOST_TEST(admitted(one, priority::high) == 100);
  now += 1s;
  BOOST_TEST(admitted(one, priority::high) == 10);
  now += 1h;
  BOOST_TEST(admitted(one, priority::high) == 100);
}

BOOST_AUTO_TEST_CASE(a_class_without_a_bound_is_never_refused) {
  follow({10, 1});
  while (sut.admit(other, priority::low, now) == 0s)
    continue;
  follow({10, std::numeric_limits<double>::infinity()});
  BOOST_TEST(admitted(other, priority::low) == 10'000);
  BOOST_TEST(admitted(other, priority::high) == 10'000);
  BOOST_TEST(admitted(one, priority::high) == 100);
  now += 1s;
  BOOST_TEST(admitted(other, priority::low) == 10'000);
}

BOOST_AUTO_TEST_CASE(low_priorities_leave_room_for_higher_ones) {
  follow({10});
  BOOST_TEST(admitted(one, priority::low) == 50);
  BOOST_TEST(admitted(one, priority::normal) == 25);
  BOOST_TEST(admitted(one, priority::high) == 25);
}

BOOST_AUTO_TEST_CASE(a_tenant_below_its_share_goes_before_others_priorities) {
  follow({10});
  BOOST_TEST(admitted(one, priority::high) == 100);
  BOOST_TEST(admitted(one, priority::low, claim::below_share) == 100);
  BOOST_TEST((sut.admit(one, priority::high, now, claim::below_share) > 0s));
  // The others pay it back: the rate holds.
  BOOST_TEST((sut.admit(one, priority::high, now) > 10s));
  now += 10s;
  BOOST_TEST(admitted(one, priority::high) == 0);
  now += 1s;
  BOOST_TEST(admitted(one, priority::high) == 10);
}

BOOST_AUTO_TEST_CASE(the_time_to_come_back_is_that_of_the_next_admission) {
  follow({2});
  BOOST_TEST(admitted(one, priority::high) == 20);
  const auto high = sut.admit(one, priority::high, now);
  BOOST_TEST((high == 1s));
  // 1 and a quarter of the 20 must have refilled, at 2 a second.
  const auto normal = sut.admit(one, priority::normal, now);
  BOOST_TEST((normal == 3s));
  now += normal - 1ms;
  BOOST_TEST((sut.admit(one, priority::normal, now) > 0s));
  now += 1ms;
  BOOST_TEST((sut.admit(one, priority::normal, now) == 0s));
}

BOOST_AUTO_TEST_CASE(classes_do_not_pay_for_each_other) {
  follow({1, 10});
  BOOST_TEST(admitted(one, priority::high) == 10);
  BOOST_TEST(admitted(other, priority::high) == 100);
  BOOST_TEST(admitted(core::class_id{2}, priority::high) == 10'000);
}

BOOST_AUTO_TEST_CASE(one_rate_is_for_all_classes) {
  follow({1});
  BOOST_TEST(admitted(other, priority::high) == 10);
  BOOST_TEST(admitted(one, priority::high) == 0);
}

BOOST_AUTO_TEST_CASE(a_class_without_a_rate_is_seen_by_each_plan) {
  follow({0, 1});
  BOOST_TEST(admitted(one, priority::high) == 4);
  BOOST_TEST((sut.admit(one, priority::high, now) == 1h));
  now += 30s;
  follow({0, 1});
  BOOST_TEST((sut.admit(one, priority::low, now) == 0s));
  BOOST_TEST((sut.admit(one, priority::low, now) > 0s));
}

BOOST_AUTO_TEST_CASE(a_new_plan_keeps_what_was_admitted) {
  follow({10});
  BOOST_TEST(admitted(one, priority::high) == 100);
  follow({20});
  BOOST_TEST(admitted(one, priority::high) == 0);
  now += 1s;
  BOOST_TEST(admitted(one, priority::high) == 20);
}

BOOST_AUTO_TEST_SUITE_END()
