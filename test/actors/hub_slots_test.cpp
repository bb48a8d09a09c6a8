// SPDX-License-Identifier: Apache-2.0

// Schedules that once got stuck, played again (planning/schedule_search.hpp).

#include "actors/hub_rig.hpp"
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

constexpr auto device = test::hub_rig::life(2);

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

struct slots_rig : test::hub_rig {
  slots_rig(uint32_t states, uint32_t images) : hub_rig(few(states, images)) {
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

BOOST_AUTO_TEST_SUITE(hub_slots_test)

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

BOOST_AUTO_TEST_CASE(five_legs_need_two_states) {
  slots_rig rig{2, 6};
  rig.submit_along(five);
  rig.submit_along(five);
  rig.add_device(device, 1, 1);
  BOOST_TEST(rig.ends());
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
