// SPDX-License-Identifier: Apache-2.0

// Schedules that once got stuck, played again (planning/schedule_search.hpp).

#include "actors/scheduler_rig.hpp"
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace atelier;
using actors::denoise;
using ipc::slot_kind;
using planning::origin;
using test::finish;
using test::prepare;

constexpr auto device = test::scheduler_rig::life(2);

// Sends each request along the route whose number is its seed.
struct route_by_seed : planning::vanilla {
  planning::choice choose(const planning::decision_context& by) const override {
    return planning::go{core::route_id{static_cast<uint32_t>(by.wanted.seed)}};
  }
};

planning::route legs_from(const std::vector<origin>& starts) {
  planning::route r;
  r.name = std::to_string(starts.size()) + " legs";
  for (const auto from : starts) {
    planning::leg x;
    x.any_of = {core::variant_id{1}};
    x.from = from;
    x.skip = from == origin::stage_image ? 1 : 0;
    r.legs.push_back(x);
  }
  return r;
}

constexpr uint32_t plain = 0;
constexpr uint32_t drawn_on = 1;
constexpr uint32_t drawn_on_twice = 2;
constexpr uint32_t three = 3;
constexpr uint32_t five = 4;

struct slots_rig : test::scheduler_rig {
  slots_rig(uint32_t states, uint32_t images)
    : scheduler_rig(few(states, images)) {
    add_cpu();
  }

  static options few(uint32_t states, uint32_t images) {
    constexpr auto noise = origin::noise;
    constexpr auto on = origin::stage_image;
    auto plan = std::make_shared<planning::plan>();
    plan->routes = {legs_from({noise}), legs_from({noise, on}),
                    legs_from({noise, on, on}),
                    legs_from({noise, noise, noise}),
                    legs_from({noise, noise, noise, noise, noise})};
    options o;
    o.slots = {states, images, 0};
    o.policy = std::make_shared<route_by_seed>();
    o.plan = plan;
    return o;
  }

  core::request_id submit_along(uint32_t route) {
    return submit([&](core::request& x) { x.seed = route; });
  }

  void prepare_all() {
    while (const auto p = next<prepare>())
      done(p->second);
  }

  // Does all work; returns whether every request has its image.
  bool ends() {
    BOOST_REQUIRE(work_off());
    return quiet() && answers.size() == last_id
        && std::all_of(answers.begin(), answers.end(), [](const auto& x) {
             return x.second.failure.code == core::ec::none;
           });
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_slots_test)

BOOST_AUTO_TEST_CASE(a_request_of_three_legs_goes_on_beside_two_of_two) {
  slots_rig rig{4, 4};
  rig.submit_along(three);
  rig.submit_along(drawn_on);
  rig.prepare_all();
  rig.add_device(device, 1, 1);
  const auto first = rig.take<denoise>();
  rig.submit_along(drawn_on);
  rig.done(first);
  BOOST_TEST(rig.ends());
}

BOOST_AUTO_TEST_CASE(a_request_of_two_legs_goes_on_where_others_came_later) {
  slots_rig rig{3, 4};
  rig.submit_along(drawn_on);
  rig.prepare_all();
  rig.add_device(device, 1, 1);
  const auto first = rig.take<denoise>();
  rig.submit_along(drawn_on);
  rig.submit_along(three);
  rig.done(first);
  BOOST_TEST(rig.ends());
}

BOOST_AUTO_TEST_CASE(a_request_of_five_legs_goes_on_beside_two_of_three) {
  slots_rig rig{6, 6};
  rig.submit_along(five);
  rig.submit_along(drawn_on_twice);
  rig.submit_along(drawn_on_twice);
  rig.prepare_all();
  rig.add_device(device, 1, 1);
  BOOST_TEST(rig.ends());
}

// It cannot leave out a step, and so begins with noise.
BOOST_AUTO_TEST_CASE(a_run_of_one_step_keeps_no_source) {
  slots_rig rig{2, 4};
  rig.add_device(device, 1);
  rig.submit([](core::request& x) {
    x.seed = drawn_on;
    x.fixed.steps = 1;
  });
  rig.prepare_all();
  BOOST_TEST(rig.ends());
}

BOOST_AUTO_TEST_CASE(five_legs_need_two_states) {
  slots_rig rig{2, 6};
  rig.submit_along(five);
  rig.submit_along(five);
  rig.add_device(device, 1, 1);
  BOOST_TEST(rig.ends());
}

// A suspect holds an image, which rows of another tenant need before those of
// its rows that were delayed are prepared.
BOOST_AUTO_TEST_CASE(a_trial_waits_for_nothing_that_waits_for_its_slots) {
  auto o = slots_rig::few(64, 3);
  auto plan = std::make_shared<planning::plan>();
  plan->routes = {legs_from({origin::noise, origin::noise})};
  plan->routes[0].legs[0].check = planning::gate{"judge", 0};
  plan->thresholds = {0.5};
  o.plan = plan;
  test::scheduler_rig rig{o};
  rig.add_cpu();
  const auto submit_for = [&](uint32_t tenant, core::time_point deadline) {
    return rig.submit([&](core::request& x) {
      x.seed = 0;
      x.tenant = core::tenant_id{tenant};
      x.deadline = deadline;
    });
  };
  const auto prepare_others = [&](core::request_id but) {
    bool found = false;
    while (const auto p = rig.next<prepare>())
      if (p->second.who.id == but)
        found = true;
      else
        rig.done(p->second);
    return found;
  };
  for (int i = 0; i < 20; ++i)
    submit_for(2, core::never);
  prepare_others({});
  const auto suspect = submit_for(1, rig.now + std::chrono::hours{1});
  prepare_others({});
  rig.add_device(device, 1, 1);
  const auto drawn = rig.take<denoise>();
  BOOST_REQUIRE((drawn.ticket.id == suspect));
  rig.done(drawn);
  BOOST_REQUIRE(prepare_others(suspect));
  rig.lose(test::scheduler_rig::life(1));
  rig.add_cpu(test::scheduler_rig::life(1, 2));
  BOOST_TEST(rig.work_off());
  BOOST_TEST(rig.quiet());
  BOOST_TEST(rig.answers.size() == rig.last_id);
}

// Rows between two legs hold the slots that the trial of a suspect needs, and
// wait for the same device.
BOOST_AUTO_TEST_CASE(a_trial_without_slots_lets_rows_under_way_continue) {
  for (uint32_t states = 3; states < 9; ++states)
    for (uint32_t images = 3; images < 9; ++images)
      for (const uint32_t others : {1u, 2u, 4u, 8u}) {
        slots_rig rig{states, images};
        rig.add_device(device, 2, 2);
        rig.submit_along(drawn_on);
        rig.submit_along(drawn_on);
        rig.prepare_all();
        std::vector<core::ticket> rows;
        while (const auto d = rig.next<denoise>())
          rows.push_back(d->second.ticket);
        if (rows.size() < 2)
          continue;
        rig.stepping(rows);
        rig.lose(device);
        rig.sent.clear();
        for (uint32_t i = 0; i < others; ++i)
          rig.submit_along(drawn_on);
        rig.prepare_all();
        rig.add_device(test::scheduler_rig::life(2, 2), 2, 2);
        BOOST_TEST(rig.ends(), states << " states, " << images << " images, "
                                      << others << " others");
      }
}

// A tenant with some rows leaves slots, also where its waiting rows are more
// than a look at the queue returns.
BOOST_AUTO_TEST_CASE(slots_that_a_crowd_leaves_are_used) {
  test::scheduler_rig::options o;
  o.slots = {16, 64, 0};
  test::scheduler_rig rig{o};
  rig.add_cpu(test::scheduler_rig::life(1), 64);
  rig.add_device(device, 16, 8);
  const auto submit_for = [&](uint32_t tenant, uint32_t share) {
    return rig.submit([&](core::request& x) {
      x.tenant = core::tenant_id{tenant};
      x.share = share;
    });
  };
  for (int i = 0; i < 100; ++i)
    submit_for(1, 1'000);
  const auto draw_one = [&] {
    while (const auto p = rig.next<prepare>())
      rig.done(p->second);
    rig.now += std::chrono::milliseconds{40};
    rig.done(rig.take<denoise>());
    while (const auto f = rig.next<finish>()) {
      rig.done(f->second);
      rig.taken(f->second.who.id);
      submit_for(1, 1'000);
    }
  };
  for (int i = 0; i < 20; ++i)
    draw_one();
  for (int turn = 0; turn < 4; ++turn) {
    const auto id = submit_for(2, 1);
    for (int i = 0; i < 100 && !rig.answered(id); ++i)
      draw_one();
    BOOST_TEST(rig.answered(id), turn);
  }
}

BOOST_AUTO_TEST_CASE(
  nothing_is_prepared_without_the_images_that_it_needs_next) {
  slots_rig rig{4, 2};
  rig.add_device(device);
  const auto first = rig.submit_along(plain);
  rig.done(rig.take<prepare>());
  rig.done(rig.take<denoise>());
  rig.done(rig.take<finish>());
  // The client has the first file, so one slot is left.
  rig.submit_along(plain);
  BOOST_TEST(rig.count<prepare>() == 0u);
  rig.taken(first);
  BOOST_TEST(rig.count<prepare>() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
