// SPDX-License-Identifier: Apache-2.0

// Stages on a device, beside its steps: both wait for the device's thread.

#include "actors/told_rig.hpp"

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using actors::role;
using test::prepare;
using test::told_rig;

constexpr auto soften_takes = 60s;

struct fixture : told_rig {
  fixture() : told_rig(softening()) {
    add_worker(role::device_stage, 1, device);
  }

  static options softening() {
    test::told_stage::script x;
    x.takes = soften_takes;
    return with_behind("denoise", test::told("soften", planning::hook::each_leg,
                                             planning::if_failed::fail, {}, x,
                                             planning::place::device));
  }

  // The device's process begins its next life.
  void restart(uint32_t n) {
    add_device(life(2, n));
    add_worker(role::device_stage, 1, life(2, n));
  }

  denoise next_denoise() {
    while (auto p = next<prepare>())
      done(p->second);
    return take<denoise>();
  }

  // A request whose stage is ordered, and one whose steps are.
  struct both {
    actors::run_stage stage;
    denoise steps;
  };

  both order_both() {
    submit();
    done(next_denoise());
    both x;
    x.stage = order("soften");
    submit();
    x.steps = next_denoise();
    return x;
  }

  void begins(const actors::run_stage& x, ipc::process_life where = device) {
    on(actors::stepping{{where, role::device_stage, 0}, {x.ticket}});
  }

  void steps(const denoise& x) {
    stepping({x.ticket});
  }

  bool was_silent(role what) const {
    return std::any_of(reasons.begin(), reasons.end(), [&](const auto& x) {
      return x.starts_with(to_string(what));
    });
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_device_stages_test, fixture)

BOOST_AUTO_TEST_CASE(its_order_goes_to_a_device_that_runs_stages) {
  const auto id = submit();
  done(next_denoise());
  const auto found = next<actors::run_stage>();
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST(
    (found->first == actors::worker_address{device, role::device_stage, 0}));
  on(reply(found->second));
  BOOST_TEST(work_off());
  BOOST_TEST((failure_of(id) == core::ec::none));
  BOOST_TEST(quiet());
}

BOOST_AUTO_TEST_CASE(it_waits_without_a_device_that_runs_stages) {
  kill(device);
  add_device(life(2, 2));
  submit();
  done(next_denoise());
  BOOST_TEST(orders("soften") == 0u);
  add_worker(role::device_stage, 1, life(2, 2));
  BOOST_TEST(orders("soften") == 1u);
}

BOOST_AUTO_TEST_CASE(a_device_runs_steps_while_a_stage_waits_for_it) {
  const auto x = order_both();
  BOOST_TEST((x.stage.ticket.id != x.steps.ticket.id));
}

BOOST_AUTO_TEST_CASE(a_death_during_a_stage_is_blamed_on_the_stage_alone) {
  const auto x = order_both();
  steps(x.steps);
  begins(x.stage);
  lose(device);
  restart(2);
  // The row of the steps runs at once; the suspect waits for the whole device.
  const auto again = take<denoise>();
  BOOST_TEST((again.ticket.id == x.steps.ticket.id));
  BOOST_TEST(orders("soften") == 0u);
  done(again);
  // A death of another delays no request twice.
  const auto delayed = order("soften");
  BOOST_TEST((delayed.ticket.id == x.steps.ticket.id));
  on(reply(delayed));
  const auto alone = order("soften");
  BOOST_TEST((alone.ticket.id == x.stage.ticket.id));
  submit();
  while (auto p = next<prepare>())
    done(p->second);
  BOOST_TEST(count<denoise>() == 0u);
  on(reply(alone));
  BOOST_TEST(count<denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(a_death_during_steps_is_not_blamed_on_a_stage_that_waits) {
  const auto x = order_both();
  steps(x.steps);
  lose(device);
  restart(2);
  const auto again = order("soften");
  BOOST_TEST((again.ticket.id == x.stage.ticket.id));
  BOOST_TEST(count<denoise>() == 0u);
  on(reply(again));
  BOOST_TEST((take<denoise>().ticket.id == x.steps.ticket.id));
}

BOOST_AUTO_TEST_CASE(a_stage_that_ends_its_device_twice_is_poison) {
  const auto id = submit();
  done(next_denoise());
  begins(order("soften"));
  lose(device);
  for (uint32_t n = 2; n <= 3; ++n) {
    restart(n);
    begins(order("soften"), life(2, n));
    lose(life(2, n));
  }
  BOOST_TEST((failure_of(id) == core::ec::poison));
}

BOOST_AUTO_TEST_CASE(steps_that_wait_for_a_stage_are_no_silence) {
  const auto x = order_both();
  steps(x.steps);
  begins(x.stage);
  tick(soften_takes);
  BOOST_TEST(suspects.empty());
  on(reply(x.stage));
  tick(4s);
  BOOST_TEST(suspects.empty());
  tick(60s);
  BOOST_TEST(was_silent(role::denoise_step));
}

BOOST_AUTO_TEST_CASE(a_stage_that_does_not_end_is_its_workers_silence) {
  const auto x = order_both();
  steps(x.steps);
  begins(x.stage);
  tick(20 * soften_takes);
  BOOST_TEST(was_silent(role::device_stage));
  BOOST_TEST(!was_silent(role::denoise_step));
  lose(device, true, actors::death::watchdog);
  restart(2);
  BOOST_TEST((take<denoise>().ticket.id == x.steps.ticket.id));
  BOOST_TEST(orders("soften") == 0u);
}

BOOST_AUTO_TEST_CASE(a_stage_that_waits_for_steps_is_no_silence) {
  const auto x = order_both();
  steps(x.steps);
  for (int i = 0; i < 200; ++i) {
    tick(4s);
    actors::stepped sign;
    sign.worker = device_at(device);
    on(sign);
  }
  BOOST_TEST(suspects.empty());
  tick(60s);
  BOOST_TEST(was_silent(role::denoise_step));
  BOOST_TEST(!was_silent(role::device_stage));
}

BOOST_AUTO_TEST_CASE(an_order_that_its_worker_lacks_is_given_again) {
  submit();
  done(next_denoise());
  const auto first = order("soften");
  tick(20 * soften_takes);
  const auto asked = take<actors::ask_order>();
  BOOST_TEST((asked.ticket == first.ticket));
  on(actors::has_order{first.ticket, false});
  BOOST_TEST((order("soften").ticket.id == first.ticket.id));
}

BOOST_AUTO_TEST_CASE(an_order_that_its_worker_has_shows_no_life_of_the_device) {
  submit();
  done(next_denoise());
  const auto first = order("soften");
  begins(first);
  for (auto i = 0s; i < 20 * soften_takes && suspects.empty(); i += 4s) {
    tick(4s);
    while (const auto asked = next<actors::ask_order>())
      on(actors::has_order{asked->second.ticket, true});
  }
  BOOST_TEST(was_silent(role::device_stage));
}

BOOST_AUTO_TEST_SUITE_END()
