// SPDX-License-Identifier: Apache-2.0

// Rows whose order has no result.

#include "actors/losses_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::alone_queue;
using actors::concluded;
using actors::loss;
using actors::role;
using actors::row_state;
using core::ec;
using ipc::slot_kind;
using planning::held;
using planning::queue_of;
using test::card_2;
using test::card_4;

constexpr core::tenant_id ann{1};

const core::error gone = core::fail(ec::unavailable, "gone");
const core::error broken = core::fail(ec::internal, "broken");

struct rig : test::losses_rig {
  using losses_rig::losses_rig;

  // An order ends without its result.
  void fall_back(core::ticket who, loss how, const core::error& why = gone) {
    const auto x = sut.conclude(who, now);
    BOOST_REQUIRE(x.has_value());
    auto* r = of.requests.running(who);
    BOOST_REQUIRE(r != nullptr);
    sut.fall_back(who.id, *r, *x, why, how, now);
  }

  // A row that is tried alone at a device.
  core::ticket tried_at(actors::worker& w) {
    auto& r = waits_to_draw();
    waiting.leave(id_of(r), r, now);
    accuse(r);
    wait(r);
    return tried_again(r, w);
  }

  core::ticket tried_again(actors::row& r, actors::worker& w) {
    const auto who = run(r, w, true);
    w.trial.begin();
    return who;
  }

  // The steps that an answer to a row would report.
  uint32_t steps_run(core::ticket who) {
    return row_of(who).account.steps_run();
  }

  actors::losses& sut = losses;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(losses_rows_test, rig)

// -- rows that fall back ------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_tries_its_stage_again_at_the_front_of_its_queue) {
  auto& w = pool(role::preprocess);
  const auto who = prepares_at(w);
  const auto& later = waits_to_prepare();
  fall_back(who, loss::killed);
  BOOST_TEST(
    (of.queues.of(actors::prepare_queue) == std::vector{who.id, id_of(later)}));
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(!of.suspicions.is_alone(who.id));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_fails_after_all_attempts) {
  rig x{3};
  auto& w = x.device(2);
  auto who = x.draws_at(w);
  auto& r = x.row_of(who);
  for (int i = 0; i < 2; ++i) {
    x.fall_back(who, loss::killed);
    BOOST_TEST(x.answers().empty());
    who = x.run(r, w);
  }
  x.fall_back(who, loss::killed);
  BOOST_TEST((x.only_answer().failure == gone));
  BOOST_TEST(x.of.slots.in_use() == 0u);
  BOOST_TEST(x.check() == "");
}

BOOST_AUTO_TEST_CASE(row_that_fits_no_memory_fails_after_four_attempts) {
  const auto attempts = [](uint32_t most) {
    rig x{most};
    auto& w = x.device(2);
    auto who = x.draws_at(w);
    uint32_t all = 1;
    for (;; ++all) {
      x.fall_back(who, loss::told, core::fail(ec::out_of_resources, "full"));
      if (!x.answers().empty())
        return all;
      who = x.run(x.row_of(who), w);
    }
  };
  BOOST_TEST(attempts(20) == 4u);
  BOOST_TEST(attempts(3) == 3u);
}

BOOST_AUTO_TEST_CASE(row_whose_own_fault_it_is_fails_at_once) {
  fall_back(draws_at(device(2)), loss::told, broken);
  BOOST_TEST((only_answer().failure == broken));
}

BOOST_AUTO_TEST_CASE(row_continues_from_the_state_that_its_order_published) {
  const auto who = draws_at(device(2));
  const auto state = of.slots.of(who).granted[held::state];
  reach(who, 2);
  fall_back(who, loss::killed);
  auto& r = row_of(who);
  BOOST_TEST((r.held[held::state] == state));
  BOOST_TEST(r.held.steps() == 2u);
  BOOST_TEST(counts().resumed == 1u);
  BOOST_TEST((queue(r) == queue_of(card_4)));
  // Its old state and its image are free.
  BOOST_TEST(of.slots.in_use() == 1u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_whose_order_published_nothing_starts_as_before) {
  const auto who = draws_at(device(2));
  const auto state = row_of(who).held[held::state];
  fall_back(who, loss::killed);
  BOOST_TEST((row_of(who).held[held::state] == state));
  BOOST_TEST(counts().resumed == 0u);
  BOOST_TEST(of.slots.in_use() == 1u);
}

BOOST_AUTO_TEST_CASE(row_that_gets_further_may_be_lost_as_often_again) {
  rig x{2};
  auto& w = x.device(2);
  auto who = x.draws_at(w);
  for (uint32_t steps = 1; steps <= 3; ++steps) {
    x.reach(who, steps);
    x.fall_back(who, loss::killed);
    BOOST_TEST(x.answers().empty());
    who = x.run(x.row_of(who), w);
  }
  // The same steps again are no gain.
  x.reach(who, 3);
  x.fall_back(who, loss::killed);
  BOOST_TEST((x.only_answer().failure == gone));
}

BOOST_AUTO_TEST_CASE(gain_is_one_over_every_earlier_death) {
  auto& w = device(2);
  auto who = draws_at(w);
  reach(who, 3);
  fall_back(who, loss::suspicious);
  auto& r = row_of(who);
  // Its leg begins anew, and gets less far than before.
  of.slots.begin_with(r.held, 0);
  who = tried_again(r, w);
  reach(who, 2);
  fall_back(who, loss::suspicious);
  BOOST_TEST(of.suspicions.strikes(who.id) == 1u);
}

BOOST_AUTO_TEST_CASE(steps_of_a_dead_worker_count_as_far_as_they_are_known) {
  auto& w = device(2);
  auto who = draws_at(w);
  reach(who, 2);
  fall_back(who, loss::killed);
  BOOST_TEST(steps_run(who) == 2u);
  who = run(row_of(who), w);
  // It reported one more step, which it did not publish.
  of.orders.progress(who, 3);
  w.seat.ran(1);
  fall_back(who, loss::killed);
  BOOST_TEST(steps_run(who) == 3u);
  who = run(row_of(who), w);
  fall_back(who, loss::killed);
  BOOST_TEST(steps_run(who) == 3u);
}

BOOST_AUTO_TEST_CASE(living_worker_reports_its_steps_itself) {
  const auto who = draws_at(device(2));
  reach(who, 2);
  fall_back(who, loss::told);
  BOOST_TEST(steps_run(who) == 0u);
}

BOOST_AUTO_TEST_CASE(leg_begins_anew_if_its_state_cannot_be_read) {
  const auto who = draws_at(device(2));
  fall_back(who, loss::unreadable, core::fail(ec::bad_payload, "torn"));
  auto& r = row_of(who);
  BOOST_TEST(counts().legs_restarted == 1u);
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST(!r.held[held::state]);
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(leg_begins_anew_if_its_publication_cannot_be_true) {
  const auto who = draws_at(device(2));
  of.slots.published(who);
  reach(who, 5);
  fall_back(who, loss::killed);
  BOOST_TEST(counts().legs_restarted == 1u);
  BOOST_TEST(counts().resumed == 0u);
  BOOST_TEST((queue(row_of(who)) == actors::prepare_queue));
}

BOOST_AUTO_TEST_CASE(leg_begins_anew_a_few_times_only) {
  auto& w = device(2);
  auto who = draws_at(w);
  auto& r = row_of(who);
  for (uint32_t i = 0; i < actors::most_restarts; ++i) {
    fall_back(who, loss::unreadable, gone);
    BOOST_TEST_REQUIRE(answers().empty());
    waiting.leave(who.id, r, now);
    prepare(r);
    wait(r);
    who = run(r, w);
  }
  fall_back(who, loss::unreadable, gone);
  BOOST_TEST((only_answer().failure == gone));
  BOOST_TEST(counts().legs_restarted == uint64_t{actors::most_restarts});
}

// -- suspects -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(suspect_waits_behind_the_others) {
  auto& w = device(2);
  const auto who = draws_at(w);
  const auto other = draws_at(w);
  fall_back(who, loss::suspicious);
  fall_back(other, loss::suspicious);
  BOOST_TEST((of.queues.of(alone_queue(queue_of(card_4)))
              == std::vector{who.id, other.id}));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(request_that_ends_two_processes_alone_is_poison) {
  auto& w = device(2);
  auto who = tried_at(w);
  fall_back(who, loss::suspicious);
  BOOST_TEST(answers().empty());
  BOOST_TEST(of.suspicions.strikes(who.id) == 1u);
  who = tried_again(row_of(who), w);
  fall_back(who, loss::suspicious);
  BOOST_TEST((only_answer().failure.code == ec::poison));
  BOOST_TEST(only_answer().failure.text
             == "its worker died 2 times while running it alone at step 0 "
                "(last: gone)");
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(deaths_that_it_did_not_cause_make_no_request_poison) {
  auto& w = device(2);
  auto who = tried_at(w);
  for (int i = 0; i < 3; ++i) {
    fall_back(who, loss::killed);
    who = tried_again(row_of(who), w);
  }
  BOOST_TEST(answers().empty());
  BOOST_TEST(of.suspicions.strikes(who.id) == 0u);
}

BOOST_AUTO_TEST_CASE(gain_of_a_suspect_is_recorded_by_its_client) {
  auto& w = device(2);
  auto& r = waits_to_draw();
  waiting.leave(id_of(r), r, now);
  of.suspicions.accept(id_of(r), {core::phase::preparing, 0, 0, 1}, true);
  accuse(r);
  wait(r);
  const auto who = tried_again(r, w);
  reach(who, 2);
  fall_back(who, loss::suspicious);
  BOOST_TEST_REQUIRE(notes().size() == 1u);
  BOOST_TEST((notes()[0].id == who.id));
  BOOST_TEST(notes()[0].how.trials == 0u);
  BOOST_TEST(notes()[0].how.steps == 2u);
  BOOST_TEST(!notes()[0].waits);
}

BOOST_AUTO_TEST_CASE(row_that_falls_back_is_drawn_as_one_that_resumes_or_not) {
  const auto drawn = [](uint32_t steps) {
    const auto into = std::make_shared<test::recording_timeline>();
    rig x{20, into};
    const auto who = x.draws_at(x.device(2));
    if (steps > 0)
      x.reach(who, steps);
    into->all.clear();
    x.fall_back(who, loss::killed);
    BOOST_REQUIRE(!into->all.empty());
    return into->all.front();
  };
  BOOST_TEST(drawn(0).name == "begun again");
  const auto resumed = drawn(2);
  BOOST_TEST(resumed.name == "resumed");
  BOOST_TEST(resumed.numbers.at(0).second == 2);
}

BOOST_AUTO_TEST_SUITE_END()
