// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/queues.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::queues;

constexpr core::queue_id left{1};
constexpr core::queue_id right{2};
constexpr core::request_id one{1};
constexpr core::request_id two{2};
constexpr core::request_id three{3};
constexpr core::worker_id idle{1};
constexpr core::worker_id busy{2};

constexpr std::array only_left{left};
constexpr std::array both{left, right};

struct rig {
  queues sut{1min};
  core::time_point now{1h};

  void push(core::queue_id queue, core::request_id id, queues::marks as = {},
            queues::end at = queues::end::back) {
    planning::waiting x;
    x.request = id;
    x.since = now;
    sut.push(queue, x, at, as);
  }

  std::vector<core::queue_id> touched() {
    std::vector<core::queue_id> out;
    while (const auto queue = sut.next())
      out.push_back(*queue);
    return out;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(queues_test, rig)

BOOST_AUTO_TEST_CASE(a_request_waits_in_one_queue_until_it_is_removed) {
  push(left, one);
  BOOST_TEST(sut.contains(one));
  BOOST_TEST((sut.where(one) == left));
  BOOST_TEST(sut.size() == 1u);
  BOOST_TEST(sut.size(right) == 0u);
  sut.remove(one);
  BOOST_TEST(!sut.contains(one));
  BOOST_TEST(sut.empty(left));
}

BOOST_AUTO_TEST_CASE(what_lost_its_worker_goes_to_the_front) {
  push(left, one);
  push(left, two, {}, queues::end::front);
  const std::array served{left};
  BOOST_TEST((sut.best(served, now, 1).at(0).request == two));
  BOOST_TEST(sut.best(served, now, 5).size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_queue_is_looked_at_once_after_a_change) {
  push(right, two);
  push(left, one);
  sut.touch(left);
  BOOST_TEST((touched() == std::vector{left, right}));
  BOOST_TEST(touched().empty());
  sut.touch_waiting(left);
  sut.touch_waiting(core::queue_id{3});
  BOOST_TEST((touched() == std::vector{left}));
}

BOOST_AUTO_TEST_CASE(a_starved_queue_waits_until_slots_may_be_there) {
  push(left, one);
  touched();
  sut.starve(left);
  BOOST_TEST(touched().empty());
  sut.feed();
  BOOST_TEST((touched() == std::vector{left}));
  sut.feed();
  BOOST_TEST(touched().empty());
}

BOOST_AUTO_TEST_CASE(the_least_loaded_worker_is_offered_first) {
  BOOST_TEST(sut.offered(left).empty());
  sut.offer(busy, 3, only_left);
  sut.offer(idle, 0, only_left);
  BOOST_TEST((sut.offered(left).begin()->worker == idle));
  BOOST_TEST(touched().empty());
  push(right, one);
  touched();
  sut.offer(busy, 3, both);
  BOOST_TEST((touched() == std::vector{right}));
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(an_offer_replaces_the_worker_s_last_one) {
  sut.offer(busy, 1, both);
  sut.offer(busy, 2, only_left);
  BOOST_TEST(sut.offered(left).size() == 1u);
  BOOST_TEST(sut.offered(left).begin()->taken == 2u);
  BOOST_TEST(sut.offered(right).empty());
  sut.offer(idle, 0, both);
  sut.offer(busy, 2, {});
  BOOST_TEST((sut.offered(left).begin()->worker == idle));
  sut.withdraw(idle);
  BOOST_TEST(sut.offered(left).empty());
  BOOST_TEST(sut.offered(right).empty());
  sut.withdraw(idle);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(who_is_held_up_is_not_delayed_again) {
  const std::array queues{left, right};
  push(left, one, {true, false});
  BOOST_TEST(sut.delays_again(queues));
  sut.starve(left);
  BOOST_TEST(!sut.delays_again(queues));
  sut.feed(right);
  BOOST_TEST(!sut.delays_again(queues));
  sut.feed(left);
  BOOST_TEST(sut.delays_again(queues));
  touched();
  sut.starve(left);
  sut.feed();
  BOOST_TEST((touched() == std::vector{left}));
  sut.remove(one);
  BOOST_TEST(!sut.delays_again(queues));
  BOOST_TEST(sut.held_up().empty());
  push(right, two);
  sut.hold_up(two);
  BOOST_TEST(sut.delays_again(queues));
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_seat_is_not_delayed_meanwhile) {
  const std::array queues{left, right};
  push(left, one, {true, false});
  sut.starve(left, actors::queues::lack::seat);
  BOOST_TEST(sut.delays_again(queues));
  sut.starve(left, actors::queues::lack::slots);
  BOOST_TEST(!sut.delays_again(queues));
  touched();
  sut.starve(left, actors::queues::lack::seat);
  sut.feed();
  BOOST_TEST((touched() == std::vector{left}));
}

BOOST_AUTO_TEST_CASE(who_only_waits_for_its_turn_is_looked_at_as_if_untried) {
  push(left, one);
  touched();
  sut.touch_untried(left);
  BOOST_TEST((touched() == std::vector{left}));
  sut.starve(left, actors::queues::lack::turn);
  sut.touch_untried(left);
  BOOST_TEST((touched() == std::vector{left}));
  for (const auto lacks :
       {actors::queues::lack::slots, actors::queues::lack::seat}) {
    sut.starve(left, lacks);
    sut.touch_untried(left);
    BOOST_TEST(touched().empty());
  }
  sut.touch_untried(right);
  BOOST_TEST(touched().empty());
}

BOOST_AUTO_TEST_CASE(what_is_under_way_is_counted_while_it_waits) {
  push(left, one, {false, true});
  push(left, two);
  push(right, three, {false, true});
  BOOST_TEST(sut.under_way().at(left) == 1u);
  BOOST_TEST(sut.under_way().at(right) == 1u);
  sut.remove(one);
  BOOST_TEST(sut.under_way().count(left) == 0u);
  BOOST_TEST(sut.under_way().size() == 1u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_request_is_held_up_once) {
  push(left, one, {false, true});
  sut.hold_up(one);
  sut.hold_up(one);
  BOOST_TEST(sut.held_up().at(left) == 1u);
  BOOST_TEST((sut.marks_of(one) == queues::marks{true, true}));
  sut.remove(one);
  BOOST_TEST(sut.held_up().empty());
  BOOST_TEST((sut.marks_of(one) == queues::marks{}));
  sut.remove(one);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_tenant_that_was_given_more_waits_for_the_others) {
  planning::waiting x;
  x.since = now;
  x.request = one;
  x.tenant = core::tenant_id{1};
  sut.push(left, x, queues::end::back, {});
  x.request = two;
  x.tenant = core::tenant_id{2};
  sut.push(left, x, queues::end::back, {});
  sut.charge(core::tenant_id{1}, 10s, now);
  const std::array served{left};
  BOOST_TEST((sut.best(served, now, 1).at(0).request == two));
}

BOOST_AUTO_TEST_SUITE_END()
