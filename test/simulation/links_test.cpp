// SPDX-License-Identifier: Apache-2.0
#include "support/deterministic_system.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/simulation/delayed_link.hpp>
#include <atelier/simulation/virtual_offload.hpp>
#include <atelier/simulation/virtual_timers.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

struct fixture : test::deterministic_system {
  std::shared_ptr<runtime::virtual_timers> timers =
    std::make_shared<runtime::virtual_timers>(sys);
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(links_test, fixture)

BOOST_AUTO_TEST_CASE(what_is_due_at_one_time_happens_in_order) {
  std::vector<int> order;
  timers->after(2ms, [&] { order.push_back(3); });
  timers->after(1ms, [&] { order.push_back(1); });
  timers->after(1ms, [&] {
    order.push_back(2);
    timers->after(1ms, [&] { order.push_back(4); });
  });
  advance(1ms);
  BOOST_TEST((order == std::vector<int>{1, 2}));
  advance(1ms);
  BOOST_TEST((order == std::vector<int>{1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(offloaded_work_ends_when_its_time_is_over) {
  runtime::virtual_offload offload{timers};
  int done = 0;
  BOOST_TEST(offload.run(5ms, [&] { ++done; }));
  offload.delay(10ms);
  BOOST_TEST(offload.run(5ms, [&] { ++done; }));
  offload.refuse(true);
  BOOST_TEST(!offload.run(5ms, [&] { ++done; }));
  advance(5ms);
  BOOST_TEST(done == 1);
  advance(10ms);
  BOOST_TEST(done == 2);
}

BOOST_AUTO_TEST_CASE(a_link_keeps_the_order_whatever_the_delays) {
  core::philox random{1, core::purpose::test};
  runtime::delayed_link link{
    timers, [&] {
      return runtime::link_fate{core::timespan{random.below(1'000'000)}, {}};
    }};
  std::vector<int> order;
  for (int i = 0; i < 100; ++i)
    link.post([&order, i] { order.push_back(i); });
  bool last = false;
  link.after_all(0ns, [&] { last = order.size() == 100; });
  advance(1ms);
  BOOST_REQUIRE(order.size() == 100u);
  BOOST_TEST(std::is_sorted(order.begin(), order.end()));
  BOOST_TEST(last);
}

BOOST_AUTO_TEST_CASE(a_delivery_comes_again_late_where_the_script_says_so) {
  runtime::delayed_link link{timers, [] {
                               return runtime::link_fate{1ms, 5ms};
                             }};
  int delivered = 0;
  link.post([&] { ++delivered; });
  advance(1ms);
  BOOST_TEST(delivered == 1);
  advance(5ms);
  BOOST_TEST(delivered == 2);
}

BOOST_AUTO_TEST_SUITE_END()
