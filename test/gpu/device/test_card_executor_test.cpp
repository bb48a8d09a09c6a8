// SPDX-License-Identifier: Apache-2.0
#include "../rig.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/device/test_card_executor.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/gpu/test_card.hpp>

#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>

using namespace atelier;
using namespace atelier::gpu;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(test_card_executor_)

namespace {

/// Takes the reports from the device's thread.
template <class Report>
class inbox {
public:
  void put(Report x) {
    const std::lock_guard guard{mutex_};
    reports_.push_back(std::move(x));
    arrived_.notify_one();
  }

  Report take() {
    std::unique_lock lock{mutex_};
    if (!arrived_.wait_for(lock, 30s, [this] { return !reports_.empty(); }))
      throw std::runtime_error("no report within 30 s");
    auto x = std::move(reports_.front());
    reports_.pop_front();
    return x;
  }

private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Report> reports_;
};

struct live : test::rig {
  inbox<run_report> ran;
  inbox<decode_report> decoded;
  std::shared_ptr<executor> sut;

  live() {
    start();
  }

  void start(core::timespan step = 0ms, core::timespan decode = 0ms) {
    sut = make_test_card_executor({known, step, decode}, slots);
    sut->connect({[this](run_report x) { ran.put(std::move(x)); },
                  [this](decode_report x) { decoded.put(std::move(x)); }});
  }

  run_report run(std::vector<core::ticket> rows, uint32_t steps) {
    sut->run({std::move(rows), steps});
    return ran.take();
  }

  decode_report decode(core::ticket who) {
    sut->decode(who);
    return decoded.take();
  }

  /// Waits until the row has published `seq`.
  void await(const ipc::slot_ref& slot, uint64_t seq) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (published(slot) < seq) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::yield();
    }
  }
};

/// A store whose memory fails in the midst of a run.
class failing_store : public ipc::slot_store {
public:
  explicit failing_store(std::shared_ptr<ipc::slot_store> inner)
    : inner_(std::move(inner)) {}

  uint32_t good_publications = 0;

  size_t capacity(ipc::slot_kind kind) const override {
    return inner_->capacity(kind);
  }

  void open(const ipc::slot_ref& slot) override {
    inner_->open(slot);
  }

  core::result<std::span<std::byte>> buffer(
    const ipc::slot_ref& slot) override {
    return inner_->buffer(slot);
  }

  core::result<void> publish(const ipc::slot_ref& slot, uint64_t seq,
                             size_t bytes) override {
    if (good_publications == 0)
      throw std::runtime_error("the cable is cut");
    --good_publications;
    return inner_->publish(slot, seq, bytes);
  }

  core::result<uint64_t> published(const ipc::slot_ref& slot) const override {
    return inner_->published(slot);
  }

  core::result<uint64_t> read(const ipc::slot_ref& slot,
                              std::vector<std::byte>& into) const override {
    return inner_->read(slot, into);
  }

  core::result<std::span<const std::byte>> view(
    const ipc::slot_ref& slot) const override {
    return inner_->view(slot);
  }

private:
  std::shared_ptr<ipc::slot_store> inner_;
};

} // namespace

BOOST_FIXTURE_TEST_CASE(a_request_becomes_its_picture, live) {
  const auto job = this->job(1, 20);
  sut->open(job);
  const auto report = run({job.who}, 50);
  BOOST_TEST(report.steps == 20u);
  BOOST_REQUIRE(report.rows.size() == 1u);
  BOOST_TEST(report.rows[0].steps_done == 20u);
  BOOST_TEST(report.rows[0].published);
  BOOST_CHECK(report.first_step != core::never);
  BOOST_CHECK(report.took >= report.opening);
  BOOST_TEST(published(job.state) == 21u);
  const auto picture = decode(job.who);
  BOOST_TEST(picture.failure.text == "");
  BOOST_TEST(picture.bytes == 768u);
  BOOST_CHECK(this->picture(job) == expected(job));
}

BOOST_FIXTURE_TEST_CASE(resuming_at_any_step_gives_the_same_picture, live) {
  for (auto at = 1u; at < 8; ++at) {
    const auto first = job(at, 8);
    sut->open(first);
    BOOST_TEST(run({first.who}, at).steps == at);
    sut->close(first.who);
    const auto second = again(first);
    sut->open(second);
    const auto report = run({second.who}, 50);
    BOOST_TEST(report.steps == 8 - at);
    BOOST_TEST(report.rows[0].steps_done == 8u);
    decode(second.who);
    BOOST_CHECK(picture(second) == expected(second));
  }
}

BOOST_FIXTURE_TEST_CASE(a_source_becomes_part_of_the_picture, live) {
  uint64_t id = 0;
  for (const bool masked : {false, true})
    for (const float strength : {0.2f, 0.5f, 1.0f}) {
      const auto job = image_job(++id, 10, strength, masked);
      const auto steps = core::steps_to_run(job.how);
      sut->open(job);
      const auto report = run({job.who}, 50);
      BOOST_TEST(report.rows[0].failure.text == "");
      BOOST_TEST(report.rows[0].steps_done == steps);
      BOOST_TEST(published(job.state) == steps + 1);
      decode(job.who);
      BOOST_CHECK(picture(job) == expected(job));
      // Another source, another picture.
      auto other = image_job(++id, 10, strength, masked);
      other.who.id = job.who.id;
      BOOST_CHECK(expected(other) != expected(job));
    }
}

BOOST_FIXTURE_TEST_CASE(resuming_from_a_source_gives_the_same_picture, live) {
  for (auto at = 1u; at < 5; ++at) {
    const auto first = image_job(at, 10, 0.5f, at % 2 == 0);
    sut->open(first);
    run({first.who}, at);
    sut->close(first.who);
    const auto second = again(first);
    sut->open(second);
    const auto report = run({second.who}, 50);
    BOOST_TEST(report.steps == 5 - at);
    decode(second.who);
    BOOST_CHECK(picture(second) == expected(second));
  }
}

BOOST_FIXTURE_TEST_CASE(a_source_that_is_missing_or_wrong_is_told, live) {
  const auto failure = [&](const gpu::open_job& job) {
    sut->open(job);
    return run({job.who}, 5).rows.at(0).failure;
  };
  auto lost = image_job(1, 5, 1, false);
  lost.source = {};
  BOOST_TEST(failure(lost).text == "a source is missing");
  auto stale = image_job(2, 5, 1, false);
  ++stale.source.generation;
  BOOST_TEST((failure(stale).code == core::ec::incompatible));
  auto other = image_job(3, 5, 1, false);
  other.how.px = {8, 8};
  BOOST_TEST((failure(other).code == core::ec::bad_payload));
  auto none = job(4, 5);
  none.source = image_job(5, 5, 1, false).source;
  BOOST_TEST(failure(none).text == "a source of a run that starts from noise");
  // Taken away while it runs.
  const auto taken = image_job(6, 5, 1, false);
  sut->open(taken);
  BOOST_TEST(run({taken.who}, 2).rows.at(0).failure.text == "");
  auto next = taken.source;
  ++next.generation;
  slots->open(next);
  BOOST_TEST(
    (run({taken.who}, 2).rows.at(0).failure.code == core::ec::incompatible));
}

BOOST_FIXTURE_TEST_CASE(previews_go_with_the_states_that_are_due, live) {
  const auto preview_after = [&](const open_job& job, uint32_t steps) {
    const auto did = run({job.who}, steps);
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
  // What another attempt published is no part of the state.
  auto next = again(wants);
  next.preview_every = 0;
  sut->open(next);
  BOOST_TEST(!preview_after(next, 1));
  next = again(next);
  next.preview_every = 1;
  sut->open(next);
  BOOST_TEST(preview_after(next, 1));
  // The picture itself is next, and not a bit of it another.
  BOOST_TEST(!preview_after(next, 1));
  decode(next.who);
  BOOST_TEST((picture(next) == expected(next)));
}

BOOST_FIXTURE_TEST_CASE(a_complete_state_ends_the_run_at_once, live) {
  const auto first = job(1, 3);
  const auto other = job(2, 3);
  sut->open(first);
  run({first.who}, 3);
  const auto second = again(first);
  sut->open(second);
  sut->open(other);
  const auto report = run({other.who, second.who}, 3);
  BOOST_TEST(report.steps == 0u);
  BOOST_CHECK(report.first_step == core::never);
  BOOST_TEST(report.rows[0].steps_done == 0u);
  BOOST_TEST(report.rows[1].steps_done == 3u);
  BOOST_TEST(!report.rows[1].published);
  decode(second.who);
  BOOST_CHECK(picture(second) == expected(second));
}

BOOST_FIXTURE_TEST_CASE(rows_of_a_batch_do_not_mix, live) {
  std::vector<open_job> jobs;
  std::vector<core::ticket> rows;
  for (auto id = 1u; id <= 5; ++id) {
    jobs.push_back(job(id, 6));
    rows.push_back(jobs.back().who);
    sut->open(jobs.back());
  }
  BOOST_TEST(run(rows, 6).steps == 6u);
  for (const auto& x : jobs) {
    decode(x.who);
    BOOST_CHECK(picture(x) == expected(x));
  }
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_ends_the_run_at_a_boundary, live) {
  start(2ms);
  const auto job = this->job(1, 10'000);
  sut->open(job);
  sut->run({{job.who}, 10'000});
  await(job.state, 3);
  sut->interrupt();
  const auto report = ran.take();
  BOOST_TEST(report.steps >= 2u);
  BOOST_TEST(report.steps < 10'000u);
  BOOST_TEST(report.rows[0].steps_done == report.steps);
  BOOST_TEST(published(job.state) == report.steps + 1);
  // It does not stick to the next run.
  BOOST_TEST(run({job.who}, 3).steps == 3u);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_reaches_a_run_that_has_not_begun, live) {
  start(0ms, 50ms);
  const auto first = job(1, 4);
  const auto second = job(2, 4);
  sut->open(first);
  sut->open(second);
  sut->decode(first.who);
  sut->run({{second.who}, 4});
  sut->interrupt();
  const auto report = ran.take();
  BOOST_TEST(report.steps == 0u);
  BOOST_TEST(report.rows[0].failure.text == "");
  BOOST_TEST(run({second.who}, 4).steps == 4u);
}

BOOST_FIXTURE_TEST_CASE(states_are_published_as_the_row_asks, live) {
  auto job = this->job(1, 10);
  job.publish_every = 4;
  sut->open(job);
  BOOST_TEST(!run({job.who}, 3).rows[0].published);
  BOOST_TEST(published(job.state) == 0u);
  BOOST_TEST(run({job.who}, 3).rows[0].published);
  BOOST_TEST(published(job.state) == 5u);
  run({job.who}, 3);
  BOOST_TEST(published(job.state) == 9u);
  run({job.who}, 3);
  BOOST_TEST(published(job.state) == 11u);
  auto last = this->job(2, 5);
  last.publish_every = 0;
  sut->open(last);
  run({last.who}, 4);
  BOOST_TEST(published(last.state) == 0u);
  run({last.who}, 4);
  BOOST_TEST(published(last.state) == 6u);
}

BOOST_FIXTURE_TEST_CASE(what_is_wrong_with_a_row_shows_in_its_run, live) {
  std::vector<open_job> jobs;
  for (auto id = 1u; id <= 8; ++id)
    jobs.push_back(job(id, 4));
  jobs[0].from.generation = 99;
  jobs[1].state.generation = 99;
  jobs[2].how.variant = core::variant_id{1};
  jobs[3].how.px = {16, 24};
  jobs[4].from = grant(ipc::slot_kind::state);
  const std::vector<core::ec> codes{
    core::ec::incompatible, core::ec::incompatible, core::ec::not_found,
    core::ec::bad_payload,  core::ec::not_found,    core::ec::internal,
    core::ec::not_found,    core::ec::none};
  std::vector<core::ticket> rows;
  for (const auto& x : jobs) {
    rows.push_back(x.who);
    if (x.who.id.value != 7)
      sut->open(x);
  }
  sut->open(jobs[5]);
  const auto report = run(rows, 4);
  for (auto i = size_t{0}; i < jobs.size(); ++i) {
    BOOST_TEST_CONTEXT("row " << i << ": " << report.rows[i].failure.text)
    BOOST_CHECK(report.rows[i].failure.code == codes[i]);
  }
  BOOST_TEST(report.steps == 4u);
  // A row that failed stays so, and one that is sound is not harmed.
  BOOST_CHECK(decode(rows[0]).failure.code == core::ec::incompatible);
  BOOST_CHECK(decode(rows[6]).failure.code == core::ec::not_found);
  BOOST_CHECK(decode(rows[7]).failure.code == core::ec::none);
  BOOST_CHECK(picture(jobs[7]) == expected(jobs[7]));
}

BOOST_FIXTURE_TEST_CASE(a_state_beyond_the_requests_steps_is_refused, live) {
  const auto first = job(1, 6);
  sut->open(first);
  run({first.who}, 6);
  auto second = again(first);
  second.how.steps = 5;
  sut->open(second);
  const auto report = run({second.who}, 5);
  BOOST_CHECK(report.rows[0].failure.code == core::ec::bad_payload);
  BOOST_TEST(report.steps == 0u);
}

BOOST_FIXTURE_TEST_CASE(an_exception_fails_one_row_and_not_the_thread, live) {
  const auto broken = std::make_shared<failing_store>(slots);
  broken->good_publications = 5;
  sut.reset();
  sut = make_test_card_executor({known}, broken);
  sut->connect({[this](run_report x) { ran.put(std::move(x)); },
                [this](decode_report x) { decoded.put(std::move(x)); }});
  const auto first = job(1, 10);
  const auto second = job(2, 10);
  sut->open(first);
  sut->open(second);
  // Publications: 1 2 | 1 2 | 1, and then none.
  const auto report = run({first.who, second.who}, 10);
  BOOST_TEST(report.steps == 4u);
  for (const auto& row : report.rows)
    BOOST_TEST(row.failure.text == "a row failed: the cable is cut");
  BOOST_TEST(published(first.state) == 4u);
  BOOST_TEST(published(second.state) == 3u);
  BOOST_TEST(run({first.who}, 1).steps == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_picture_that_does_not_fit_is_a_failure, live) {
  auto big = job(1, 1);
  big.how.px = {24, 16};
  big.from = grant(ipc::slot_kind::state);
  big.image = grant(ipc::slot_kind::image);
  const core::latent_shape shape{4, 2, 3};
  BOOST_REQUIRE(begin_state(*slots->buffer(big.from), shape, 0, 0));
  BOOST_REQUIRE(slots->publish(big.from, 1, state_bytes(shape, 0)));
  sut->open(big);
  BOOST_TEST(run({big.who}, 1).rows[0].failure.text == "");
  const auto report = decode(big.who);
  BOOST_CHECK(report.failure.code == core::ec::out_of_resources);
  BOOST_TEST(report.bytes == 0u);
  BOOST_TEST(published(big.image) == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_picture_is_drawn_once, live) {
  const auto job = this->job(1, 1);
  sut->open(job);
  run({job.who}, 1);
  BOOST_CHECK(decode(job.who).failure.code == core::ec::none);
  BOOST_CHECK(decode(job.who).failure.code == core::ec::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(a_row_closed_in_the_queue_is_forgotten, live) {
  const auto job = this->job(1, 4);
  sut->open(job);
  sut->run({{job.who}, 2});
  sut->close(job.who);
  sut->decode(job.who);
  BOOST_TEST(ran.take().steps == 2u);
  BOOST_CHECK(decoded.take().failure.code == core::ec::not_found);
  BOOST_CHECK(run({job.who}, 2).rows[0].failure.code == core::ec::not_found);
  BOOST_TEST(published(job.state) == 3u);
  BOOST_TEST(published(job.image) == 0u);
}

BOOST_FIXTURE_TEST_CASE(the_end_finishes_the_step_and_drops_the_rest, live) {
  // Far longer than the test may take: the destructor cuts the wait short.
  start(1h);
  const auto job = this->job(1, 4);
  auto calls = 0;
  sut->connect({[&](run_report) { ++calls; }, [&](decode_report) { ++calls; }});
  sut->open(job);
  sut->run({{job.who}, 4});
  sut->decode(job.who);
  sut.reset();
  BOOST_TEST(calls == 0);
  BOOST_TEST(published(job.state) <= 2u);
  BOOST_TEST(published(job.image) == 0u);
}

BOOST_FIXTURE_TEST_CASE(jobs_from_the_reports_of_the_thread, live) {
  // As an actor's owner would, but at any moment.
  core::philox random{test::seed(), core::purpose::test};
  for (auto id = size_t{1}; id <= std::min<size_t>(test::scaled(2000), 120);
       ++id) {
    const auto job = this->job(id, static_cast<uint32_t>(1 + random.below(20)));
    sut->open(job);
    auto done = 0u;
    while (done < job.how.steps) {
      sut->run({{job.who}, static_cast<uint32_t>(1 + random.below(8))});
      for (auto n = random.below(4); n > 0; --n)
        std::this_thread::yield();
      if (random.below(2) == 0)
        sut->interrupt();
      const auto report = ran.take();
      BOOST_REQUIRE_EQUAL(report.rows[0].steps_done, done + report.steps);
      done += report.steps;
      BOOST_REQUIRE_EQUAL(published(job.state), done > 0 ? done + 1 : 0);
    }
    decode(job.who);
    BOOST_REQUIRE(picture(job) == expected(job));
    sut->close(job.who);
  }
}

BOOST_AUTO_TEST_SUITE_END()
