// SPDX-License-Identifier: Apache-2.0

// Rows that run a stage alone on a device, beside its steps.

#include "actors/trials_rig.hpp"
#include "support/told_stage.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using namespace atelier;
using actors::pool_suspects_queue;
using actors::role;
using planning::held;

struct rig : test::trials_rig {
  rig()
    : trials_rig([] {
        auto o = with();
        o.stages = test::pipeline_with(
          {}, {{test::told("soften", planning::hook::each_leg,
                           planning::if_failed::fail, {}, {},
                           planning::place::device),
                "denoise"}});
        return o;
      }()) {}

  actors::dispatcher& sut = dispatcher;
  actors::worker& steps = serving(2);
  actors::worker& stages = serving_pool(role::device_stage, 2, 1);
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(dispatcher_stage_trials_test, rig)

BOOST_AUTO_TEST_CASE(suspect_has_the_steps_and_the_stages_to_itself) {
  auto& r = pool_suspect("soften");
  pump();
  BOOST_TEST(runs_alone(r));
  BOOST_TEST(stages.trial.exclusive());
  auto& other = waits_to_draw();
  pump();
  BOOST_TEST(!runs(other));
}

BOOST_AUTO_TEST_CASE(steps_take_no_row_until_the_suspect_ran_or_is_gone) {
  auto& r = pool_suspect("soften");
  run(waits_to_draw(), steps);
  pump();
  auto& other = waits_to_draw();
  pump();
  BOOST_TEST(!runs(r));
  BOOST_TEST(!runs(other));
  BOOST_TEST(stages.trial.draining());
  cancel(r);
  pump();
  BOOST_TEST(runs(other));
  BOOST_TEST(!stages.trial.draining());
}

BOOST_AUTO_TEST_CASE(steps_continue_for_a_row_that_a_death_delayed) {
  auto& r = pool_suspect("soften");
  run(waits_to_draw(), steps);
  pump();
  BOOST_TEST_REQUIRE(stages.trial.draining());
  auto& delayed = waits_to_draw();
  delay(delayed);
  of.queues.touch(pool_suspects_queue);
  pump();
  BOOST_TEST(runs(delayed));
  BOOST_TEST(!runs(r));
}

BOOST_AUTO_TEST_CASE(trial_begins_when_the_delayed_row_lacks_slots) {
  // While the stages drain, the steps take no row.
  stages.trial.drain();
  out.offer(stages);
  auto& delayed = waits_to_draw();
  auto& other = waits_to_finish();
  leave_free(other, held::state, 0);
  enter(other, "finish");
  delay(delayed);
  auto& r = pool_suspect("soften");
  pump();
  BOOST_TEST(!runs(delayed));
  BOOST_TEST(runs_alone(r));
}

BOOST_AUTO_TEST_SUITE_END()
