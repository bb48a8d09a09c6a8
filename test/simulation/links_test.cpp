// SPDX-License-Identifier: Apache-2.0
#include "support/deterministic_system.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/simulation/simulated_transport.hpp>
#include <atelier/simulation/virtual_offload.hpp>
#include <atelier/simulation/virtual_timers.hpp>

#include <chrono>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::node_id;

struct fixture : test::deterministic_system {
  using node = std::shared_ptr<runtime::simulated_transport>;

  node make_node(uint32_t id) {
    auto x =
      std::make_shared<runtime::simulated_transport>(node_id{id}, timers);
    x->connect({[this, id](node_id from, std::vector<std::byte> record) {
                  log.push_back(fmt::format("{}: {} from {}", id, record.size(),
                                            from.value));
                },
                [this, id](node_id whom) {
                  log.push_back(fmt::format("{}: lost {}", id, whom.value));
                }});
    return x;
  }

  static std::vector<std::byte> record(size_t bytes) {
    return std::vector<std::byte>(bytes);
  }

  std::shared_ptr<runtime::virtual_timers> timers =
    std::make_shared<runtime::virtual_timers>(sys);
  std::vector<std::string> log;
};

using lines = std::vector<std::string>;

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

BOOST_AUTO_TEST_CASE(records_cross_whole_and_in_order) {
  const auto a = make_node(0);
  const auto b = make_node(1);
  BOOST_TEST(!a->send(node_id{1}, record(1)));
  runtime::simulated_transport::link(a, b, [] {
    return runtime::link_fate{3ms, {}};
  });
  BOOST_TEST(a->send(node_id{1}, record(10)));
  BOOST_TEST(a->send(node_id{1}, record(20)));
  BOOST_TEST(b->send(node_id{0}, record(30)));
  advance(2ms);
  BOOST_TEST(log.empty());
  advance(1ms);
  BOOST_TEST((log == lines{"1: 10 from 0", "1: 20 from 0", "0: 30 from 1"}));
}

BOOST_AUTO_TEST_CASE(a_cut_link_loses_what_is_on_its_way_and_both_ends_know) {
  const auto a = make_node(0);
  const auto b = make_node(1);
  runtime::simulated_transport::link(a, b, [] {
    return runtime::link_fate{3ms, {}};
  });
  a->send(node_id{1}, record(10));
  b->send(node_id{0}, record(10));
  advance(1ms);
  a->cut(node_id{1});
  BOOST_TEST((log == lines{"0: lost 1"}));
  advance(1s);
  BOOST_TEST((log == lines{"0: lost 1", "1: lost 0"}));
  BOOST_TEST(!a->send(node_id{1}, record(1)));
  BOOST_TEST(!b->send(node_id{0}, record(1)));
  // After a new link, they communicate again.
  runtime::simulated_transport::link(a, b);
  a->send(node_id{1}, record(7));
  advance(0ns);
  BOOST_TEST(log.back() == "1: 7 from 0");
}

BOOST_AUTO_TEST_SUITE_END()
