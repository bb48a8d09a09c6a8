// SPDX-License-Identifier: Apache-2.0

// Searches that no request waits for.

#include "actors/scheduler_plan_rig.hpp"

#include <cmath>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using test::slow;

struct probing : test::plan_rig {
  probing() {
    rig->add_device(life(2));
    adjust = [](planning::plan& x) { x.probe_every = 10s; };
    publish({slow}, 4, planning::joining::step);
  }

  /// Submits one more request; returns the number of searches sent by then.
  size_t sent_by_next_request() {
    rig->submit();
    return questions().size();
  }

  static planning::facts nothing_near() {
    planning::facts found;
    found.near.emplace();
    return found;
  }

  const std::vector<planning::retrieval_sample>& samples() const {
    return rig->sut->counts().retrievals;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_probes, probing)

BOOST_AUTO_TEST_CASE(a_plan_has_one_sent_every_so_often) {
  BOOST_TEST_REQUIRE(sent_by_next_request() == 1u);
  BOOST_TEST(questions()[0].what.near);
  BOOST_TEST(!questions()[0].what.tolerated);
  // The request itself continues at once.
  BOOST_TEST(rig->count<test::prepare>() == 1u);
  rig->now += 50ms;
  answer(questions()[0], nothing_near(), {}, 30ms);
  BOOST_TEST_REQUIRE(samples().size() == 1u);
  BOOST_TEST(std::abs(samples()[0].seconds - 0.03) < 1e-9);
  BOOST_TEST(!samples()[0].failed);
  BOOST_TEST((samples()[0].time == rig->now));
  BOOST_TEST(rig->sut->counts().retrieved == 1u);
  // It does not count as a request's search.
  BOOST_TEST(rig->sut->counts().searched == 0u);
  rig->now += 9s;
  BOOST_TEST(sent_by_next_request() == 1u);
  rig->now += 1s;
  BOOST_TEST_REQUIRE(sent_by_next_request() == 2u);
  BOOST_TEST((questions()[1].who.id != questions()[0].who.id));
  BOOST_TEST(rig->work_off());
}

BOOST_AUTO_TEST_CASE(one_that_finds_nobody_is_a_failure) {
  BOOST_TEST_REQUIRE(sent_by_next_request() == 1u);
  answer(questions()[0], {});
  BOOST_TEST_REQUIRE(samples().size() == 1u);
  BOOST_TEST(samples()[0].failed);
}

BOOST_AUTO_TEST_CASE(one_that_is_late_is_a_failure_and_its_answer_is_none) {
  BOOST_TEST_REQUIRE(sent_by_next_request() == 1u);
  rig->now += 999ms;
  BOOST_TEST(sent_by_next_request() == 1u);
  BOOST_TEST(samples().empty());
  rig->now += 1ms;
  BOOST_TEST(sent_by_next_request() == 1u);
  BOOST_TEST_REQUIRE(samples().size() == 1u);
  BOOST_TEST(samples()[0].failed);
  BOOST_TEST(samples()[0].seconds == 1.0);
  answer(questions()[0], nothing_near());
  BOOST_TEST(samples().size() == 1u);
  rig->now += 9s;
  BOOST_TEST(sent_by_next_request() == 2u);
}

BOOST_AUTO_TEST_CASE(a_plan_that_wants_none_has_none_sent) {
  adjust = nullptr;
  publish({slow}, 4, planning::joining::step);
  BOOST_TEST(sent_by_next_request() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
