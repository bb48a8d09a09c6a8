// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/orders.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

constexpr core::ticket a{core::request_id{1}, 1};
constexpr core::ticket b{core::request_id{1}, 2};
constexpr core::ticket c{core::request_id{2}, 1};

using tickets = std::vector<core::ticket>;

struct fixture {
  void add(core::ticket who, core::timespan patience) {
    actors::dispatched x;
    x.worker = core::worker_id{7};
    sut.add(who, x, {patience / 2, patience}, start);
  }

  const core::time_point start{1h};
  actors::orders sut;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(orders_test, fixture)

BOOST_AUTO_TEST_CASE(an_order_is_open_until_its_end) {
  BOOST_TEST(sut.empty());
  add(a, 1s);
  BOOST_TEST(sut.size() == 1u);
  BOOST_REQUIRE(sut.find(a) != nullptr);
  BOOST_TEST(sut.find(b) == nullptr);
  BOOST_TEST((sut.at(a).worker == core::worker_id{7}));
  BOOST_TEST(sut.end(a).has_value());
  BOOST_TEST(!sut.end(a).has_value());
  BOOST_TEST(sut.empty());
}

BOOST_AUTO_TEST_CASE(each_is_due_when_its_own_time_is_over) {
  add(c, 2s);
  add(b, 1s);
  add(a, 1s);
  BOOST_TEST(sut.overdue(start + 1s).empty());
  BOOST_TEST((sut.overdue(start + 1s + 1ns) == tickets{a, b}));
  BOOST_TEST((sut.overdue(start + 2s + 1ns) == tickets{c}));
}

BOOST_AUTO_TEST_CASE(news_of_one_renews_only_that_one) {
  add(a, 1s);
  add(b, 1s);
  sut.renew(a, start + 900ms);
  BOOST_TEST((sut.overdue(start + 1500ms) == tickets{b}));
  BOOST_TEST((sut.overdue(start + 1901ms) == tickets{a}));
  sut.renew(c, start);
}

BOOST_AUTO_TEST_CASE(a_worker_is_asked_again_until_it_shows_something) {
  add(a, 1s);
  BOOST_TEST(!sut.is_asked(a));
  BOOST_TEST((sut.overdue(start + 1500ms) == tickets{a}));
  BOOST_TEST(sut.is_asked(a));
  BOOST_TEST(sut.overdue(start + 2500ms).empty());
  BOOST_TEST(sut.unanswered(start + 2500ms).empty());
  BOOST_TEST((sut.unanswered(start + 2501ms) == tickets{a}));
  BOOST_TEST((sut.overdue(start + 2501ms) == tickets{a}));
  sut.renew(a, start + 2600ms);
  BOOST_TEST(!sut.is_asked(a));
  BOOST_TEST(!sut.is_asked(b));
}

BOOST_AUTO_TEST_CASE(the_work_of_orders_is_summed) {
  add(a, 1s);
  add(b, 2s);
  BOOST_TEST((sut.work_of(tickets{}) == 0s));
  BOOST_TEST((sut.work_of(tickets{a, b}) == 1500ms));
}

BOOST_AUTO_TEST_SUITE_END()
