// SPDX-License-Identifier: Apache-2.0
#include "../rig.hpp"
#include <atelier/gpu/device/virtual_executor.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(virtual_executor_)

namespace {

struct simulated : test::rig {
  explicit simulated(bool payload = true, double noise = 0, uint64_t seed = 1)
    : test::rig(payload),
      timers(std::make_shared<test::manual_timers>()),
      begin(timers->now()),
      sut(std::make_unique<virtual_executor>(virtual_config{known, noise, seed},
                                             timers, slots)) {
    sut->connect({[this](run_report x) { ran.push_back(std::move(x)); },
                  [this](decode_report x) { decoded.push_back(x); }});
  }

  std::shared_ptr<test::manual_timers> timers;
  core::time_point begin;
  std::unique_ptr<virtual_executor> sut;
  std::vector<run_report> ran;
  std::vector<decode_report> decoded;

  void drain() {
    while (timers->step())
      continue;
  }
};

struct counting : simulated {
  counting() : simulated(false) {}
};

} // namespace

BOOST_FIXTURE_TEST_CASE(a_run_takes_the_profiles_time, simulated) {
  const auto first = job(1, 20);
  const auto second = job(2, 20);
  sut->open(first);
  sut->open(second);
  sut->run({{first.ticket, second.ticket}, 4});
  timers->advance(6ms + 4 * 11ms - 1ns);
  BOOST_TEST(ran.empty());
  timers->advance(1ns);
  BOOST_REQUIRE(ran.size() == 1u);
  BOOST_TEST(ran[0].steps == 4u);
  BOOST_CHECK(ran[0].took == 50ms);
  BOOST_CHECK(ran[0].opening == 6ms);
  BOOST_CHECK(ran[0].first_step == begin + 6ms);
  BOOST_TEST(published(first.state) == 5u);
  // Opening costs time only once.
  sut->run({{first.ticket}, 2});
  timers->advance(20ms);
  BOOST_REQUIRE(ran.size() == 2u);
  BOOST_CHECK(ran[1].took == 20ms);
}

BOOST_FIXTURE_TEST_CASE(a_request_becomes_its_image, simulated) {
  const auto job = this->job(1, 20);
  sut->open(job);
  sut->run({{job.ticket}, 50});
  sut->decode(job.ticket);
  sut->close(job.ticket);
  timers->advance(3ms + 200ms + 5ms);
  BOOST_REQUIRE(decoded.size() == 1u);
  BOOST_CHECK(decoded[0].took == 5ms);
  BOOST_TEST(decoded[0].bytes == 768u);
  BOOST_CHECK(image(job) == expected(job));
}

BOOST_FIXTURE_TEST_CASE(without_payload_only_counts_are_published, counting) {
  const auto first = job(1, 20);
  sut->open(first);
  sut->run({{first.ticket}, 12});
  drain();
  BOOST_TEST(published(first.state) == 13u);
  const auto second = again(first);
  sut->open(second);
  sut->run({{second.ticket}, 50});
  sut->decode(second.ticket);
  drain();
  BOOST_TEST(ran[1].steps == 8u);
  BOOST_TEST(published(second.state) == 21u);
  BOOST_TEST(published(second.image) == 1u);
  BOOST_TEST(decoded[0].bytes == 0u);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_lets_the_step_in_progress_end, simulated) {
  const auto job = this->job(1, 20);
  sut->open(job);
  sut->run({{job.ticket}, 20});
  timers->advance(3ms + 45ms);
  sut->interrupt();
  sut->interrupt();
  timers->advance(5ms - 1ns);
  BOOST_TEST(ran.empty());
  timers->advance(1ns);
  BOOST_REQUIRE(ran.size() == 1u);
  BOOST_TEST(ran[0].steps == 5u);
  BOOST_TEST(published(job.state) == 6u);
  // The timer of the whole run has fired, but no longer counts.
  drain();
  BOOST_TEST(ran.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_on_a_boundary_ends_the_run_there,
                        simulated) {
  const auto job = this->job(1, 20);
  sut->open(job);
  sut->run({{job.ticket}, 20});
  timers->advance(3ms + 50ms);
  sut->interrupt();
  BOOST_TEST(ran.empty());
  timers->advance(0ns);
  BOOST_REQUIRE(ran.size() == 1u);
  BOOST_TEST(ran[0].steps == 5u);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_before_the_first_step_ends_the_run,
                        simulated) {
  const auto job = this->job(1, 20);
  sut->open(job);
  sut->run({{job.ticket}, 20});
  timers->advance(1ms);
  sut->interrupt();
  timers->advance(2ms);
  BOOST_REQUIRE(ran.size() == 1u);
  BOOST_TEST(ran[0].steps == 0u);
  BOOST_CHECK(ran[0].first_step == core::never);
  sut->interrupt();
  sut->run({{job.ticket}, 20});
  timers->advance(200ms);
  BOOST_REQUIRE(ran.size() == 2u);
  BOOST_TEST(ran[1].steps == 20u);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_reaches_a_queued_run, simulated) {
  const auto first = job(1, 4);
  const auto second = job(2, 4);
  sut->open(first);
  sut->open(second);
  sut->decode(first.ticket);
  sut->run({{second.ticket}, 4});
  sut->interrupt();
  timers->advance(5ms);
  BOOST_TEST(decoded.size() == 1u);
  timers->advance(0ns);
  BOOST_REQUIRE(ran.size() == 1u);
  BOOST_TEST(ran[0].steps == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_crash_publishes_the_whole_steps_and_is_silent,
                        simulated) {
  auto often = job(1, 20);
  auto seldom = job(2, 20);
  seldom.publish_every = 3;
  sut->open(often);
  sut->open(seldom);
  sut->run({{often.ticket, seldom.ticket}, 20});
  sut->decode(often.ticket);
  timers->advance(6ms + 5 * 11ms + 10ms);
  sut->crash();
  BOOST_TEST(published(often.state) == 6u);
  BOOST_TEST(published(seldom.state) == 4u);
  sut->run({{often.ticket}, 1});
  sut->interrupt();
  sut->wake();
  drain();
  BOOST_TEST(ran.empty());
  BOOST_TEST(decoded.empty());
  BOOST_TEST(published(often.state) == 6u);
}

BOOST_FIXTURE_TEST_CASE(a_hanging_device_is_silent_until_it_wakes, simulated) {
  const auto job = this->job(1, 20);
  sut->open(job);
  sut->run({{job.ticket}, 20});
  timers->advance(3ms + 25ms);
  sut->hang();
  BOOST_TEST(published(job.state) == 3u);
  timers->advance(1h);
  sut->decode(job.ticket);
  BOOST_TEST(ran.empty());
  sut->interrupt();
  sut->wake();
  timers->advance(5ms);
  BOOST_REQUIRE(ran.size() == 1u);
  BOOST_TEST(ran[0].steps == 3u);
  BOOST_TEST(published(job.state) == 4u);
  timers->advance(5ms);
  BOOST_TEST(decoded.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_hanging_device_can_be_killed, simulated) {
  const auto job = this->job(1, 20);
  sut->open(job);
  sut->run({{job.ticket}, 20});
  timers->advance(3ms + 25ms);
  sut->hang();
  timers->advance(1h);
  sut->crash();
  drain();
  BOOST_TEST(ran.empty());
  BOOST_TEST(published(job.state) == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_scripted_step_fails_its_row_alone, simulated) {
  const auto good = job(1, 10);
  const auto bad = job(2, 10);
  sut->open(good);
  sut->open(bad);
  sut->fail_step(bad.ticket, 3, {core::ec::unavailable, "smoke"});
  sut->run({{good.ticket, bad.ticket}, 10});
  drain();
  BOOST_TEST(ran[0].steps == 10u);
  BOOST_TEST(ran[0].rows[0].steps_done == 10u);
  BOOST_TEST(ran[0].rows[1].steps_done == 3u);
  BOOST_TEST(ran[0].rows[1].failure.text == "smoke");
  BOOST_TEST(published(bad.state) == 4u);
}

BOOST_FIXTURE_TEST_CASE(a_run_ends_when_its_last_row_fails, simulated) {
  const auto job = this->job(1, 10);
  sut->open(job);
  sut->fail_step(job.ticket, 3, {core::ec::unavailable, "smoke"});
  sut->run({{job.ticket}, 10});
  timers->advance(3ms + 40ms);
  BOOST_REQUIRE(ran.size() == 1u);
  BOOST_TEST(ran[0].rows[0].failure.text == "smoke");
}

BOOST_FIXTURE_TEST_CASE(a_row_that_cannot_be_opened_costs_no_time, simulated) {
  auto job = this->job(1, 10);
  job.from.generation = 99;
  sut->open(job);
  sut->run({{job.ticket, {core::request_id{9}, 1}}, 10});
  sut->decode(job.ticket);
  timers->advance(0ns);
  BOOST_REQUIRE(ran.size() == 1u);
  BOOST_CHECK(ran[0].rows[0].failure.code == core::ec::incompatible);
  BOOST_CHECK(ran[0].rows[1].failure.code == core::ec::not_found);
  BOOST_CHECK(decoded.at(0).failure.code == core::ec::incompatible);
}

BOOST_FIXTURE_TEST_CASE(reports_may_give_the_next_job, simulated) {
  const auto job = this->job(1, 6);
  sut->connect({[&](run_report x) {
                  if (x.rows[0].steps_done < 6)
                    sut->run({{job.ticket}, 1});
                  else
                    sut->decode(job.ticket);
                },
                [this](decode_report x) { decoded.push_back(x); }});
  sut->open(job);
  sut->run({{job.ticket}, 1});
  drain();
  BOOST_TEST(decoded.size() == 1u);
  BOOST_CHECK(image(job) == expected(job));
}

BOOST_FIXTURE_TEST_CASE(timers_may_outlive_the_executor, simulated) {
  const auto job = this->job(1, 6);
  sut->open(job);
  sut->run({{job.ticket}, 6});
  sut.reset();
  drain();
  BOOST_TEST(ran.empty());
  BOOST_TEST(published(job.state) == 0u);
}

BOOST_AUTO_TEST_CASE(steps_of_edits_take_time_by_their_masked_shares) {
  simulated x;
  auto known = *x.known;
  // Each of ten blocks takes 40000 operations for any mask, and 600000 times
  // the mask's share.
  planning::masked_profile m;
  m.variant = core::variant_id{0};
  m.blocks = 10;
  m.tokens = 100;
  m.width = 10;
  m.compute_slope = 1e-9;
  known.masked.push_back(m);
  virtual_config config;
  config.known = std::make_shared<const planning::profile>(known);
  config.masked = [](core::request_id id) {
    return id.value == 1 ? 0.5 : id.value == 2 ? 0.1 : 1.0;
  };
  x.sut = std::make_unique<virtual_executor>(config, x.timers, x.slots);
  x.sut->connect({[&](run_report r) { x.ran.push_back(std::move(r)); }, {}});
  std::vector<core::ticket> rows;
  for (uint64_t id = 1; id <= 4; ++id) {
    const auto job = x.image_job(id, 20, 1, true);
    x.sut->open(job);
    rows.push_back(job.ticket);
  }
  const auto step = [&](std::vector<core::ticket> of) {
    x.sut->run({std::move(of), 1});
    x.drain();
    return core::to_ms(x.ran.back().took - x.ran.back().opening);
  };
  const auto tolerance = boost::test_tools::tolerance(1e-6);
  BOOST_TEST(step({rows[0]}) == 3.4, tolerance);
  BOOST_TEST(step({rows[0], rows[1]}) == 4.4, tolerance);
  BOOST_TEST(step({rows[0], rows[2]}) == 9.8, tolerance);
  // If no row has a mask, the step takes the measured time.
  BOOST_TEST(step({rows[2], rows[3]}) == 11.0, tolerance);
  // The same holds without the section.
  config.known = x.known;
  x.sut = std::make_unique<virtual_executor>(config, x.timers, x.slots);
  x.sut->connect({[&](run_report r) { x.ran.push_back(std::move(r)); }, {}});
  const auto job = x.image_job(1, 20, 1, true);
  x.sut->open(job);
  BOOST_TEST(step({job.ticket}) == 10.0, tolerance);
}

BOOST_AUTO_TEST_CASE(levels_of_a_model_are_loaded_once) {
  simulated x;
  auto known = *x.known;
  // These are one level of the resident model, and two of another one.
  for (const char* model : {"card", "other", "other"}) {
    auto& v = known.variants.emplace_back(x.known->variants.front());
    v.model = model;
    v.load = 3s;
  }
  virtual_config config;
  config.known = std::make_shared<const planning::profile>(known);
  config.resident = {core::variant_id{0}};
  x.sut = std::make_unique<virtual_executor>(config, x.timers, x.slots);
  size_t loaded = 0;
  x.sut->connect({{}, {}, [&](const load_report&) { ++loaded; }});
  const auto load = [&](std::vector<core::variant_id> variants) {
    const auto begin = x.timers->now();
    x.sut->load(variants, {});
    x.drain();
    return x.timers->now() - begin;
  };
  constexpr core::variant_id own{0}, level{1}, other{2}, of_other{3};
  BOOST_CHECK(load({own, level}) == 0s);
  BOOST_CHECK(load({other, of_other}) == 3s);
  BOOST_TEST(loaded == 1u);
  BOOST_CHECK(load({of_other}) == 0s);
  BOOST_CHECK(load({level, of_other}) == 3s);
}

BOOST_AUTO_TEST_CASE(noise_spreads_times_and_is_repeatable) {
  const auto times = [](double noise, uint64_t seed) {
    simulated x{false, noise, seed};
    std::vector<core::timespan> took;
    for (auto id = 1u; id <= 100; ++id) {
      const auto job = x.job(id, 10);
      x.sut->open(job);
      x.sut->run({{job.ticket}, 10});
      x.drain();
      took.push_back(x.ran.back().took);
    }
    return took;
  };
  const auto one = times(0.1, 1);
  BOOST_CHECK(one == times(0.1, 1));
  BOOST_CHECK(one != times(0.1, 2));
  auto sum = core::timespan{0};
  for (const auto t : one) {
    BOOST_CHECK(t > 60ms && t < 160ms);
    sum += t;
  }
  BOOST_CHECK(sum / 100 > 98ms && sum / 100 < 109ms);
  for (const auto t : times(0, 1))
    BOOST_CHECK(t == 103ms);
}

BOOST_AUTO_TEST_SUITE_END()
