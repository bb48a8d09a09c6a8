// SPDX-License-Identifier: Apache-2.0
#include "live_executor.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/gpu/test_card.hpp>

#include <boost/test/unit_test.hpp>

#include <thread>

using namespace atelier;
using namespace atelier::gpu;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(test_card_executor_)

BOOST_FIXTURE_TEST_CASE(a_request_becomes_its_image, test::live_executor) {
  const auto job = this->job(1, 20);
  sut->open(job);
  const auto report = run({job.ticket}, 50);
  BOOST_TEST(report.steps == 20u);
  BOOST_REQUIRE(report.rows.size() == 1u);
  BOOST_TEST(report.rows[0].steps_done == 20u);
  BOOST_TEST(report.rows[0].published);
  BOOST_CHECK(report.first_step != core::never);
  BOOST_CHECK(report.took >= report.opening);
  BOOST_TEST(published(job.state) == 21u);
  const auto image = decode(job.ticket);
  BOOST_TEST(image.failure.text == "");
  BOOST_TEST(image.bytes == 768u);
  BOOST_CHECK(this->image(job) == expected(job));
}

BOOST_FIXTURE_TEST_CASE(resuming_at_any_step_gives_the_same_image,
                        test::live_executor) {
  for (auto at = 1u; at < 8; ++at) {
    const auto first = job(at, 8);
    sut->open(first);
    BOOST_TEST(run({first.ticket}, at).steps == at);
    sut->close(first.ticket);
    const auto second = again(first);
    sut->open(second);
    const auto report = run({second.ticket}, 50);
    BOOST_TEST(report.steps == 8 - at);
    BOOST_TEST(report.rows[0].steps_done == 8u);
    decode(second.ticket);
    BOOST_CHECK(image(second) == expected(second));
  }
}

BOOST_FIXTURE_TEST_CASE(a_source_becomes_part_of_the_image,
                        test::live_executor) {
  uint64_t id = 0;
  for (const bool masked : {false, true})
    for (const float strength : {0.2f, 0.5f, 1.0f}) {
      const auto job = image_job(++id, 10, strength, masked);
      const auto steps = core::steps_to_run(job.recipe);
      sut->open(job);
      const auto report = run({job.ticket}, 50);
      BOOST_TEST(report.rows[0].failure.text == "");
      BOOST_TEST(report.rows[0].steps_done == steps);
      BOOST_TEST(published(job.state) == steps + 1);
      decode(job.ticket);
      BOOST_CHECK(image(job) == expected(job));
      // Another source gives another image.
      auto other = image_job(++id, 10, strength, masked);
      other.ticket.id = job.ticket.id;
      BOOST_CHECK(expected(other) != expected(job));
    }
}

BOOST_FIXTURE_TEST_CASE(resuming_from_a_source_gives_the_same_image,
                        test::live_executor) {
  for (auto at = 1u; at < 5; ++at) {
    const auto first = image_job(at, 10, 0.5f, at % 2 == 0);
    sut->open(first);
    run({first.ticket}, at);
    sut->close(first.ticket);
    const auto second = again(first);
    sut->open(second);
    const auto report = run({second.ticket}, 50);
    BOOST_TEST(report.steps == 5 - at);
    decode(second.ticket);
    BOOST_CHECK(image(second) == expected(second));
  }
}

BOOST_FIXTURE_TEST_CASE(previews_go_with_the_states_that_are_due,
                        test::live_executor) {
  const auto preview_after = [&](const open_job& job, uint32_t steps) {
    const auto did = run({job.ticket}, steps);
    BOOST_TEST(did.rows.at(0).failure.text == "");
    std::vector<std::byte> bytes;
    BOOST_REQUIRE(slots->read(job.state, bytes));
    const auto parts = parse_state(bytes);
    BOOST_REQUIRE(parts);
    BOOST_TEST(parts->history.empty());
    const auto& x = parts->preview;
    if (x.rgb.empty())
      return false;
    BOOST_TEST(x.px.width == parts->head.width);
    BOOST_TEST(x.px.height == parts->head.height);
    std::vector<std::byte> expected(x.rgb.size());
    test_card_preview(
      parts->latent,
      {parts->head.channels, parts->head.height, parts->head.width}, expected);
    BOOST_TEST(std::equal(expected.begin(), expected.end(),
                          std::as_bytes(x.rgb).begin()));
    return true;
  };
  auto wants = job(1, 7);
  wants.preview_every = 2;
  auto wants_none = job(2, 7);
  sut->open(wants);
  sut->open(wants_none);
  BOOST_TEST(!preview_after(wants, 1));
  BOOST_TEST(preview_after(wants, 1));
  BOOST_TEST(!preview_after(wants, 1));
  BOOST_TEST(preview_after(wants, 1));
  BOOST_TEST(!preview_after(wants_none, 4));
  // The publications of another attempt are not part of the state.
  auto next = again(wants);
  next.preview_every = 0;
  sut->open(next);
  BOOST_TEST(!preview_after(next, 1));
  next = again(next);
  next.preview_every = 1;
  sut->open(next);
  BOOST_TEST(preview_after(next, 1));
  // The image is decoded next, and equals the expected one bit for bit.
  BOOST_TEST(!preview_after(next, 1));
  decode(next.ticket);
  BOOST_TEST((image(next) == expected(next)));
}

BOOST_FIXTURE_TEST_CASE(a_complete_state_ends_the_run_at_once,
                        test::live_executor) {
  const auto first = job(1, 3);
  const auto other = job(2, 3);
  sut->open(first);
  run({first.ticket}, 3);
  const auto second = again(first);
  sut->open(second);
  sut->open(other);
  const auto report = run({other.ticket, second.ticket}, 3);
  BOOST_TEST(report.steps == 0u);
  BOOST_CHECK(report.first_step == core::never);
  BOOST_TEST(report.rows[0].steps_done == 0u);
  BOOST_TEST(report.rows[1].steps_done == 3u);
  BOOST_TEST(!report.rows[1].published);
  decode(second.ticket);
  BOOST_CHECK(image(second) == expected(second));
}

BOOST_FIXTURE_TEST_CASE(rows_of_a_batch_do_not_mix, test::live_executor) {
  std::vector<open_job> jobs;
  std::vector<core::ticket> rows;
  for (auto id = 1u; id <= 5; ++id) {
    jobs.push_back(job(id, 6));
    rows.push_back(jobs.back().ticket);
    sut->open(jobs.back());
  }
  BOOST_TEST(run(rows, 6).steps == 6u);
  for (const auto& x : jobs) {
    decode(x.ticket);
    BOOST_CHECK(image(x) == expected(x));
  }
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_ends_the_run_at_a_boundary,
                        test::live_executor) {
  start(2ms);
  const auto job = this->job(1, 10'000);
  sut->open(job);
  sut->run({{job.ticket}, 10'000});
  await(job.state, 3);
  sut->interrupt();
  const auto report = ran.take();
  BOOST_TEST(report.steps >= 2u);
  BOOST_TEST(report.steps < 10'000u);
  BOOST_TEST(report.rows[0].steps_done == report.steps);
  BOOST_TEST(published(job.state) == report.steps + 1);
  // The interruption does not affect the next run.
  BOOST_TEST(run({job.ticket}, 3).steps == 3u);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_reaches_a_run_that_has_not_begun,
                        test::live_executor) {
  start(0ms, 50ms);
  const auto first = job(1, 4);
  const auto second = job(2, 4);
  sut->open(first);
  sut->open(second);
  sut->decode(first.ticket);
  sut->run({{second.ticket}, 4});
  sut->interrupt();
  const auto report = ran.take();
  BOOST_TEST(report.steps == 0u);
  BOOST_TEST(report.rows[0].failure.text == "");
  BOOST_TEST(run({second.ticket}, 4).steps == 4u);
}

BOOST_FIXTURE_TEST_CASE(states_are_published_as_the_row_asks,
                        test::live_executor) {
  auto job = this->job(1, 10);
  job.publish_every = 4;
  sut->open(job);
  BOOST_TEST(!run({job.ticket}, 3).rows[0].published);
  BOOST_TEST(published(job.state) == 0u);
  BOOST_TEST(run({job.ticket}, 3).rows[0].published);
  BOOST_TEST(published(job.state) == 5u);
  run({job.ticket}, 3);
  BOOST_TEST(published(job.state) == 9u);
  run({job.ticket}, 3);
  BOOST_TEST(published(job.state) == 11u);
  auto last = this->job(2, 5);
  last.publish_every = 0;
  sut->open(last);
  run({last.ticket}, 4);
  BOOST_TEST(published(last.state) == 0u);
  run({last.ticket}, 4);
  BOOST_TEST(published(last.state) == 6u);
}

BOOST_FIXTURE_TEST_CASE(the_end_finishes_the_step_and_drops_the_rest,
                        test::live_executor) {
  // A step takes far longer than the test may take. The destructor ends the
  // wait.
  start(1h);
  const auto job = this->job(1, 4);
  auto calls = 0;
  sut->connect({[&](run_report) { ++calls; }, [&](decode_report) { ++calls; }});
  sut->open(job);
  sut->run({{job.ticket}, 4});
  sut->decode(job.ticket);
  sut.reset();
  BOOST_TEST(calls == 0);
  BOOST_TEST(published(job.state) <= 2u);
  BOOST_TEST(published(job.image) == 0u);
}

BOOST_FIXTURE_TEST_CASE(jobs_from_the_reports_of_the_thread,
                        test::live_executor) {
  // The calls are those of the device's actor, but at random moments.
  core::philox random{test::seed(), core::purpose::test};
  for (auto id = size_t{1}; id <= std::min<size_t>(test::scaled(2000), 120);
       ++id) {
    const auto job = this->job(id, static_cast<uint32_t>(1 + random.below(20)));
    sut->open(job);
    auto done = 0u;
    while (done < job.recipe.steps) {
      sut->run({{job.ticket}, static_cast<uint32_t>(1 + random.below(8))});
      for (auto n = random.below(4); n > 0; --n)
        std::this_thread::yield();
      if (random.below(2) == 0)
        sut->interrupt();
      const auto report = ran.take();
      BOOST_REQUIRE_EQUAL(report.rows[0].steps_done, done + report.steps);
      done += report.steps;
      BOOST_REQUIRE_EQUAL(published(job.state), done > 0 ? done + 1 : 0);
    }
    decode(job.ticket);
    BOOST_REQUIRE(image(job) == expected(job));
    sut->close(job.ticket);
  }
}

BOOST_AUTO_TEST_SUITE_END()
