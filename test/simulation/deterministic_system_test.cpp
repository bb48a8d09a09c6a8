// SPDX-License-Identifier: Apache-2.0
#include "support/deterministic_system.hpp"

#include <caf/event_based_actor.hpp>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using atelier::core::time_point;
using tick = caf::atom_constant<caf::atom("tick")>;

using times = std::shared_ptr<std::vector<time_point>>;

// Ticks every 10 ms forever.
caf::behavior clockwork(caf::event_based_actor* self, times into) {
  self->delayed_send(self, 10ms, tick::value);
  return {
    [=](tick) {
      into->push_back(self->clock().now());
      self->delayed_send(self, 10ms, tick::value);
    },
  };
}

caf::behavior listener(caf::event_based_actor*,
                       std::shared_ptr<std::vector<int>> into) {
  return {
    [=](int x) { into->push_back(x); },
  };
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(deterministic_system_test,
                         atelier::test::deterministic_system)

BOOST_AUTO_TEST_CASE(chained_timers_do_not_drift) {
  const auto seen = std::make_shared<std::vector<time_point>>();
  const auto begin = now();
  spawn(clockwork, seen);
  advance(1s);
  BOOST_REQUIRE(seen->size() == 100u);
  for (size_t i = 0; i < 100; ++i)
    BOOST_TEST(((*seen)[i] - begin == 10ms * (i + 1)));
  BOOST_TEST((now() == begin + 1s));
  // The fixture's end kills the actor, which would tick forever.
}

BOOST_AUTO_TEST_CASE(time_stands_still_unless_it_is_advanced) {
  const auto seen = std::make_shared<std::vector<time_point>>();
  spawn(clockwork, seen);
  run();
  BOOST_TEST(seen->empty());
  advance(9ms);
  BOOST_TEST(seen->empty());
  advance(1ms);
  BOOST_TEST(seen->size() == 1u);
}

BOOST_AUTO_TEST_CASE(one_message_is_delivered_at_a_time) {
  const auto seen = std::make_shared<std::vector<int>>();
  const auto a = spawn(listener, seen);
  const auto b = spawn(listener, seen);
  caf::anon_send(a, 1);
  caf::anon_send(b, 2);
  BOOST_TEST(std::get<0>(deliver<int>(b)) == 2);
  BOOST_TEST((*seen == std::vector<int>{2}));
  BOOST_TEST(std::get<0>(deliver<int>(a)) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
