// SPDX-License-Identifier: Apache-2.0

// The steps that devices report. replies_images_test has the ends of legs.

#include "actors/layers_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using actors::stepped;
using actors::stepping;
using ipc::slot_kind;
using planning::held;
using planning::queue_of;
using test::card_2;
using test::card_4;
using test::layers_rig;

using tickets = std::vector<core::ticket>;

struct rig : layers_rig {
  explicit rig(std::shared_ptr<actors::timeline> into = nullptr)
    : layers_rig(with(std::move(into))) {}

  static options with(std::shared_ptr<actors::timeline> into) {
    options o;
    o.slots = {32, 32, 0};
    o.drawing = std::move(into);
    return o;
  }

  void batch(const actors::worker& w, tickets rows) {
    sut.on(stepping{w.address, std::move(rows)}, now);
  }

  bool steps(const actors::worker& w, std::vector<actors::row_progress> rows) {
    stepped x;
    x.worker = w.address;
    x.rows = std::move(rows);
    return sut.on(x, now);
  }

  // A run of one step of the rows that a device reported.
  void runs(const actors::worker& w, core::timespan took) {
    stepped x;
    x.worker = w.address;
    x.batch = static_cast<uint32_t>(w.batch.rows().size());
    x.steps = 1;
    x.took = took;
    sut.on(x, now);
  }

  // A row whose client wants to see its progress.
  core::ticket shown_at(actors::worker& w, uint32_t preview_every = 0) {
    return run(waits_to_draw([&](core::request& x) {
                 x.wants_progress = true;
                 x.preview_every = preview_every;
               }),
               w);
  }

  // Orders of the rig have two seconds.
  tickets overdue() {
    return of.orders.overdue(out.running_time(now));
  }

  actors::row& row_of(core::ticket who) {
    return of.requests.at(who.id);
  }

  actors::replies& sut = replies;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(replies_steps_test, rig)

// -- batches ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(batch_has_exactly_the_reported_rows) {
  auto& w = device(2);
  const auto first = draws_at(w);
  const auto second = draws_at(w);
  const auto third = draws_at(w);
  const auto in_batch = [&](core::ticket who) {
    return of.orders.at(who).stepping;
  };
  batch(w, {first, second});
  BOOST_TEST((w.batch.rows() == tickets{first, second}));
  BOOST_TEST(in_batch(first));
  BOOST_TEST(in_batch(second));
  BOOST_TEST(!in_batch(third));
  batch(w, {second, third});
  BOOST_TEST(!in_batch(first));
  BOOST_TEST(in_batch(second));
  BOOST_TEST(in_batch(third));
}

BOOST_AUTO_TEST_CASE(device_reports_only_its_own_rows) {
  auto& w = device(2);
  auto& other = device(3);
  const auto own = draws_at(w);
  const auto there = draws_at(other);
  batch(other, {own, there});
  BOOST_TEST(!of.orders.at(own).stepping);
  BOOST_TEST(of.orders.at(there).stepping);
}

BOOST_AUTO_TEST_CASE(report_of_a_batch_shows_that_its_rows_are_there) {
  auto& w = device(2);
  const auto first = draws_at(w);
  const auto second = draws_at(w);
  batch(w, {first});
  pass(1s);
  batch(w, {second});
  pass(1s + 1ns);
  BOOST_TEST((overdue() == tickets{first}));
}

BOOST_AUTO_TEST_CASE(reports_are_signs_of_life) {
  auto& w = device(2);
  const auto silent = [&](auto report) {
    w.signs.begin(out.running_time(now));
    pass(400ms);
    report();
    return w.signs.unexplained(out.running_time(now)).has_value();
  };
  BOOST_TEST(silent([] {}));
  BOOST_TEST(!silent([&] { batch(w, {}); }));
  BOOST_TEST(!silent([&] { steps(w, {}); }));
}

BOOST_AUTO_TEST_CASE(reports_of_unknown_workers_are_stale) {
  auto& w = device(2);
  const auto who = draws_at(w);
  const actors::worker_address stranger{life(9), role::denoise_step, 0};
  sut.on(stepping{stranger, {who}}, now);
  BOOST_TEST(counts().stale_replies == 1u);
  BOOST_TEST(!of.orders.at(who).stepping);
  stepped x;
  x.worker = stranger;
  x.rows = {{who, 2, true}};
  BOOST_TEST(!sut.on(x, now));
  BOOST_TEST(counts().stale_replies == 2u);
  BOOST_TEST(of.orders.at(who).steps_done == 0u);
}

// -- steps --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(steps_of_a_row_are_counted_once) {
  auto& w = device(2);
  const auto who = draws_at(w);
  of.views.cluster();
  BOOST_TEST(steps(w, {{who, 3, false}}));
  BOOST_TEST(of.orders.at(who).steps_done == 3u);
  BOOST_TEST(w.seat.steps_left() == 1u);
  BOOST_TEST(of.views.cluster().workers.at(0).steps_left == 1u);
  steps(w, {{who, 3, false}});
  steps(w, {{who, 2, false}});
  BOOST_TEST(w.seat.steps_left() == 1u);
  BOOST_TEST(counts().stale_replies == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(published_state_frees_the_one_before) {
  auto& w = device(2);
  const auto who = draws_at(w);
  const auto before = row_of(who).held[held::state];
  steps(w, {{who, 1, false}});
  BOOST_TEST(of.slots.holds(before));
  BOOST_TEST(!of.slots.of(who).published);
  publish(of.slots.of(who).granted[held::state], 3);
  steps(w, {{who, 2, true}});
  BOOST_TEST(!of.slots.holds(before));
  BOOST_TEST(of.slots.of(who).published);
}

BOOST_AUTO_TEST_CASE(abandoned_order_frees_no_state_of_its_row) {
  auto& w = device(2);
  const auto who = draws_at(w);
  const auto before = row_of(who).held[held::state];
  of.orders.abandon(who);
  steps(w, {{who, 2, true}});
  BOOST_TEST(of.slots.holds(before));
  BOOST_TEST(w.seat.steps_left() == 2u);
}

BOOST_AUTO_TEST_CASE(steps_that_cannot_be_true_are_no_news) {
  auto& w = device(2);
  auto& other = device(3);
  auto& preparing = pool(role::preprocess);
  const auto who = draws_at(w);
  const auto there = draws_at(other);
  const auto prepares = run(waits_to_prepare(), preparing);
  const core::ticket unknown{who.id, who.attempt + 1};
  steps(w, {{unknown, 1, true}, {there, 1, true}, {who, 5, true}});
  BOOST_TEST(counts().stale_replies == 3u);
  steps(preparing, {{prepares, 0, true}});
  BOOST_TEST(counts().stale_replies == 4u);
  BOOST_TEST(w.seat.steps_left() == 4u);
  BOOST_TEST(other.seat.steps_left() == 4u);
  BOOST_TEST(!of.slots.of(who).published);
  BOOST_TEST(!of.slots.of(there).published);
  // The others of the report count.
  steps(w, {{unknown, 1, true}, {who, 4, false}});
  BOOST_TEST(w.seat.steps_left() == 0u);
}

BOOST_AUTO_TEST_CASE(step_shows_that_all_rows_of_the_batch_are_there) {
  auto& w = device(2);
  const auto in_batch = draws_at(w);
  const auto reported = draws_at(w);
  const auto other = draws_at(w);
  batch(w, {in_batch});
  pass(1s);
  steps(w, {{reported, 1, false}});
  pass(1s + 1ns);
  BOOST_TEST((overdue() == tickets{other}));
}

BOOST_AUTO_TEST_CASE(first_step_after_a_death_is_recorded) {
  auto& w = device(2);
  const auto who = draws_at(w);
  const core::process_id dead{9};
  of.records.ready(dead, now);
  of.records.lost(dead, {who.id}, true, now);
  now += 3s;
  steps(w, {});
  BOOST_TEST((of.records.recovery(now).until_step.sum == 0s));
  steps(w, {{who, 1, false}});
  BOOST_TEST((of.records.recovery(now).until_step.sum == 3s));
}

// -- clients ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(client_that_wants_progress_sees_the_steps) {
  auto& w = device(2);
  const auto who = shown_at(w);
  const auto silent = draws_at(w);
  publish(of.slots.of(who).granted[held::state], 3);
  steps(w, {{who, 2, true}, {silent, 1, false}});
  BOOST_TEST((progress()
              == std::vector{test::scheduler_rig::progress{who.id, 2, 4, {}}}));
}

BOOST_AUTO_TEST_CASE(client_that_wants_previews_sees_published_states) {
  auto& w = device(2);
  const auto who = shown_at(w, 1);
  const auto state = of.slots.of(who).granted[held::state];
  steps(w, {{who, 1, false}});
  BOOST_TEST_REQUIRE(progress().size() == 1u);
  BOOST_TEST(!progress()[0].state);
  publish(state, 3);
  steps(w, {{who, 2, true}});
  BOOST_TEST_REQUIRE(progress().size() == 2u);
  BOOST_TEST((progress()[1].state == state));
}

BOOST_AUTO_TEST_CASE(client_sees_no_steps_of_an_earlier_attempt) {
  auto& w = device(2);
  const auto who = shown_at(w);
  wait(row_of(who));
  steps(w, {{who, 1, false}});
  BOOST_TEST(progress().empty());
  BOOST_TEST(of.orders.at(who).steps_done == 1u);
}

// -- what the reports say of devices ------------------------------------------

BOOST_AUTO_TEST_CASE(steps_are_counted_by_their_batch) {
  auto& w = device(2);
  batch(w, {draws_at(w), draws_at(w)});
  runs(w, 10ms);
  BOOST_TEST_REQUIRE(counts().batches.size() == 3u);
  BOOST_TEST(counts().batches[2] == 1u);
}

BOOST_AUTO_TEST_CASE(pace_of_a_variant_is_known_by_its_runs) {
  auto& w = device(2);
  runs(w, 20ms);
  BOOST_TEST(!of.forecast.knows_pace(card_4));
  batch(w, {draws_at(w)});
  runs(w, 20ms);
  BOOST_TEST(of.forecast.knows_pace(card_4));
  BOOST_TEST(!of.forecast.knows_pace(card_2));
}

BOOST_AUTO_TEST_CASE(measured_costs_are_reported_when_they_change) {
  auto& w = device(2);
  batch(w, {draws_at(w)});
  const auto reported = [&](int times, core::timespan took) {
    reports().clear();
    for (int i = 0; i < times; ++i)
      runs(w, took);
    return reports().size();
  };
  BOOST_TEST(reported(4, 20ms) == 0u);
  BOOST_TEST_REQUIRE(reported(1, 20ms) == 1u);
  BOOST_TEST_REQUIRE(reports()[0].costs.size() == 1u);
  BOOST_TEST(reports()[0].costs[0].costs.at(card_4.value).pace == 2.0);
  BOOST_TEST((of.views.cluster().costs == reports()[0].costs));
  BOOST_TEST(reported(9, 20ms) == 0u);
}

BOOST_AUTO_TEST_CASE(run_is_drawn_with_the_rows_of_its_batch) {
  const auto into = std::make_shared<test::recording_timeline>();
  rig x{into};
  auto& w = x.device(2);
  const auto who = x.draws_at(w);
  x.batch(w, {who});
  into->all.clear();
  stepped s;
  s.worker = w.address;
  s.batch = s.steps = 1;
  s.took = 10ms;
  s.ended_ns = 50'000'000;
  x.sut.on(s, x.now);
  BOOST_TEST_REQUIRE(into->all.size() == 1u);
  BOOST_TEST(into->all[0].name == "steps");
  BOOST_TEST(into->all[0].track->device == "cpu");
  BOOST_TEST((into->all[0].rows == std::vector{who.id}));
}

// -- devices that are slow ----------------------------------------------------

BOOST_AUTO_TEST_CASE(slow_device_is_left_out_until_it_is_as_fast_as_others) {
  auto& slow = serving(2);
  auto& other = serving(3);
  const auto at_slow = draws_at(slow);
  batch(slow, {at_slow});
  batch(other, {draws_at(other)});
  place_in(queue_of(slow.id()));
  auto& waits = waits_to_draw();
  policy->placing = {};
  for (int i = 0; i < 5; ++i)
    runs(other, 10ms);
  of.hosting.take_change();
  for (int i = 0; i < 4; ++i)
    runs(slow, 100ms);
  // Devices are compared once a second.
  now += 2s;
  runs(slow, 100ms);
  BOOST_TEST(slow.slow());
  BOOST_TEST(!other.slow());
  BOOST_TEST(!offers(slow, queue_of(card_4)));
  BOOST_TEST((queue(waits) == queue_of(card_4)));
  BOOST_TEST(of.hosting.take_change());
  BOOST_TEST_REQUIRE(!reports().empty());
  BOOST_TEST_REQUIRE(reports().back().workers.size() == 1u);
  BOOST_TEST((reports().back().workers[0].worker == other.id()));
  BOOST_TEST(check() == "");
  reports().clear();
  for (int i = 0; i < 9; ++i)
    runs(slow, 10ms);
  now += 2s;
  runs(slow, 10ms);
  BOOST_TEST(!slow.slow());
  BOOST_TEST(offers(slow, queue_of(card_4)));
  BOOST_TEST(of.hosting.take_change());
  BOOST_TEST_REQUIRE(!reports().empty());
  BOOST_TEST(reports().back().workers.size() == 2u);
}

BOOST_AUTO_TEST_CASE(devices_alike_change_nothing) {
  auto& first = serving(2);
  auto& second = serving(3);
  for (auto* w : {&first, &second}) {
    batch(*w, {draws_at(*w)});
    for (int i = 0; i < 5; ++i)
      runs(*w, 10ms);
  }
  of.hosting.take_change();
  reports().clear();
  now += 2s;
  runs(first, 10ms);
  BOOST_TEST(reports().empty());
  BOOST_TEST(!of.hosting.take_change());
}

BOOST_AUTO_TEST_SUITE_END()
