// SPDX-License-Identifier: Apache-2.0
#include "actors/scheduler_rig.hpp"
#include <atelier/planning/policies/vanilla/vanilla.hpp>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using core::ec;
using test::finish;
using test::prepare;

constexpr auto device = test::scheduler_rig::life(2);

// Sends every request along the plan's only route.
struct only_route : planning::vanilla {
  planning::choice choose(const planning::decision_context&) const override {
    return planning::go{core::route_id{0}};
  }
};

// A rig with a route of two legs, each from noise: card@2, then card@4.
struct cascade : test::scheduler_rig {
  explicit cascade(planning::late_rule late = planning::late_rule::answer_best)
    : scheduler_rig(along(late)) {
    add_cpu();
    add_device(device);
  }

  static options along(planning::late_rule late) {
    planning::leg small;
    small.any_of = {core::variant_id{1}};
    // The gate passes nothing.
    small.check = planning::gate{"judge", 0};
    planning::leg large;
    large.any_of = {core::variant_id{0}};
    planning::route r;
    r.name = "cascade";
    r.legs = {small, large};
    r.late = late;
    auto plan = std::make_shared<planning::plan>();
    plan->routes = {r};
    plan->thresholds = {0.5};
    options o;
    o.policy = std::make_shared<only_route>();
    o.plan = plan;
    return o;
  }

  // Runs the first leg to its end.
  actors::denoise first_leg() {
    done(take<prepare>());
    const auto d = take<denoise>();
    done(d);
    return d;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_stages_test)

BOOST_AUTO_TEST_CASE(a_image_that_does_not_pass_its_gate_goes_on) {
  cascade rig;
  const auto id = rig.submit();
  const auto small = rig.first_leg();
  BOOST_TEST(small.recipe.steps == 2u);
  rig.done(rig.take<prepare>());
  const auto large = rig.take<denoise>();
  BOOST_TEST(large.recipe.steps == 4u);
  rig.done(large);
  const auto f = rig.take<finish>();
  BOOST_TEST((f.pixels == large.image));
  rig.done(f);
  BOOST_TEST(rig.answer_to(id).route == "cascade");
  BOOST_TEST(rig.answer_to(id).steps_run == 6u);
  BOOST_TEST(rig.answer_to(id).variant == "card@4");
  rig.taken(id);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(where_the_last_stage_fails_the_best_image_is_answered) {
  cascade rig;
  const auto id = rig.submit();
  const auto small = rig.first_leg();
  rig.done(rig.take<prepare>());
  rig.reply_denoised(rig.take<denoise>().ticket,
                     core::fail(ec::internal, "broken"));
  const auto f = rig.take<finish>();
  BOOST_TEST((f.pixels == small.image));
  // The metadata names the leg that drew the image, not the leg that failed
  // after it.
  BOOST_TEST(f.variant == "card@2");
  BOOST_TEST(f.how.steps == 2u);
  rig.done(f);
  BOOST_TEST((rig.failure_of(id) == ec::none));
  BOOST_TEST(rig.answer_to(id).variant == "card@2");
  rig.taken(id);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(who_is_late_gets_the_best_image_so_far) {
  for (int at = 0; at < 2; ++at) {
    cascade rig;
    const auto id =
      rig.submit([&](core::request& x) { x.deadline = rig.now + 1s; });
    const auto small = rig.first_leg();
    auto p = rig.take<prepare>();
    core::ticket running = p.who;
    if (at == 1) {
      rig.done(p);
      running = rig.take<denoise>().ticket;
    }
    rig.tick(1s);
    BOOST_TEST(!rig.answered(id));
    const auto f = rig.take<finish>();
    BOOST_TEST((f.pixels == small.image));
    BOOST_TEST(f.variant == "card@2");
    // The abandoned leg ends late.
    if (at == 0)
      rig.reply_prepared(running);
    else
      rig.reply_denoised(running);
    rig.done(f);
    BOOST_TEST((rig.failure_of(id) == ec::none));
    BOOST_TEST(rig.sut->counts().late == 0u);
    rig.taken(id);
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(the_best_image_so_far_comes_in_time) {
  cascade rig;
  const auto deadline = rig.now + 1s;
  const auto id = rig.submit([&](core::request& x) { x.deadline = deadline; });
  rig.first_leg();
  rig.done(rig.take<prepare>());
  const auto large = rig.take<denoise>();
  rig.tick(970ms);
  BOOST_TEST(rig.count<finish>() == 0u);
  rig.tick(6ms);
  rig.done(rig.take<finish>());
  BOOST_TEST((rig.failure_of(id) == ec::none));
  BOOST_TEST((rig.now < deadline));
  rig.reply_denoised(large.ticket);
  rig.taken(id);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(who_is_late_gets_nothing_where_the_route_says_so) {
  cascade rig{planning::late_rule::drop};
  const auto id =
    rig.submit([&](core::request& x) { x.deadline = rig.now + 1s; });
  rig.first_leg();
  const auto p = rig.take<prepare>();
  rig.tick(1s);
  BOOST_TEST((rig.failure_of(id) == ec::deadline_missed));
  rig.reply_prepared(p.who);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_row_that_ran_alone_finishes_like_any_other) {
  cascade rig;
  const auto id = rig.submit();
  rig.done(rig.take<prepare>());
  rig.stepping({rig.take<denoise>().ticket});
  rig.lose(device);
  rig.add_device(test::scheduler_rig::life(2, 2));
  rig.done(rig.take<denoise>());
  // The second leg is not a suspect.
  rig.submit();
  while (auto p = rig.next<prepare>())
    rig.done(p->second);
  BOOST_TEST(rig.count<denoise>() == 2u);
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.failure_of(id) == ec::none));
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_SUITE_END()
