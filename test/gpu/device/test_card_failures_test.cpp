// SPDX-License-Identifier: Apache-2.0
#include "live_executor.hpp"
#include <atelier/gpu/device/detail/device_thread.hpp>
#include <atelier/gpu/state_format.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(test_card_failures)

namespace {

/// Rows of two steps that throw in one of their functions.
class throwing_rows final : public detail::row_engine {
public:
  enum class at : uint8_t { open, step, report, decode, close, nowhere };

  explicit throwing_rows(at where) : where_(where) {}

  void open(const open_job&) override {
    throw_at(at::open);
  }

  void close(core::ticket) override {
    throw_at(at::close);
  }

  uint32_t steps_left(const std::vector<core::ticket>& who,
                      uint32_t most) override {
    return who.empty() ? 0 : most;
  }

  void step(const std::vector<core::ticket>&) override {
    throw_at(at::step);
  }

  std::vector<row_report> report(
    const std::vector<core::ticket>& who) override {
    throw_at(at::report);
    std::vector<row_report> all;
    for (const auto x : who)
      all.push_back({x, 1, true, {}, {}});
    return all;
  }

  std::optional<decode_report> decode_part(core::ticket who) override {
    throw_at(at::decode);
    decode_report x;
    x.ticket = who;
    return x;
  }

private:
  void throw_at(at here) {
    // It throws once, and the thrown type is not an exception class.
    if (where_ == here) {
      where_ = at::nowhere;
      throw 7;
    }
  }

  at where_;
};

/// A store whose memory fails during a run.
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

BOOST_FIXTURE_TEST_CASE(a_source_that_is_missing_or_wrong_is_told,
                        test::live_executor) {
  const auto failure = [&](const gpu::open_job& job) {
    sut->open(job);
    return run({job.ticket}, 5).rows.at(0).failure;
  };
  auto lost = image_job(1, 5, 1, false);
  lost.source = {};
  BOOST_TEST(failure(lost).text == "a source is missing");
  auto stale = image_job(2, 5, 1, false);
  ++stale.source.generation;
  BOOST_TEST((failure(stale).code == core::ec::incompatible));
  auto other = image_job(3, 5, 1, false);
  other.recipe.px = {8, 8};
  BOOST_TEST((failure(other).code == core::ec::bad_payload));
  auto none = job(4, 5);
  none.source = image_job(5, 5, 1, false).source;
  BOOST_TEST(failure(none).text == "a source of a run that starts from noise");
  // Its slot is taken away during the run.
  const auto taken = image_job(6, 5, 1, false);
  sut->open(taken);
  BOOST_TEST(run({taken.ticket}, 2).rows.at(0).failure.text == "");
  auto next = taken.source;
  ++next.generation;
  slots->open(next);
  BOOST_TEST(
    (run({taken.ticket}, 2).rows.at(0).failure.code == core::ec::incompatible));
}

BOOST_FIXTURE_TEST_CASE(what_is_wrong_with_a_row_shows_in_its_run,
                        test::live_executor) {
  std::vector<open_job> jobs;
  for (auto id = 1u; id <= 8; ++id)
    jobs.push_back(job(id, 4));
  jobs[0].from.generation = 99;
  jobs[1].state.generation = 99;
  jobs[2].recipe.variant = core::variant_id{1};
  jobs[3].recipe.px = {16, 24};
  jobs[4].from = grant(ipc::slot_kind::state);
  const std::vector<core::ec> codes{
    core::ec::incompatible, core::ec::incompatible, core::ec::not_found,
    core::ec::bad_payload,  core::ec::not_found,    core::ec::internal,
    core::ec::not_found,    core::ec::none};
  std::vector<core::ticket> rows;
  for (const auto& x : jobs) {
    rows.push_back(x.ticket);
    if (x.ticket.id.value != 7)
      sut->open(x);
  }
  sut->open(jobs[5]);
  const auto report = run(rows, 4);
  for (auto i = size_t{0}; i < jobs.size(); ++i) {
    BOOST_TEST_CONTEXT("row " << i << ": " << report.rows[i].failure.text)
    BOOST_CHECK(report.rows[i].failure.code == codes[i]);
  }
  BOOST_TEST(report.steps == 4u);
  // A failed row stays failed, and a valid row is not harmed.
  BOOST_CHECK(decode(rows[0]).failure.code == core::ec::incompatible);
  BOOST_CHECK(decode(rows[6]).failure.code == core::ec::not_found);
  BOOST_CHECK(decode(rows[7]).failure.code == core::ec::none);
  BOOST_CHECK(image(jobs[7]) == expected(jobs[7]));
}

BOOST_FIXTURE_TEST_CASE(a_state_beyond_the_requests_steps_is_refused,
                        test::live_executor) {
  const auto first = job(1, 6);
  sut->open(first);
  run({first.ticket}, 6);
  auto second = again(first);
  second.recipe.steps = 5;
  sut->open(second);
  const auto report = run({second.ticket}, 5);
  BOOST_CHECK(report.rows[0].failure.code == core::ec::bad_payload);
  BOOST_TEST(report.steps == 0u);
}

BOOST_FIXTURE_TEST_CASE(an_exception_fails_one_row_and_not_the_thread,
                        test::live_executor) {
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
  // The publications are 1 2 | 1 2 | 1, and all later ones fail.
  const auto report = run({first.ticket, second.ticket}, 10);
  BOOST_TEST(report.steps == 4u);
  for (const auto& row : report.rows)
    BOOST_TEST(row.failure.text == "a row failed: the cable is cut");
  BOOST_TEST(published(first.state) == 4u);
  BOOST_TEST(published(second.state) == 3u);
  BOOST_TEST(run({first.ticket}, 1).steps == 0u);
}

BOOST_FIXTURE_TEST_CASE(whatever_rows_throw_fails_them_and_not_the_thread,
                        test::live_executor) {
  using at = throwing_rows::at;
  for (const auto where :
       {at::open, at::step, at::report, at::decode, at::close, at::nowhere}) {
    sut.reset();
    sut = std::make_shared<detail::device_thread>(
      std::make_unique<throwing_rows>(where));
    sut->connect({[this](run_report x) { ran.put(std::move(x)); },
                  [this](decode_report x) { decoded.put(std::move(x)); }});
    const auto fails = [&](at here) {
      return where == here ? core::ec::internal : core::ec::none;
    };
    const auto first = job(1, 2);
    sut->open(first);
    sut->open(job(2, 2));
    const auto report = run({first.ticket, {core::request_id{2}, 1}}, 2);
    BOOST_TEST_REQUIRE(report.rows.size() == 2u);
    for (const auto& row : report.rows) {
      const bool harmed = where == at::step || where == at::report
                       || (where == at::open && row.ticket == first.ticket);
      BOOST_CHECK(row.failure.code
                  == (harmed ? core::ec::internal : core::ec::none));
      if (harmed)
        BOOST_TEST(row.failure.text == "the device: an unknown exception");
    }
    const auto drawn = decode(first.ticket);
    BOOST_CHECK(drawn.ticket == first.ticket);
    BOOST_CHECK(drawn.failure.code == fails(at::decode));
    sut->close(first.ticket);
    BOOST_CHECK(decode(first.ticket).failure.code == core::ec::none);
  }
}

BOOST_FIXTURE_TEST_CASE(rehearsed_faults_come_every_so_many_steps,
                        test::live_executor) {
  sut.reset();
  start({}, {}, 3);
  const auto first = job(1, 10);
  sut->open(first);
  const auto report = run({first.ticket}, 10);
  BOOST_TEST(report.steps == 2u);
  BOOST_CHECK(report.rows.at(0).failure.code == core::ec::out_of_resources);
  BOOST_TEST(published(first.state) == 3u);
  const auto second = again(first);
  sut->close(first.ticket);
  sut->open(second);
  BOOST_CHECK(run({second.ticket}, 10).rows.at(0).failure.code
              == core::ec::internal);
}

BOOST_FIXTURE_TEST_CASE(a_image_that_does_not_fit_is_a_failure,
                        test::live_executor) {
  auto big = job(1, 1);
  big.recipe.px = {24, 16};
  big.from = grant(ipc::slot_kind::state);
  big.image = grant(ipc::slot_kind::image);
  const core::latent_shape shape{4, 2, 3};
  BOOST_REQUIRE(begin_state(*slots->buffer(big.from), shape, 0, 0));
  BOOST_REQUIRE(slots->publish(big.from, 1, state_bytes(shape, 0)));
  sut->open(big);
  BOOST_TEST(run({big.ticket}, 1).rows[0].failure.text == "");
  const auto report = decode(big.ticket);
  BOOST_CHECK(report.failure.code == core::ec::out_of_resources);
  BOOST_TEST(report.bytes == 0u);
  BOOST_TEST(published(big.image) == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_image_is_drawn_once, test::live_executor) {
  const auto job = this->job(1, 1);
  sut->open(job);
  run({job.ticket}, 1);
  BOOST_CHECK(decode(job.ticket).failure.code == core::ec::none);
  BOOST_CHECK(decode(job.ticket).failure.code == core::ec::incompatible);
}

BOOST_FIXTURE_TEST_CASE(a_row_closed_in_the_queue_is_forgotten,
                        test::live_executor) {
  const auto job = this->job(1, 4);
  sut->open(job);
  sut->run({{job.ticket}, 2});
  sut->close(job.ticket);
  sut->decode(job.ticket);
  BOOST_TEST(ran.take().steps == 2u);
  BOOST_CHECK(decoded.take().failure.code == core::ec::not_found);
  BOOST_CHECK(run({job.ticket}, 2).rows[0].failure.code == core::ec::not_found);
  BOOST_TEST(published(job.state) == 3u);
  BOOST_TEST(published(job.image) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
