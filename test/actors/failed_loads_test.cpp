// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/failed_loads.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using actors::failed_loads;

namespace {

constexpr core::variant_id variant{3};
const failed_loads::key here{{core::process_id{2}, 0}, variant};
const failed_loads::key there{{core::process_id{3}, 0}, variant};

struct failing_loads {
  bool fail(const char* why = "gone") {
    return sut.failed(here, core::fail(core::ec::not_found, "{}", why), now);
  }

  failed_loads sut;
  core::time_point now{1h};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(failed_loads_test, failing_loads)

BOOST_AUTO_TEST_CASE(pauses_double_up_to_a_minute) {
  std::vector<core::timespan> pauses;
  for (int i = 0; i < 8; ++i) {
    fail();
    pauses.push_back(sut.paused(here)->due - now);
    now += pauses.back();
    BOOST_TEST((sut.due(now) == std::vector{here}));
  }
  const std::vector<core::timespan> expected{1s,  2s,  4s,  8s,
                                             16s, 32s, 60s, 60s};
  BOOST_TEST((pauses == expected));
}

BOOST_AUTO_TEST_CASE(a_failure_is_known_after_its_pause_until_it_is_mended) {
  fail();
  BOOST_TEST(sut.waits());
  BOOST_TEST(sut.due(now + 999ms).empty());
  BOOST_TEST((sut.due(now + 1s) == std::vector{here}));
  BOOST_TEST(!sut.waits());
  BOOST_TEST((sut.paused(here) == nullptr));
  BOOST_TEST(sut.all().size() == 1u);
  BOOST_TEST(sut.loaded(here));
  BOOST_TEST(!sut.loaded(here));
  BOOST_TEST(sut.all().empty());
}

BOOST_AUTO_TEST_CASE(the_same_reason_is_news_once) {
  BOOST_TEST(fail());
  BOOST_TEST(!fail());
  BOOST_TEST(fail("cut"));
  BOOST_TEST(sut.all().begin()->second.why.text == "cut");
  BOOST_TEST((sut.all().begin()->second.since == now));
}

BOOST_AUTO_TEST_CASE(each_place_fails_by_itself) {
  fail();
  BOOST_TEST((sut.paused(there) == nullptr));
  BOOST_TEST((sut.paused_anywhere(variant) != nullptr));
  BOOST_TEST((sut.paused_anywhere(core::variant_id{1}) == nullptr));
}

BOOST_AUTO_TEST_CASE(a_hurried_attempt_is_due_at_once_and_pauses_anew) {
  for (int i = 0; i < 5; ++i)
    fail();
  sut.hurry(core::variant_id{1}, now);
  BOOST_TEST(sut.due(now).empty());
  sut.hurry(variant, now);
  BOOST_TEST((sut.due(now) == std::vector{here}));
  fail();
  BOOST_TEST((sut.paused(here)->due - now == 1s));
}

BOOST_AUTO_TEST_SUITE_END()
