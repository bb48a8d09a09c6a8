// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/argus/strategy_switch.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning::argus;
using test::at_s;

namespace {

// 50 steps take 4.2 s, so 10 skipped steps save 0.84 s.
constexpr switch_scale scale{4.2, 50, 10};

switch_state in_models(int64_t since) {
  switch_state s;
  s.phase = switch_phase::models;
  s.since = at_s(since);
  return s;
}

} // namespace

BOOST_AUTO_TEST_SUITE(argus_strategy_switch_test)

BOOST_AUTO_TEST_CASE(slow_retrieval_leaves_the_cache) {
  switch_state s;
  for (size_t i = 0; i < 19; ++i)
    BOOST_TEST(!note_retrieval(s, {0.43, false}, scale, at_s(1)));
  BOOST_TEST(note_retrieval(s, {0.43, false}, scale, at_s(2)));
  BOOST_TEST((s.phase == switch_phase::leaving));
  BOOST_TEST((s.since == at_s(2)));
  BOOST_TEST(!may_use_cache(s.phase));
  // Nothing more happens until the models are loaded.
  BOOST_TEST(!note_retrieval(s, {9, true}, scale, at_s(3)));
  BOOST_TEST(all_loaded(s, at_s(9)));
  BOOST_TEST((s.phase == switch_phase::models));
}

BOOST_AUTO_TEST_CASE(half_of_what_is_saved_is_not_too_slow) {
  switch_state s;
  for (size_t i = 0; i < 100; ++i)
    BOOST_TEST(!note_retrieval(s, {0.41, false}, scale, at_s(1)));
  BOOST_TEST(s.seconds.size() == 20u);
  // The level in use skips almost nothing. The scale counts five steps
  // nevertheless.
  switch_state low;
  for (size_t i = 0; i < 100; ++i)
    BOOST_TEST(!note_retrieval(low, {0.2, false}, {4.2, 50, 0.1}, at_s(1)));
}

BOOST_AUTO_TEST_CASE(three_timeouts_running_leave_the_cache) {
  switch_state s;
  BOOST_TEST(!note_retrieval(s, {0, true}, scale, at_s(1)));
  BOOST_TEST(!note_retrieval(s, {0, true}, scale, at_s(1)));
  BOOST_TEST(!note_retrieval(s, {0.05, false}, scale, at_s(1)));
  BOOST_TEST(!note_retrieval(s, {0, true}, scale, at_s(1)));
  BOOST_TEST(!note_retrieval(s, {0, true}, scale, at_s(1)));
  BOOST_TEST(note_retrieval(s, {0, true}, scale, at_s(1)));
}

BOOST_AUTO_TEST_CASE(quick_probes_return_after_the_least_stay) {
  auto s = in_models(0);
  for (int i = 1; i <= 59; ++i)
    BOOST_TEST(!note_retrieval(s, {0.1, false}, scale, at_s(i)));
  BOOST_TEST(note_retrieval(s, {0.1, false}, scale, at_s(60)));
  BOOST_TEST((s.phase == switch_phase::returning));
  BOOST_TEST(!may_use_cache(s.phase));
  BOOST_TEST(all_loaded(s, at_s(70)));
  BOOST_TEST((s.phase == switch_phase::latents));
  BOOST_TEST(may_use_cache(s.phase));
  BOOST_TEST(!all_loaded(s, at_s(71)));
}

BOOST_AUTO_TEST_CASE(one_slow_or_failed_probe_starts_the_count_again) {
  auto s = in_models(0);
  for (int i = 0; i < 9; ++i)
    BOOST_TEST(!note_retrieval(s, {0.03, false}, scale, at_s(100)));
  BOOST_TEST(!note_retrieval(s, {0, true}, scale, at_s(100)));
  for (int i = 0; i < 9; ++i)
    BOOST_TEST(!note_retrieval(s, {0.03, false}, scale, at_s(100)));
  BOOST_TEST(!note_retrieval(s, {0.2, false}, scale, at_s(100)));
  for (int i = 0; i < 9; ++i)
    BOOST_TEST(!note_retrieval(s, {0.03, false}, scale, at_s(100)));
  BOOST_TEST(note_retrieval(s, {0.03, false}, scale, at_s(100)));
}

BOOST_AUTO_TEST_CASE(probes_are_wanted_each_second_where_nobody_retrieves) {
  using namespace std::chrono_literals;
  auto s = in_models(0);
  BOOST_TEST((probe_every(s, scale) == 1s));
  s.phase = switch_phase::latents;
  BOOST_TEST((probe_every(s, scale) == 0s));
  BOOST_TEST((probe_every(s, {4.2, 50, 0}) == 1s));
  s.phase = switch_phase::leaving;
  BOOST_TEST((probe_every(s, scale) == 0s));
}

BOOST_AUTO_TEST_SUITE_END()
