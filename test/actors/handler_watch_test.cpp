// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>

#include <boost/test/unit_test.hpp>
#include <support/deterministic_system.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

using namespace atelier;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

uint64_t counted(const std::string& actor) {
  const auto all = actors::count_blocked_handlers();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const auto& x) { return x.actor == actor; });
  return at == all.end() ? 0 : at->count;
}

/// Waits, as a handler must not, for an event that never happens.
void wait_for(core::timespan how_long) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock{mutex};
  const auto until = clock_type::now() + how_long;
  while (never.wait_until(lock, until) != std::cv_status::timeout) {
  }
}

struct busy_state {
  static inline const char* name = "busy";
};

actors::stage_actor::behavior_type busy(
  actors::self_of<actors::stage_actor, busy_state>,
  const std::function<void()>& what) {
  return {[what](const actors::run_stage&) { what(); },
          [](const actors::ask_order&) {}};
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(handler_watch_test, test::deterministic_system)

BOOST_AUTO_TEST_CASE(a_handler_that_waits_for_long_is_counted_by_its_actor) {
  const auto before = counted("busy");
  const auto sut = spawn(busy, [] { wait_for(5ms); });
  tell(sut, actors::run_stage{});
  BOOST_TEST(counted("busy") == before + 1);
  tell(sut, actors::run_stage{});
  BOOST_TEST(counted("busy") == before + 2);
  BOOST_TEST(counted("postprocess") == 0u);
}

BOOST_AUTO_TEST_CASE(handlers_that_end_at_once_are_not_counted) {
  const auto before = counted("busy");
  const auto sut = spawn(busy, [] {});
  for (int i = 0; i < 100; ++i)
    tell(sut, actors::run_stage{});
  BOOST_TEST(counted("busy") == before);
}

BOOST_AUTO_TEST_CASE(waiting_before_a_handler_is_not_its_own) {
  const auto before = counted("before");
  actors::handler_watch sut;
  wait_for(5ms);
  sut.begin();
  sut.handled("before");
  BOOST_TEST(counted("before") == before);
}

BOOST_AUTO_TEST_CASE(a_wait_is_counted_for_its_own_handler_alone) {
  const auto before = counted("alone");
  actors::handler_watch sut;
  sut.begin();
  wait_for(5ms);
  sut.handled("alone");
  // This wait is shorter than the counted ones, and the earlier waits do not
  // count here.
  sut.handled("alone");
  BOOST_TEST(counted("alone") == before + 1);
}

BOOST_AUTO_TEST_SUITE_END()
