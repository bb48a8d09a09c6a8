// SPDX-License-Identifier: Apache-2.0

// Rows before their route. lifecycle_legs_test has their legs and their time,
// lifecycle_stages_test has their stages.

#include "actors/fact_questions.hpp"
#include "actors/layers_rig.hpp"
#include "support/told_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using actors::row_state;
using actors::run_stage;
using core::ec;
using planning::hook;
using planning::if_failed;
using test::layers_rig;
using test::told_stage;

const core::error broken = core::fail(ec::internal, "broken");

// A rig with the layer that is tested.
struct rig : layers_rig {
  using layers_rig::layers_rig;

  void begin(actors::row& r) {
    sut.begin(id_of(r), r, now);
  }

  bool waits_to_be_prepared(const actors::row& r) const {
    return r.state() == row_state::waiting && queue(r) == actors::prepare_queue;
  }

  actors::lifecycle& sut = lifecycle;
};

// Two stages find facts of every request.
struct asking_rig : rig {
  explicit asking_rig(if_failed otherwise = if_failed::go_on)
    : rig(with(otherwise)) {}

  static options with(if_failed otherwise) {
    const auto fact = [&](std::string_view name) {
      return test::told(name, hook::before_route, otherwise, {}, {},
                        planning::place::cpu_pool, 2s);
    };
    actors::standard_stages own;
    own.classify = fact("guess");
    own.mask = fact("outline");
    options o;
    o.stages = test::pipeline_with(own);
    return o;
  }

  // A row for whose facts both stages look, and their orders.
  std::pair<actors::row*, std::vector<run_stage>> asks() {
    pool(role::classifier);
    auto& r = accept();
    begin(r);
    auto sent = take_sent<run_stage>();
    BOOST_REQUIRE_EQUAL(sent.size(), 2u);
    return {&r, std::move(sent)};
  }

  void over(const run_stage& x, const core::error& why = {}) {
    actors::stage_done done;
    done.ticket = x.ticket;
    done.stage = x.stage;
    done.outcome = core::typed_body::of(told_stage::done{});
    sut.aside_over(done, of.orders.at(x.ticket), why, now);
  }
};

struct needing_rig : asking_rig {
  needing_rig() : asking_rig(if_failed::fail) {}
};

// A stage looks for facts that the policy asks for.
struct policy_rig : rig {
  policy_rig() : rig(with()) {
    policy->choosing = [](const planning::facts& known) -> planning::choice {
      planning::need wants;
      wants.tolerated = true;
      if (!known.tolerated)
        return wants;
      return planning::go{core::route_id{0}};
    };
  }

  static options with() {
    options o;
    o.stages = test::fact_questions::stages();
    return o;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(lifecycle_test, rig)

BOOST_AUTO_TEST_CASE(accepted_row_waits_for_the_first_stage_of_its_route) {
  auto& r = accept();
  begin(r);
  BOOST_TEST(waits_to_be_prepared(r));
  BOOST_TEST(r.course.route().name == "card@4");
  BOOST_TEST(r.course.leg() == 0u);
  BOOST_TEST(r.course.stage() == stage("prepare"));
  BOOST_TEST(check() == "");
}

BOOST_FIXTURE_TEST_CASE(row_has_no_route_while_stages_look_for_its_facts,
                        asking_rig) {
  const auto [r, orders] = asks();
  BOOST_TEST((r->state() == row_state::asking));
  BOOST_TEST(!r->course.has_route());
  over(orders[0]);
  BOOST_TEST((r->state() == row_state::asking));
  over(orders[1]);
  BOOST_TEST(waits_to_be_prepared(*r));
}

BOOST_FIXTURE_TEST_CASE(row_gets_its_route_at_once_if_no_stage_looks,
                        asking_rig) {
  auto& r = accept();
  begin(r);
  BOOST_TEST(waits_to_be_prepared(r));
}

BOOST_FIXTURE_TEST_CASE(row_is_turned_away_if_a_needed_stage_cannot_look,
                        needing_rig) {
  const auto id = id_of(accept());
  begin(of.requests.at(id));
  BOOST_TEST(only_answer().failure.text
             == "no worker is free for stage 'guess'");
  BOOST_TEST((only_answer().retry_after == 0s));
  BOOST_TEST(of.requests.find(id) == nullptr);
  BOOST_TEST(counts().refused == 1u);
}

BOOST_FIXTURE_TEST_CASE(row_is_turned_away_if_a_needed_stage_fails,
                        needing_rig) {
  const auto orders = asks().second;
  over(orders[0], broken);
  BOOST_TEST((only_answer().failure == broken));
  BOOST_TEST(counts().refused == 1u);
  // The other answer is stale.
  over(orders[1]);
  BOOST_TEST(counts().stale_replies == 1u);
}

BOOST_FIXTURE_TEST_CASE(row_continues_without_late_facts, asking_rig) {
  auto& r = *asks().first;
  sut.questions_over(id_of(r), r, now);
  BOOST_TEST(waits_to_be_prepared(r));
  BOOST_TEST(left_out("guess") == 1u);
}

BOOST_FIXTURE_TEST_CASE(row_is_turned_away_without_late_facts_that_it_needs,
                        needing_rig) {
  auto& r = *asks().first;
  sut.questions_over(id_of(r), r, now);
  BOOST_TEST(only_answer().failure.text
             == "stage 'guess' did not answer in time");
  BOOST_TEST(counts().refused == 1u);
}

BOOST_AUTO_TEST_CASE(row_that_the_policy_refuses_is_turned_away) {
  policy->choosing = [](const planning::facts&) {
    return planning::refuse{broken, 3s};
  };
  begin(accept());
  BOOST_TEST((only_answer().failure == broken));
  BOOST_TEST((only_answer().retry_after == 3s));
  BOOST_TEST(counts().refused == 1u);
}

BOOST_FIXTURE_TEST_CASE(row_asks_what_its_policy_asks, policy_rig) {
  pool(role::recall);
  auto& r = accept();
  begin(r);
  BOOST_TEST((r.state() == row_state::asking));
  const auto sent = take_sent<run_stage>();
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  const auto asked = sent[0].order.as<test::question_stage::work>();
  BOOST_TEST_REQUIRE(bool(asked));
  BOOST_TEST((*asked)->tolerated);
}

BOOST_FIXTURE_TEST_CASE(facts_are_assumed_if_no_stage_looks, policy_rig) {
  auto& r = accept();
  begin(r);
  BOOST_TEST(waits_to_be_prepared(r));
  BOOST_TEST_REQUIRE(r.course.known().tolerated.has_value());
  BOOST_TEST(r.course.known().tolerated->empty());
}

BOOST_FIXTURE_TEST_CASE(row_that_is_late_while_it_asks_fails, asking_rig) {
  auto& r = *asks().first;
  now += 1500ms;
  sut.expire(id_of(r), r, now);
  BOOST_TEST((only_answer().failure.code == ec::deadline_missed));
  BOOST_TEST(only_answer().failure.text
             == "the deadline passed, or can no longer be met, 1500.0 ms after "
                "arrival");
  BOOST_TEST(counts().late == 1u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_SUITE_END()
