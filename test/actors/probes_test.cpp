// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/probes.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

struct rig {
  actors::probes sut;
  core::time_point now{1h};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(probes_test, rig)

BOOST_AUTO_TEST_CASE(a_probe_is_due_some_time_after_the_last_one) {
  BOOST_TEST(!sut.is_due(0s, now));
  BOOST_TEST(sut.is_due(10s, now));
  // No worker is free for it: the next one is not due at once.
  sut.next(now);
  BOOST_TEST(!sut.is_due(10s, now + 9s));
  BOOST_TEST(sut.is_due(10s, now + 10s));
}

BOOST_AUTO_TEST_CASE(one_probe_is_open_at_a_time) {
  const auto id = sut.next(now);
  BOOST_TEST(actors::probes::is_probe(id));
  sut.begin(now);
  BOOST_TEST(!sut.is_due(10s, now + 1h));
  BOOST_TEST((sut.end(id) == now));
  BOOST_TEST(!sut.end(id).has_value());
  BOOST_TEST(sut.is_due(10s, now + 10s));
}

BOOST_AUTO_TEST_CASE(
  a_late_probe_is_over_and_its_answer_is_not_its_successor_s) {
  const auto first = sut.next(now);
  sut.begin(now);
  BOOST_TEST(!sut.end_late(1s, now + 999ms).has_value());
  BOOST_TEST((sut.end_late(1s, now + 1s) == now));
  BOOST_TEST(!sut.end_late(1s, now + 1s).has_value());
  const auto second = sut.next(now + 10s);
  sut.begin(now + 10s);
  BOOST_TEST(!sut.end(first).has_value());
  BOOST_TEST((sut.end(second) == now + 10s));
}

BOOST_AUTO_TEST_CASE(requests_are_no_probes) {
  BOOST_TEST(!actors::probes::is_probe(core::request_id{1}));
  BOOST_TEST(!sut.end(core::request_id{1}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
