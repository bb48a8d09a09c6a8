// SPDX-License-Identifier: Apache-2.0
#include "actors/parts_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using test::parts_rig;

using tickets = std::vector<core::ticket>;

constexpr core::ticket first{core::request_id{1}, 1};
constexpr core::ticket second{core::request_id{2}, 1};

// Silence is 5 s, and a worker may take eight times as long as predicted.
struct rig : parts_rig {
  void hand_over(core::ticket who, actors::worker& w,
                 core::timespan takes = 1s) {
    actors::dispatched x;
    x.worker = w.id();
    x.steps_left = 4;
    out.hand_over(who, x, w, takes, now);
  }

  // Time in which the scheduler runs.
  core::time_point pass(core::timespan time) {
    const auto until = now + time;
    while (now + 500ms < until) {
      now += 500ms;
      out.running_time(now);
    }
    now = until;
    return out.running_time(now);
  }

  tickets overdue_after(core::timespan time) {
    return of.orders.overdue(pass(time));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(deliveries_test, rig)

BOOST_AUTO_TEST_CASE(order_that_is_handed_over_has_a_seat) {
  auto& w = device(2);
  hand_over(first, w);
  BOOST_TEST((w.seat.orders() == tickets{first}));
  BOOST_TEST(w.seat.steps_left() == 4u);
  BOOST_TEST_REQUIRE(of.orders.find(first) != nullptr);
  BOOST_TEST((of.orders.at(first).worker == w.id()));
}

BOOST_AUTO_TEST_CASE(order_at_a_device_is_overdue_by_its_own_time) {
  auto& w = device(2);
  hand_over(first, w, 10s);
  hand_over(second, w, 1s);
  // Eight times its time, and half of the silence.
  BOOST_TEST(overdue_after(10500ms).empty());
  BOOST_TEST((overdue_after(1ns) == tickets{second}));
}

BOOST_AUTO_TEST_CASE(order_of_a_pool_waits_for_those_before_it) {
  auto& w = pool(role::preprocess, 1, 2);
  hand_over(first, w, 1s);
  hand_over(second, w, 2s);
  BOOST_TEST((of.orders.work_of(w.seat.orders()) == 24s));
  BOOST_TEST(overdue_after(10500ms).empty());
  BOOST_TEST((overdue_after(1ns) == tickets{first}));
  of.orders.end(first);
  BOOST_TEST(overdue_after(16s - 1ns).empty());
  BOOST_TEST((overdue_after(1ns) == tickets{second}));
}

BOOST_AUTO_TEST_CASE(silence_of_a_device_is_explained_by_one_order) {
  auto& w = device(2);
  hand_over(first, w);
  BOOST_TEST(!w.signs.unexplained(pass(13s)).has_value());
  BOOST_TEST(w.signs.unexplained(pass(1ns)).has_value());
}

BOOST_AUTO_TEST_CASE(silence_of_a_pool_is_explained_by_all_its_seats) {
  auto& w = pool(role::preprocess, 1, 2);
  hand_over(first, w);
  BOOST_TEST(!w.signs.unexplained(pass(21s)).has_value());
  BOOST_TEST(w.signs.unexplained(pass(1ns)).has_value());
}

BOOST_AUTO_TEST_CASE(idle_time_of_a_worker_is_no_silence) {
  auto& w = device(2);
  pass(20s);
  hand_over(first, w);
  BOOST_TEST(!w.signs.unexplained(pass(13s)).has_value());
  // It is no longer idle.
  hand_over(second, w);
  BOOST_TEST(w.signs.unexplained(pass(1ns)).has_value());
}

BOOST_AUTO_TEST_CASE(time_in_which_the_scheduler_stands_still_is_no_silence) {
  out.running_time(now);
  const auto before = out.running_time(now);
  now += 1h;
  BOOST_TEST((out.running_time(now) - before == 500ms));
  now += 400ms;
  BOOST_TEST((out.running_time(now) - before == 900ms));
  now -= 1h;
  BOOST_TEST((out.running_time(now) - before == 900ms));
}

BOOST_AUTO_TEST_CASE(order_that_cannot_leave_comes_back_once) {
  auto& w = device(2);
  out.send(w, first, actors::denoise{});
  BOOST_TEST(!out.next_unsent().has_value());
  BOOST_TEST(take_sent<actors::denoise>().size() == 1u);
  send_nothing();
  out.send(w, first, actors::denoise{});
  out.send(w, second, actors::run_stage{});
  const auto unsent = out.next_unsent();
  BOOST_TEST_REQUIRE(unsent.has_value());
  BOOST_TEST((unsent->first == first));
  BOOST_TEST(unsent->second.text == "too large");
  BOOST_TEST((out.next_unsent()->first == second));
  BOOST_TEST(!out.next_unsent().has_value());
}

BOOST_AUTO_TEST_CASE(message_that_cannot_leave_does_not_come_back) {
  auto& w = device(2);
  out.tell(w, actors::cancel_work{first});
  const auto sent = take_sent<actors::cancel_work>();
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  BOOST_TEST((sent.front().ticket == first));
  send_nothing();
  out.tell(w, actors::cancel_work{first});
  BOOST_TEST(!out.next_unsent().has_value());
}

BOOST_AUTO_TEST_CASE(worker_offers_a_seat_to_the_queues_that_it_serves) {
  auto& w = device(2, [](actors::worker_ready& x) { x.seats = 2; });
  const auto offered = [&](core::queue_id queue) {
    return of.queues.offered(queue).contains({w.seat.taken(), w.id()});
  };
  of.views.cluster();
  draws_at(w);
  out.offer(w);
  for (const auto queue : w.host.queues())
    BOOST_TEST(offered(queue));
  BOOST_TEST(w.host.queues().size() == 3u);
  draws_at(w);
  out.offer(w);
  for (const auto queue : w.host.queues())
    BOOST_TEST(of.queues.offered(queue).empty());
}

BOOST_AUTO_TEST_CASE(offer_shows_a_worker_anew) {
  auto& w = device(2);
  of.views.cluster();
  w.seat.sit(first, 4);
  of.orders.add(first, {}, {}, now);
  out.offer(w);
  BOOST_TEST(of.views.cluster().workers.front().seats_taken == 1u);
}

BOOST_AUTO_TEST_CASE(slow_worker_offers_seats_where_no_other_does) {
  auto& slow = device(2);
  auto& other =
    device(3, [](actors::worker_ready& x) { x.variants = {"card@4"}; });
  of.workers.set_slow(slow, true);
  out.offer(slow);
  const auto offered = [&](uint32_t variant) {
    return !of.queues.offered(planning::queue_of(core::variant_id{variant}))
              .empty();
  };
  BOOST_TEST(!offered(0));
  BOOST_TEST(offered(1));
  BOOST_TEST(!of.queues.offered(planning::queue_of(slow.id())).empty());
  of.workers.suspect(other);
  out.offer(slow);
  BOOST_TEST(offered(0));
}

BOOST_AUTO_TEST_SUITE_END()
