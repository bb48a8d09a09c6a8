// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/slow_workers.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

namespace {

const run_shape plain{core::variant_id{0}, 1, 64 * 64};
const run_shape large{core::variant_id{0}, 8, 64 * 64};
constexpr core::worker_id one{1};
constexpr core::worker_id two{2};
constexpr core::worker_id three{3};

core::time_point at(core::timespan x) {
  return core::time_point{x};
}

void run(slow_workers& x, core::worker_id who, const run_shape& what,
         core::timespan step, core::time_point now, int times = 9) {
  for (int i = 0; i < times; ++i)
    x.ran(who, what, step, now);
}

} // namespace

BOOST_AUTO_TEST_SUITE(slow_workers_test)

BOOST_AUTO_TEST_CASE(who_takes_several_times_as_long_is_told_once) {
  slow_workers x;
  BOOST_TEST(!x.news(at(1s)));
  for (const auto who : {one, two, three})
    run(x, who, plain, 20ms, at(1s));
  BOOST_TEST(!x.news(at(1s)));
  run(x, two, plain, 200ms, at(2s));
  const auto told = x.news(at(2s));
  BOOST_TEST_REQUIRE(told.has_value());
  BOOST_TEST((*told == std::vector{two}));
  BOOST_TEST(!x.news(at(3s)));
  // Between both bounds the worker stays slow. Below the lower bound it no
  // longer counts as slow.
  run(x, two, plain, 50ms, at(4s));
  BOOST_TEST(!x.news(at(4s)));
  run(x, two, plain, 30ms, at(5s));
  // One check a second is enough.
  BOOST_TEST(!x.news(at(4500ms)));
  const auto again = x.news(at(5s));
  BOOST_TEST_REQUIRE(again.has_value());
  BOOST_TEST(again->empty());
}

BOOST_AUTO_TEST_CASE(a_burst_and_a_few_runs_tell_nothing) {
  slow_workers x;
  run(x, one, plain, 20ms, at(1s));
  run(x, two, plain, 20ms, at(1s), 7);
  run(x, two, plain, 900ms, at(1s), 3);
  run(x, three, plain, 900ms, at(1s), 4);
  BOOST_TEST(!x.news(at(1s)));
}

BOOST_AUTO_TEST_CASE(only_like_is_compared) {
  slow_workers x;
  run(x, one, plain, 20ms, at(1s));
  run(x, two, large, 200ms, at(1s));
  BOOST_TEST(!x.news(at(1s)));
  // All workers are slower, so this is the cost of the variant.
  run(x, one, plain, 500ms, at(2s));
  run(x, two, plain, 600ms, at(2s));
  BOOST_TEST(!x.news(at(2s)));
}

BOOST_AUTO_TEST_CASE(of_two_the_quicker_one_is_the_measure) {
  slow_workers x;
  run(x, one, plain, 300ms, at(1s));
  run(x, two, plain, 20ms, at(1s));
  const auto told = x.news(at(1s));
  BOOST_TEST_REQUIRE(told.has_value());
  BOOST_TEST((*told == std::vector{one}));
}

BOOST_AUTO_TEST_CASE(what_is_old_or_gone_is_tried_again) {
  slow_workers x;
  run(x, one, plain, 20ms, at(1s));
  run(x, two, plain, 200ms, at(1s));
  BOOST_TEST(x.news(at(1s)).has_value());
  run(x, one, plain, 20ms, at(11min));
  const auto later = x.news(at(11min));
  BOOST_TEST_REQUIRE(later.has_value());
  BOOST_TEST(later->empty());

  slow_workers y;
  run(y, one, plain, 20ms, at(1s));
  run(y, two, plain, 200ms, at(1s));
  BOOST_TEST(y.news(at(1s)).has_value());
  // No other worker is left for a comparison.
  y.gone(one);
  const auto alone = y.news(at(2s));
  BOOST_TEST_REQUIRE(alone.has_value());
  BOOST_TEST(alone->empty());
}

BOOST_AUTO_TEST_CASE(kinds_of_devices_are_not_compared) {
  slow_workers x;
  auto other = plain;
  other.kind = "cuda";
  core::time_point now{};
  for (int i = 0; i < 9; ++i) {
    now += 2s;
    x.ran(core::worker_id{1}, other, 10ms, now);
    x.ran(core::worker_id{2}, plain, 1s, now);
    BOOST_TEST(!x.news(now).has_value());
  }
}

BOOST_AUTO_TEST_CASE(shapes_are_bounded) {
  slow_workers x;
  run(x, one, plain, 20ms, at(1s));
  run(x, two, plain, 200ms, at(1s));
  for (uint32_t i = 0; i < 1000; ++i)
    x.ran(one, {core::variant_id{0}, 1, 1000 + i}, 20ms, at(2s));
  // The first shape ran longest ago.
  BOOST_TEST(!x.news(at(2s)));
}

BOOST_AUTO_TEST_SUITE_END()
