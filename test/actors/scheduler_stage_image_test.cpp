// SPDX-License-Identifier: Apache-2.0

// Stages that start from the image of the leg before, and the slots of routes
// with several legs.

#include "actors/scheduler_plan_rig.hpp"

namespace {

using namespace atelier;
using planning::joining;
using test::fast;
using test::slow;

/// Returns a route with a light leg that nothing passes, then a leg of four
/// steps, which may leave out some.
planning::route refining(uint32_t skip) {
  planning::route r;
  r.name = "refine";
  planning::leg light;
  light.any_of = {fast};
  light.check = planning::gate{"judge", 0};
  planning::leg heavy;
  heavy.any_of = {slow};
  heavy.from = planning::origin::stage_image;
  heavy.skip = skip;
  r.legs = {light, heavy};
  return r;
}

struct fixture : test::plan_rig {
  explicit fixture(uint32_t slots = 16) : plan_rig(slots) {}

  void publish_refining(uint32_t skip) {
    adjust = [skip](planning::plan& p) {
      p.routes[0] = refining(skip);
      p.thresholds = {1};
    };
    policy->choosing = [](const planning::facts&) -> planning::choice {
      return planning::go{core::route_id{0}};
    };
    rig->add_device(life(2));
    publish({slow, fast}, 4, joining::step);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_stage_image, fixture)

BOOST_AUTO_TEST_CASE(a_stage_starts_from_the_image_of_the_one_before) {
  publish_refining(1);
  const auto id = rig->submit();
  prepare_all();
  const auto light = rig->take<actors::denoise>();
  BOOST_TEST(!light.source);
  rig->done(light);
  const auto p = rig->take<test::prepare>();
  BOOST_TEST((p.drawn == light.image));
  BOOST_TEST((p.drawn_px == light.recipe.px));
  BOOST_TEST(!p.files);
  BOOST_TEST(static_cast<bool>(p.source));
  BOOST_TEST(p.how.from_image);
  BOOST_TEST(p.how.strength == 0.75f);
  BOOST_REQUIRE(rig->store->view(p.drawn));
  BOOST_REQUIRE(rig->store->publish(p.state, 1, 0));
  BOOST_REQUIRE(rig->store->publish(p.source, 1, 0));
  rig->reply_prepared(p.who);
  // The light image stays, because the heavy leg may be late.
  BOOST_REQUIRE(rig->store->view(light.image));
  const auto heavy = rig->take<actors::denoise>();
  BOOST_TEST((heavy.source == p.source));
  BOOST_TEST(heavy.steps_done == 0u);
  BOOST_TEST(rig->sut->cluster().workers[0].steps_left == 3u);
  rig->done(heavy);
  BOOST_TEST(rig->work_off());
  BOOST_TEST((rig->failure_of(id) == core::ec::none));
  BOOST_TEST(rig->answer_to(id).recipe.strength == 0.75f);
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(a_death_takes_no_image_that_a_stage_starts_from) {
  publish_refining(2);
  const auto id = rig->submit();
  prepare_all();
  rig->done(rig->take<actors::denoise>());
  BOOST_TEST(rig->count<test::prepare>() == 1u);
  rig->sent.clear();
  rig->kill(life(1));
  rig->add_cpu(test::scheduler_rig::life(1, 2), 16);
  const auto p = rig->take<test::prepare>();
  BOOST_REQUIRE(rig->store->view(p.drawn));
  BOOST_REQUIRE(rig->store->publish(p.state, 1, 0));
  BOOST_REQUIRE(rig->store->publish(p.source, 1, 0));
  rig->reply_prepared(p.who);
  rig->sent.clear();
  rig->kill(life(2));
  rig->add_device(test::scheduler_rig::life(2, 2));
  const auto again = rig->take<actors::denoise>();
  BOOST_TEST((again.source == p.source));
  rig->done(again);
  BOOST_TEST(rig->work_off());
  BOOST_TEST((rig->failure_of(id) == core::ec::none));
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(a_request_with_an_image_starts_each_stage_from_that) {
  publish_refining(2);
  rig->submit_image();
  prepare_all();
  const auto light = rig->take<actors::denoise>();
  BOOST_TEST(light.recipe.from_image);
  rig->done(light);
  const auto p = rig->take<test::prepare>();
  BOOST_TEST(!p.drawn);
  BOOST_TEST(static_cast<bool>(p.files));
  BOOST_TEST(p.how.strength == light.recipe.strength);
}

BOOST_AUTO_TEST_CASE(a_light_image_each_does_not_fill_the_arena) {
  // These are the fewest slots that each route can run with. The plain one
  // needs a light image, a heavy one and the file. The second also needs a
  // source. Requests with an image need two more.
  for (const auto& [skip, with_image, slots] :
       {std::tuple{0u, false, 3u}, std::tuple{2u, false, 4u},
        std::tuple{2u, true, 5u}}) {
    BOOST_TEST_CONTEXT(skip << " skipped, image " << with_image) {
      fixture few{slots};
      few.publish_refining(skip);
      std::vector<core::request_id> all;
      for (int i = 0; i < 20; ++i)
        all.push_back(with_image ? few.rig->submit_image() : few.rig->submit());
      BOOST_TEST(few.rig->work_off());
      for (const auto id : all)
        BOOST_TEST((few.rig->failure_of(id) == core::ec::none));
      BOOST_TEST(few.rig->quiet());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_route_that_the_arena_is_too_small_for_is_refused) {
  fixture few{3};
  few.publish_refining(2);
  const auto id = few.rig->submit();
  BOOST_TEST((few.rig->failure_of(id) == core::ec::out_of_resources));
  BOOST_TEST(few.rig->answer_to(id).failure.text
             == "route 'refine' needs 4 image slots, but only 3 exist "
                "(arena.image_slots)");
  BOOST_TEST(few.rig->quiet());
}

BOOST_AUTO_TEST_SUITE_END()
