// SPDX-License-Identifier: Apache-2.0
#include "actors/denoise_step_rig.hpp"
#include <atelier/gpu/device/virtual_executor.hpp>
#include <atelier/simulation/virtual_timers.hpp>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;
using ipc::slot_kind;
using rows = std::vector<core::ticket>;

} // namespace

BOOST_FIXTURE_TEST_SUITE(denoise_step_test, test::denoise_step_rig)

BOOST_AUTO_TEST_CASE(it_announces_itself_at_its_start) {
  BOOST_REQUIRE(scheduler->all.size() == 1u);
  const auto ready = scheduler->of<actors::worker_ready>().at(0);
  BOOST_TEST((ready.worker == me));
  BOOST_TEST(ready.seats == 8u);
  BOOST_TEST(ready.max_batch == 2u);
  BOOST_TEST((ready.variants == std::vector<std::string>{"card@4"}));
}

BOOST_AUTO_TEST_CASE(a_row_is_opened_stepped_decoded_and_reported_once) {
  const auto x = work(1);
  give(x);
  BOOST_REQUIRE(device->opened.size() == 1u);
  BOOST_TEST((device->opened[0].from == x.from));
  BOOST_TEST((device->opened[0].state == x.state));
  BOOST_TEST((device->opened[0].image == x.image));
  BOOST_TEST((last_batch() == rows{row(1)}));
  for (uint32_t step = 1; step <= 4; ++step) {
    BOOST_TEST(device->runs.size() == step);
    BOOST_TEST(replies().empty());
    ran(1, {step});
  }
  BOOST_TEST((device->decoding == rows{row(1)}));
  BOOST_TEST(device->runs.size() == 4u);
  decoded(1);
  BOOST_REQUIRE(replies().size() == 1u);
  BOOST_TEST((replies()[0].failure.code == ec::none));
  BOOST_TEST(replies()[0].steps_done == 4u);
  BOOST_TEST(replies()[0].steps_run == 4u);
  BOOST_TEST(replies()[0].bytes == 5u);
  BOOST_TEST((device->closed == rows{row(1)}));
  BOOST_TEST(scheduler->of<actors::stepped>().size() == 4u);
  BOOST_TEST(scheduler->of<actors::stepping>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_row_with_a_source_runs_its_share_of_the_steps) {
  auto x = work(1, 10);
  x.recipe.from_image = true;
  x.recipe.strength = 0.35f;
  x.source = {1, 7, 1, slot_kind::image};
  give(x);
  BOOST_REQUIRE(device->opened.size() == 1u);
  BOOST_TEST((device->opened[0].source == x.source));
  for (uint32_t step = 1; step <= 3; ++step) {
    BOOST_TEST(device->decoding.empty());
    ran(1, {step});
  }
  BOOST_TEST((device->decoding == rows{row(1)}));
  decoded(1);
  BOOST_TEST(replies().at(0).steps_done == 3u);
  // The row is taken over after two steps, so one is left.
  x.ticket.attempt = 2;
  x.steps_done = 2;
  give(x);
  ran(1, {3});
  BOOST_TEST(device->decoding.size() == 2u);
}

BOOST_AUTO_TEST_CASE(what_the_device_notes_of_a_row_is_told_with_its_end) {
  give(work(1));
  give(work(2));
  ran(1, {1});
  gpu::run_report x;
  x.steps = 3;
  for (const auto who : last_run())
    x.rows.push_back({who, who == row(1) ? 4u : 3u, true, {}, {}});
  const core::note cut{core::note_code::prompt_cut, "cut short"};
  x.rows.at(0).notes = {cut};
  device->events.ran(x);
  run();
  decoded(1);
  BOOST_TEST((replies().at(0).notes == std::vector<core::note>{cut}));
  ran(1, {4});
  decoded(2);
  BOOST_TEST(replies().at(1).notes.empty());
}

BOOST_AUTO_TEST_CASE(the_batch_is_told_before_the_device_sees_it) {
  struct order : test::scripted_executor {
    void open(const gpu::open_job& job) override {
      told_before = !scheduler->of<actors::stepping>().empty();
      scripted_executor::open(job);
    }

    std::shared_ptr<test::recording_scheduler_port> scheduler;
    bool told_before = false;
  };

  auto ordered = std::make_shared<order>();
  ordered->scheduler = std::make_shared<test::recording_scheduler_port>();
  actors::denoise_step_config c;
  c.device_executor = ordered;
  c.scheduler = ordered->scheduler;
  const auto worker = spawn(actors::denoise_step, c);
  tell(worker, work(1));
  BOOST_TEST(ordered->told_before);
}

BOOST_AUTO_TEST_CASE(a_row_that_arrives_in_a_run_joins_at_the_next_boundary) {
  give(work(1));
  give(work(2));
  BOOST_TEST(device->interrupts == 1);
  BOOST_TEST(device->runs.size() == 1u);
  ran(1, {1});
  BOOST_TEST((last_run() == rows{row(1), row(2)}));
  BOOST_TEST((last_batch() == rows{row(1), row(2)}));
}

BOOST_AUTO_TEST_CASE(no_more_than_max_batch_rows_run_together) {
  give(work(1));
  for (uint64_t id = 2; id <= 4; ++id)
    give(work(id));
  ran(1, {1});
  BOOST_TEST(last_run().size() == 2u);
  ran(3, {4, 3});
  // One seat of the batch is free.
  BOOST_TEST((last_run() == rows{row(2), row(3)}));
  const auto signs = scheduler->of<actors::stepped>();
  BOOST_TEST(signs.at(0).batch == 1u);
  BOOST_TEST(signs.at(1).batch == 2u);
  BOOST_TEST(signs.at(1).steps == 3u);
}

BOOST_AUTO_TEST_CASE(a_batch_that_joins_whole_starts_with_its_last_row) {
  tell(sut, actors::adopt{1, {}, 2, planning::joining::whole_batch, {}, {}});
  auto first = work(1);
  first.more = true;
  give(first);
  BOOST_TEST(device->runs.empty());
  give(work(2));
  BOOST_TEST((last_run() == rows{row(1), row(2)}));
  give(work(3));
  ran(2, {2, 2});
  BOOST_TEST((last_run() == rows{row(1), row(2)}));
}

BOOST_AUTO_TEST_CASE(a_batch_starts_also_where_its_last_row_was_cancelled) {
  tell(sut, actors::adopt{1, {}, 2, planning::joining::whole_batch, {}, {}});
  auto first = work(1);
  first.more = true;
  cancel(2);
  give(first);
  give(work(2));
  BOOST_TEST((last_run() == rows{row(1)}));
}

BOOST_AUTO_TEST_CASE(rows_of_two_sizes_take_turns_and_never_mix) {
  give(work(1, 100, 32));
  give(work(2, 100, 64));
  std::map<uint64_t, uint32_t> done;
  for (int i = 0; i < 40; ++i) {
    BOOST_REQUIRE(last_run().size() == 1u);
    const auto who = last_run().front().id.value;
    ran(1, {++done[who]});
  }
  BOOST_TEST(done[1] >= 16u);
  BOOST_TEST(done[2] >= 16u);
}

BOOST_AUTO_TEST_CASE(a_row_whose_state_is_whole_is_only_decoded) {
  auto x = work(1);
  x.steps_done = 4;
  give(x);
  ran(0, {4});
  BOOST_TEST((device->decoding == rows{row(1)}));
  decoded(1);
  BOOST_TEST((replies().at(0).failure.code == ec::none));
  BOOST_TEST(replies().at(0).steps_run == 0u);
}

BOOST_AUTO_TEST_CASE(a_state_ahead_of_what_the_sender_knew_is_no_trouble) {
  auto x = work(1);
  x.steps_done = 1;
  give(x);
  ran(1, {4});
  BOOST_TEST((device->decoding == rows{row(1)}));
}

BOOST_AUTO_TEST_CASE(a_failed_row_ends_alone) {
  give(work(1));
  give(work(2));
  ran(1, {1});
  ran(1, {2, 0}, core::fail(ec::out_of_resources, "no memory"));
  BOOST_REQUIRE(replies().size() == 1u);
  BOOST_TEST((replies()[0].ticket == row(2)));
  BOOST_TEST(replies()[0].failure.text == "no memory");
  BOOST_TEST((last_run() == rows{row(1)}));
  BOOST_TEST((last_batch() == rows{row(1)}));
}

BOOST_AUTO_TEST_CASE(a_decoding_that_fails_ends_its_row) {
  give(work(1, 1));
  ran(1, {1});
  decoded(1, core::fail(ec::io_failed, "no slot"));
  BOOST_TEST((replies().at(0).failure.code == ec::io_failed));
  BOOST_TEST((device->closed == rows{row(1)}));
}

BOOST_AUTO_TEST_CASE(a_row_in_decoding_stays_named_in_the_batch) {
  give(work(1, 1));
  give(work(2));
  ran(1, {1});
  BOOST_TEST((device->decoding == rows{row(1)}));
  BOOST_TEST((last_run() == rows{row(2)}));
  // The decoding row may be the one that kills the device.
  BOOST_TEST((last_batch() == rows{row(1), row(2)}));
  decoded(1);
  ran(1, {1});
  BOOST_TEST((last_batch() == rows{row(2)}));
}

BOOST_AUTO_TEST_CASE(publications_are_told_once_and_progress_where_wanted) {
  give(work(1));
  ran(1, {1});
  ran(1, {2});
  auto signs = scheduler->of<actors::stepped>();
  BOOST_TEST(signs.at(0).rows.size() == 1u);
  BOOST_TEST(signs.at(0).rows.at(0).published);
  BOOST_TEST(signs.at(1).rows.empty());
  start(2);
  auto x = work(1);
  x.wants_progress = true;
  give(x);
  ran(1, {1});
  ran(1, {2});
  signs = scheduler->of<actors::stepped>();
  BOOST_TEST(signs.at(1).rows.at(0).steps_done == 2u);
}

BOOST_AUTO_TEST_CASE(results_for_a_worker_that_is_gone_are_dropped) {
  give(work(1));
  kill(sut);
  sut = nullptr;
  ran(1, {1});
  BOOST_TEST(replies().empty());
}

BOOST_AUTO_TEST_CASE(it_runs_a_device_in_virtual_time) {
  auto timers = std::make_shared<runtime::virtual_timers>(sys);
  auto slots =
    std::make_shared<ipc::heap_store>(1u, std::array<uint32_t, 3>{200, 100, 0});
  auto device_in_time = std::make_shared<gpu::virtual_executor>(
    gpu::virtual_config{test::card_profile(), 0, 0}, timers, slots);
  scheduler->all.clear();
  actors::denoise_step_config c;
  c.self = me;
  c.max_batch = 2;
  c.device_executor = device_in_time;
  c.scheduler = scheduler;
  const auto worker = spawn(actors::denoise_step, c);
  for (uint64_t id = 1; id <= 3; ++id) {
    const auto x = work(id);
    for (const auto& slot : {x.from, x.state, x.image})
      slots->open(slot);
    BOOST_REQUIRE(slots->publish(x.from, 1, 0));
    caf::anon_send(worker, x);
  }
  run();
  advance(1s);
  BOOST_REQUIRE(replies().size() == 3u);
  for (const auto& r : replies()) {
    BOOST_TEST((r.failure.code == ec::none));
    BOOST_TEST(r.steps_run == 4u);
    BOOST_TEST((r.denoise >= 40ms));
    BOOST_TEST((r.decode == 5ms));
  }
  const auto x = work(3);
  BOOST_TEST(*slots->published(x.state) == 5u);
  BOOST_TEST(*slots->published(x.image) == 1u);
}

BOOST_AUTO_TEST_CASE(a_variant_leaves_with_its_last_row) {
  using variants = std::vector<core::variant_id>;
  const core::variant_id used{0};
  const core::variant_id unused{1};
  give(work(1));
  give(work(2));
  ran(1, {1});
  tell(sut,
       actors::adopt{1, {}, 2, planning::joining::step, {}, {used, unused}});
  BOOST_TEST((device->forgotten == variants{unused}));
  cancel(1);
  ran(1, {2, 1});
  BOOST_TEST((device->forgotten == variants{unused}));
  ran(3, {4});
  decoded(2);
  BOOST_TEST((device->forgotten == variants{unused, used}));
}

BOOST_AUTO_TEST_CASE(a_variant_that_is_wanted_again_stays) {
  const core::variant_id used{0};
  give(work(1, 1));
  tell(sut, actors::adopt{1, {}, 2, planning::joining::step, {}, {used}});
  tell(sut, actors::adopt{2, {used}, 2, planning::joining::step, {}, {}});
  ran(1, {1});
  decoded(1);
  BOOST_TEST(device->forgotten.empty());
}

BOOST_AUTO_TEST_CASE(rows_that_run_wait_for_one_opening_where_it_is_long) {
  start(8);
  give(work(1, 100));
  // Opening takes as long as a step and a half.
  const auto run_for = [&](std::vector<uint32_t> done, core::timespan opening) {
    device->ran(1, std::move(done), {}, opening, 10ms);
    run();
  };
  run_for({1}, 15ms);
  for (uint64_t id = 2; id <= 4; ++id)
    give(work(id, 100));
  run_for({2}, 0ms);
  BOOST_TEST((last_run() == rows{row(1), row(2)}));
  BOOST_TEST(device->runs.back().steps == 1u);
  run_for({3, 1}, 15ms);
  BOOST_TEST((last_run() == rows{row(1), row(2), row(3)}));
  // If two openings take no longer than a step, two rows join.
  give(work(5, 100));
  run_for({4, 2, 1}, 5ms);
  BOOST_TEST((last_run() == rows{row(1), row(2), row(3), row(4), row(5)}));
  BOOST_TEST(device->opened.size() == 5u);
}

BOOST_AUTO_TEST_CASE(rows_that_nobody_waits_with_are_all_opened) {
  start(8);
  give(work(1, 1));
  device->ran(1, {1}, {}, 50ms, 10ms);
  run();
  decoded(1);
  tell(sut, actors::adopt{1, {}, 8, planning::joining::whole_batch, {}, {}});
  for (uint64_t id = 2; id <= 4; ++id) {
    auto x = work(id);
    x.more = id < 4;
    give(x);
  }
  BOOST_TEST((last_run() == rows{row(2), row(3), row(4)}));
}

BOOST_AUTO_TEST_CASE(each_row_tells_its_share_of_a_common_opening) {
  start(8);
  give(work(1, 2));
  device->ran(1, {1}, {}, 8ms, 10ms);
  run();
  give(work(2, 2));
  give(work(3, 2));
  // The first row is complete, and nothing is opened.
  device->ran(1, {2}, {}, 0ms, 10ms);
  run();
  BOOST_TEST((last_run() == rows{row(2), row(3)}));
  device->ran(1, {1, 1}, {}, 12ms, 10ms);
  run();
  device->ran(1, {2, 2}, {}, 0ms, 10ms);
  run();
  for (uint64_t id = 1; id <= 3; ++id)
    decoded(id);
  BOOST_REQUIRE(replies().size() == 3u);
  BOOST_TEST(replies()[0].text.count() == core::timespan{8ms}.count());
  BOOST_TEST(replies()[1].text.count() == core::timespan{6ms}.count());
  BOOST_TEST(replies()[2].text.count() == core::timespan{6ms}.count());
  BOOST_TEST(replies()[1].denoise.count() == core::timespan{20ms}.count());
}

BOOST_AUTO_TEST_CASE(encoding_a_source_is_no_part_of_a_text) {
  start(8);
  give(work(1, 2));
  device->ran(1, {1}, {}, 8ms, 10ms);
  run();
  give(work(2, 2));
  give(work(3, 2));
  device->ran(1, {2}, {}, 0ms, 10ms);
  run();
  BOOST_TEST_REQUIRE((last_run() == rows{row(2), row(3)}));
  gpu::run_report x;
  x.steps = 1;
  x.opening = 20ms;
  x.took = 30ms;
  x.rows = {{row(2), 1, true, {}}, {row(3), 1, true, {}}};
  x.rows[1].encoding = 12ms;
  device->events.ran(x);
  run();
  device->ran(1, {2, 2}, {}, 0ms, 10ms);
  run();
  for (uint64_t id = 1; id <= 3; ++id)
    decoded(id);
  BOOST_REQUIRE(replies().size() == 3u);
  BOOST_TEST((replies()[0].encode == 0ms));
  BOOST_TEST((replies()[1].text == 4ms));
  BOOST_TEST((replies()[1].encode == 0ms));
  BOOST_TEST((replies()[2].text == 4ms));
  BOOST_TEST((replies()[2].encode == 12ms));
}

BOOST_AUTO_TEST_SUITE_END()
