// SPDX-License-Identifier: Apache-2.0
#include "support/fake_images.hpp"
#include <atelier/runtime/http/metered_images.hpp>
#include <atelier/runtime/http/metrics.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

namespace {

using namespace atelier;
using runtime::http::metered;
using runtime::http::metrics;
using runtime::http::metrics_snapshot;

bool has_line(const std::string& text, const std::string& line) {
  return ('\n' + text).find('\n' + line + '\n') != std::string::npos;
}

struct fixture {
  std::string text() const {
    return counted->exposition(now);
  }

  std::shared_ptr<test::fake_images> engine =
    std::make_shared<test::fake_images>();
  std::shared_ptr<metrics> counted = std::make_shared<metrics>();
  std::shared_ptr<runtime::http::image_service> sut = metered(engine, counted);
  metrics_snapshot now;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(metrics_test, fixture)

BOOST_AUTO_TEST_CASE(images_are_counted_by_variant_and_route) {
  int answers = 0;
  callbacks calls;
  calls.answered = [&](const answer&) { ++answers; };
  for (uint64_t i = 1; i <= 3; ++i) {
    BOOST_REQUIRE(std::get<uint64_t>(sut->submit({}, calls)) == i);
    auto p = engine->image_for(i);
    p.route = "plain";
    p.took.total = std::chrono::milliseconds{1500};
    p.took.denoise = std::chrono::seconds{1};
    p.steps_run = 10;
    engine->answer_with(i, p);
  }
  BOOST_TEST(answers == 3);
  const auto name = engine->known.front().name;
  const auto all = text();
  BOOST_TEST(has_line(all, "atelier_pictures_total{route=\"plain\",variant=\""
                             + name + "\"} 3"));
  BOOST_TEST(has_line(all, "atelier_request_seconds_bucket{variant=\"" + name
                             + "\",le=\"1\"} 0"));
  BOOST_TEST(has_line(all, "atelier_request_seconds_bucket{variant=\"" + name
                             + "\",le=\"2\"} 3"));
  BOOST_TEST(has_line(all, "atelier_step_seconds_bucket{variant=\"" + name
                             + "\",le=\"0.1\"} 3"));
  BOOST_TEST(has_line(
    all, "atelier_request_stage_seconds_count{stage=\"postprocess\"} 3"));
}

BOOST_AUTO_TEST_CASE(what_images_started_from_is_counted) {
  for (uint64_t i = 1; i <= 3; ++i) {
    BOOST_REQUIRE(std::get<uint64_t>(sut->submit({}, {})) == i);
    auto p = engine->image_for(i);
    if (i > 1)
      p.reused = {"latent", 12, 0.72, 5};
    engine->answer_with(i, p);
  }
  const auto all = text();
  BOOST_TEST(has_line(all, "atelier_reuse_total{kind=\"latent\"} 2"));
  BOOST_TEST(
    has_line(all, "atelier_reuse_saved_steps_total{kind=\"latent\"} 10"));
  BOOST_TEST(has_line(
    all, "atelier_reuse_similarity_bucket{kind=\"latent\",le=\"0.7\"} 0"));
  BOOST_TEST(has_line(
    all, "atelier_reuse_similarity_bucket{kind=\"latent\",le=\"0.75\"} 2"));
}

BOOST_AUTO_TEST_CASE(refusals_and_failures_are_counted_by_reason) {
  BOOST_REQUIRE(std::holds_alternative<uint64_t>(sut->submit({}, {})));
  engine->fail(1, "poison");
  engine->refuse_after = 1;
  engine->refusal = failure{"overloaded", "too much", {}};
  sut->submit({}, {});
  const auto all = text();
  BOOST_TEST(
    has_line(all, "atelier_request_failures_total{reason=\"poison\"} 1"));
  BOOST_TEST(
    has_line(all, "atelier_request_refusals_total{reason=\"overloaded\"} 1"));
}

BOOST_AUTO_TEST_CASE(the_engine_is_shown_as_it_is) {
  now.engine.answered = 5;
  now.engine.waiting = 2;
  now.engine.batches = {0, 7, 0, 3};
  now.engine.policy = "vanilla";
  now.engine.plan_version = 4;
  worker_status w;
  w.device = "cpu:0";
  w.variants = {"a@1", "b@2"};
  w.seats = 16;
  w.running = 3;
  now.engine.workers = {w};
  now.engine.processes = {{"cpu", 1, 2, true}};
  now.engine.blocked_handlers = {{"preprocess", 3}};
  now.engine.reports_dropped = 6;
  now.engine.figures = {{"orders_lost", 8}, {"runs_restarted", 10}};
  now.open_jobs = 9;
  runtime::http::server_counts served;
  served.open_streams = 11;
  counted->note(served);
  const auto all = text();
  for (const auto* const line :
       {"atelier_requests_total{outcome=\"answered\"} 5",
        "atelier_requests_waiting 2", "atelier_batch_steps_total{rows=\"3\"} 3",
        "atelier_plan_version{policy=\"vanilla\"} 4",
        "atelier_worker_seats_taken{device=\"cpu:0\"} 3",
        "atelier_worker_hosting{device=\"cpu:0\",variant=\"b@2\"} 1",
        "atelier_process_restarts_total{process=\"cpu\"} 2",
        "atelier_blocking_handlers_total{actor=\"preprocess\"} 3",
        "atelier_reports_dropped_total 6", "atelier_orders_lost_total 8",
        "atelier_runs_restarted_total 10", "atelier_jobs_open 9",
        "atelier_http_streams 11"})
    BOOST_TEST(has_line(all, line), line << " in\n" << all);
}

BOOST_AUTO_TEST_CASE(what_is_remembered_and_left_out_is_counted) {
  BOOST_TEST(has_line(text(), "atelier_cache_entries 0"));
  now.engine.stages = {{"classify", 3}, {"mask", 0}};
  cache_status c;
  c.entries = 2;
  c.bytes = 300;
  c.hits = 5;
  c.misses = 7;
  c.evicted = 11;
  c.torn = 13;
  c.evicted_payloads = 14;
  c.captured = 17;
  c.checked = 23;
  c.agreed = 19;
  c.failures = 29;
  c.pending = 3;
  c.overflowed = 21;
  c.spent = 31;
  c.encoded = 37;
  c.recalled = 41;
  c.encoded_images = 43;
  c.writes_left_out = true;
  c.predictor.said_hits = 43;
  c.predictor.said_misses = 47;
  c.predictor.checked = 53;
  c.predictor.samples = 50;
  c.predictor.precision = 0.75;
  c.predictor.trainings = 59;
  c.predictor.failures = 61;
  now.engine.cache = c;
  now.engine.figures = {{"cache_captures_without_slot", 41},
                        {"cache_compared", 67},
                        {"cache_visited", 71},
                        {"cache_index_builds", 73},
                        {"cache_failed_index_builds", 79}};
  const auto all = text();
  for (const auto* const line :
       {"atelier_stages_left_out_total{stage=\"classify\"} 3",
        "atelier_stages_left_out_total{stage=\"mask\"} 0",
        "atelier_cache_entries 2",
        "atelier_cache_bytes 300",
        "atelier_cache_searches_total{outcome=\"hit\"} 5",
        "atelier_cache_searches_total{outcome=\"miss\"} 7",
        "atelier_cache_evictions_total{reason=\"room\"} 11",
        "atelier_cache_evictions_total{reason=\"torn\"} 13",
        "atelier_cache_evictions_total{reason=\"answers\"} 31",
        "atelier_cache_payload_evictions_total 14",
        "atelier_cache_captures_total 17",
        "atelier_cache_captures_without_slot_total 41",
        "atelier_cache_checks_total{outcome=\"agreed\"} 19",
        "atelier_cache_checks_total{outcome=\"missed\"} 4",
        "atelier_cache_compared_total 67",
        "atelier_cache_visited_total 71",
        "atelier_cache_index_builds_total{outcome=\"built\"} 73",
        "atelier_cache_index_builds_total{outcome=\"failed\"} 79",
        "atelier_cache_failures_total 29",
        "atelier_cache_pending 3",
        "atelier_cache_overflows_total 21",
        "atelier_cache_left_out{operation=\"read\"} 0",
        "atelier_cache_left_out{operation=\"write\"} 1",
        "atelier_cache_encodings_total{outcome=\"encoded\"} 37",
        "atelier_cache_encodings_total{outcome=\"recalled\"} 41",
        "atelier_cache_image_encodings_total 43",
        "atelier_cache_predictions_total{predicted=\"hit\"} 43",
        "atelier_cache_predictions_total{predicted=\"miss\"} 47",
        "atelier_cache_predictions_checked_total 53",
        "atelier_cache_predictor_samples 50",
        "atelier_cache_predictor_precision 0.75",
        "atelier_cache_predictor_recall Nan",
        "atelier_cache_predictor_trainings_total{outcome=\"trained\"} 59",
        "atelier_cache_predictor_trainings_total{outcome=\"failed\"} 61"})
    BOOST_TEST(has_line(all, line), line << " in\n" << all);
}

BOOST_AUTO_TEST_CASE(the_doors_own_time_is_counted_by_part) {
  using door = runtime::http::metrics::door;
  counted->count_door(door::submit, 0.0003);
  counted->count_door(door::respond, 0.003);
  counted->count_door(door::respond, 0.003);
  const auto all = text();
  for (const auto* const line :
       {"atelier_http_door_seconds_bucket{part=\"submit\",le=\"0.0005\"} 1",
        "atelier_http_door_seconds_bucket{part=\"submit\",le=\"0.0002\"} 0",
        "atelier_http_door_seconds_count{part=\"respond\"} 2",
        "atelier_http_door_seconds_bucket{part=\"respond\",le=\"0.002\"} 0"})
    BOOST_TEST(has_line(all, line), line << " in\n" << all);
}

BOOST_AUTO_TEST_CASE(what_is_kept_is_shown_by_where_it_is) {
  now.kept = {2, 30, 400};
  const auto all = text();
  BOOST_TEST(has_line(all, "atelier_results_bytes{where=\"memory\"} 30"));
  BOOST_TEST(has_line(all, "atelier_results_bytes{where=\"disk\"} 400"));
}

BOOST_AUTO_TEST_CASE(labels_of_any_text_stay_one_line) {
  counted->count_exchange("GET", "/a\"b\\c\nd", 200, 0.01);
  BOOST_TEST(has_line(text(), "atelier_http_requests_total{method=\"GET\","
                              "route=\"/a\\\"b\\\\c\\nd\",status=\"200\"} 1"));
}

BOOST_AUTO_TEST_SUITE_END()
