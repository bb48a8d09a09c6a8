// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/forecast.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::phase;

constexpr core::variant_id light{0};
constexpr core::variant_id heavy{1};

std::shared_ptr<const planning::profile> known() {
  planning::profile p;
  p.prepare = 5ms;
  p.finish = 30ms;
  for (const auto step : {100ms, 400ms}) {
    planning::variant_profile v;
    v.name = "any";
    v.steps = 10;
    v.text = 10ms;
    v.decode = 20ms;
    v.step = {{1, 512 * 512, step, 0}};
    p.variants.push_back(v);
  }
  return std::make_shared<const planning::profile>(p);
}

struct rig {
  actors::forecast sut{known()};
  core::request request;
  core::recipe how;
  planning::worker_view worker;
  core::time_point now{1h};

  rig() {
    how.px = {512, 512};
    how.guidance = 7.5f;
    worker.worker = core::worker_id{1};
    worker.device_kind = "cpu";
    worker.hosting = {light};
    sut.came("cpu");
  }

  actors::work_left left(phase at, uint32_t steps) const {
    return {request, how, at, steps};
  }

  void see() {
    planning::cluster_view there;
    there.workers = {worker};
    sut.see(there);
  }

  void run(core::timespan took, bool whole = true, bool slow = false) {
    sut.ran(
      {worker, {how.variant}, how.variant, how.px, 1, 1, took, whole, slow},
      now);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(forecast_test, rig)

BOOST_AUTO_TEST_CASE(a_request_needs_what_is_before_it) {
  BOOST_TEST((sut.least(left(phase::preparing, 10)) == 1065ms));
  BOOST_TEST((sut.least(left(phase::denoising, 10)) == 1060ms));
  BOOST_TEST((sut.least(left(phase::denoising, 3)) == 360ms));
  BOOST_TEST((sut.least(left(phase::finishing, 0)) == 30ms));
  BOOST_TEST((sut.at(left(phase::denoising, 10), worker) == 1060ms));
}

BOOST_AUTO_TEST_CASE(sizes_sources_and_guidance_count) {
  auto with_encoder = *known();
  with_encoder.variants[0].encode = 8ms;
  const actors::forecast knows{
    std::make_shared<const planning::profile>(with_encoder)};
  const auto needs = [&] { return knows.least(left(phase::denoising, 10)); };
  // Ten steps, the text, the image and its file.
  BOOST_TEST((needs() == 1060ms));
  how.from_image = true;
  BOOST_TEST((needs() == 1068ms));
  how.px = {1024, 512};
  BOOST_TEST((needs() == 2096ms));
  how.from_image = false;
  BOOST_TEST((needs() == 2080ms));
  how.px = {512, 512};
  how.guidance = 1;
  BOOST_TEST((needs() == 560ms));
  BOOST_TEST(knows.rows_of(how) == 0.5);
}

BOOST_AUTO_TEST_CASE(unguided_rows_tell_the_pace_of_guided_ones) {
  const auto before = sut.least(left(phase::denoising, 10));
  for (int i = 0; i < 9; ++i)
    sut.ran(
      {worker, {light, light}, light, how.px, 2, 1, 100ms, true, false, 1},
      now);
  BOOST_TEST((sut.least(left(phase::denoising, 10)) == before));
}

BOOST_AUTO_TEST_CASE(a_living_worker_gives_a_sign_after_each_phase) {
  worker.max_batch = 1;
  BOOST_TEST((sut.silence(left(phase::preparing, 10), worker, 2) == 5ms));
  BOOST_TEST((sut.silence(left(phase::denoising, 10), worker, 2) == 230ms));
  BOOST_TEST((sut.silence(left(phase::finishing, 0), worker, 2) == 30ms));
}

BOOST_AUTO_TEST_CASE(work_counts_from_its_begin_to_its_end) {
  see();
  constexpr core::request_id one{1};
  constexpr core::request_id two{2};
  sut.count(one, how, 10);
  BOOST_TEST((sut.work_of(one) == 1030ms));
  sut.count(two, how, 5);
  BOOST_TEST((sut.work() == sut.work_of(one) + sut.work_of(two)));
  sut.count(one, how, 5);
  BOOST_TEST((sut.work_of(one) == sut.work_of(two)));
  sut.uncount(two);
  sut.uncount(two);
  BOOST_TEST((sut.work() == sut.work_of(one)));
  sut.uncount(one);
  BOOST_TEST((sut.work() == 0ms));
}

BOOST_AUTO_TEST_CASE(a_queue_is_too_long_only_where_its_pace_is_known) {
  see();
  sut.count(core::request_id{1}, how, 10);
  BOOST_TEST(!sut.wait_beyond(light, 1s).has_value());
  run(100ms);
  BOOST_TEST(sut.knows_pace(light));
  BOOST_TEST(!sut.knows_pace(heavy));
  BOOST_TEST((sut.wait_beyond(light, 1s) == core::timespan{1030ms}));
  BOOST_TEST(!sut.wait_beyond(light, 2s).has_value());
  // No worker hosts it.
  BOOST_TEST(!sut.wait_beyond(heavy, 0s).has_value());
}

BOOST_AUTO_TEST_CASE(predictions_follow_the_measured_pace) {
  const auto before = sut.least(left(phase::denoising, 10));
  for (int i = 0; i < 50; ++i)
    run(200ms);
  BOOST_TEST((sut.least(left(phase::denoising, 10)) > before * 3 / 2));
}

BOOST_AUTO_TEST_CASE(costs_are_news_once_and_change_the_profile) {
  const auto before = sut.profile();
  for (int i = 0; i < 5; ++i)
    run(200ms);
  BOOST_TEST(sut.cost_news().has_value());
  BOOST_TEST(!sut.cost_news().has_value());
  BOOST_TEST((sut.profile() != before));
  BOOST_TEST((before->variants[0].step[0].took == 100ms));
  BOOST_TEST((sut.profile()->variants[0].step[0].took == 200ms));
}

BOOST_AUTO_TEST_CASE(a_batch_of_two_variants_corrects_both) {
  auto two = *known();
  two.variants.push_back(two.variants[0]);
  two.variants.push_back(two.variants[0]);
  const core::variant_id longer{static_cast<uint32_t>(two.variants.size() - 2)};
  const core::variant_id third{longer.value + 1};
  two.variants[longer.value].step[0].took = 140ms;
  actors::forecast sure{std::make_shared<const planning::profile>(two)};
  sure.came("cpu");
  const auto needs = [&](core::variant_id v) {
    auto recipe = how;
    recipe.variant = v;
    return sure.least({request, recipe, phase::denoising, 10});
  };
  const auto of_light = needs(light);
  const auto of_longer = needs(longer);
  const auto of_third = needs(third);
  // The profile says 2 * 100 ms and 2 * 140 ms for batches of one variant.
  const auto run = [&](core::timespan took) {
    sure.ran({worker, {light, longer}, light, how.px, 2, 1, took, true, false},
             now);
  };
  for (int i = 0; i < 5; ++i)
    run(240ms);
  BOOST_TEST((needs(light) == of_light));
  BOOST_TEST((needs(longer) == of_longer));
  BOOST_TEST(sure.knows_pace(longer));
  BOOST_TEST(!sure.knows_pace(third));
  for (int i = 0; i < 40; ++i)
    run(480ms);
  BOOST_TEST((needs(light) > of_light * 3 / 2));
  BOOST_TEST((needs(longer) > of_longer * 3 / 2));
  BOOST_TEST((needs(third) == of_third));
  BOOST_TEST_REQUIRE(sure.cost_news().has_value());
  BOOST_TEST((sure.profile()->variants[0].step[0].took == 200ms));
  BOOST_TEST((sure.profile()->variants[longer.value].step[0].took == 280ms));
}

BOOST_AUTO_TEST_CASE(a_batch_that_was_profiled_wrong_is_corrected_alone) {
  auto two = *known();
  two.variants[0].step.push_back({2, 512 * 512, 300ms, 0});
  actors::forecast sure{std::make_shared<const planning::profile>(two)};
  for (int i = 0; i < 5; ++i) {
    sure.ran({worker, {light}, light, how.px, 1, 1, 100ms, true, false}, now);
    sure.ran({worker, {light, light}, light, how.px, 2, 1, 150ms, true, false},
             now);
  }
  BOOST_TEST(sure.cost_news().has_value());
  const auto& steps = sure.profile()->variants[0].step;
  BOOST_TEST((steps[0].took == 100ms));
  BOOST_TEST((steps[1].took == 150ms));
}

BOOST_AUTO_TEST_CASE(masked_steps_and_slow_workers_tell_no_costs) {
  for (int i = 0; i < 5; ++i) {
    run(200ms, false);
    run(900ms, true, true);
  }
  BOOST_TEST(!sut.cost_news().has_value());
}

BOOST_AUTO_TEST_CASE(what_comes_back_waits_for_a_tenth_of_the_work) {
  BOOST_TEST((sut.come_back(100, 0s) == 1s));
  BOOST_TEST((sut.come_back(100, 7s) == 7s));
  see();
  run(100ms);
  for (uint64_t i = 1; i <= 100; ++i)
    sut.count(core::request_id{i}, how, 10);
  const auto wait = sut.come_back(100, 0s);
  BOOST_TEST((wait > 10s));
  BOOST_TEST((wait < 11s));
}

BOOST_AUTO_TEST_CASE(without_measured_work_the_pace_of_answers_counts) {
  for (int i = 0; i < 200; ++i)
    sut.answered(now += 1s);
  const auto wait = sut.come_back(100, 0s);
  BOOST_TEST((wait > 9s));
  BOOST_TEST((wait <= 10s));
}

BOOST_AUTO_TEST_CASE(finishing_follows_what_it_took) {
  BOOST_TEST((sut.finishing() == 0ms));
  sut.finished(160ms);
  BOOST_TEST((sut.finishing() == 10ms));
}

BOOST_AUTO_TEST_CASE(kinds_of_devices_count_once_each) {
  BOOST_TEST(!sut.several_kinds());
  sut.came("cpu");
  BOOST_TEST(!sut.several_kinds());
  sut.came("cuda");
  BOOST_TEST(sut.several_kinds());
}

namespace {

planning::plan through(core::variant_id variant) {
  planning::plan out;
  planning::route only;
  only.legs.emplace_back().any_of = {variant};
  out.routes = {only};
  return out;
}

actors::forecast with_guessed_heavy() {
  auto p = *known();
  p.variants[heavy.value].guessed = true;
  return actors::forecast{std::make_shared<const planning::profile>(p)};
}

} // namespace

BOOST_AUTO_TEST_CASE(only_a_guess_of_its_routes_costs_makes_a_plan_a_guess) {
  const auto other = with_guessed_heavy();
  BOOST_TEST(!sut.guesses(through(heavy), {}));
  BOOST_TEST(!other.guesses(through(light), {}));
  BOOST_TEST(other.guesses(through(heavy), {}));
}

BOOST_AUTO_TEST_CASE(a_plan_made_with_measured_costs_is_no_guess) {
  sut = with_guessed_heavy();
  how.variant = heavy;
  worker.hosting = {heavy};
  see();
  const planning::cluster_view there{.workers = {worker}};
  const auto plan = through(heavy);
  sut.follow(plan, there);
  for (int i = 0; i < 20; ++i)
    run(600ms);
  BOOST_TEST_REQUIRE(sut.cost_news().has_value());
  // The rates of the old plan were made with the guess.
  BOOST_TEST(sut.guesses(plan, there));
  sut.follow(plan, there);
  BOOST_TEST(!sut.guesses(plan, there));
}

BOOST_AUTO_TEST_SUITE_END()
