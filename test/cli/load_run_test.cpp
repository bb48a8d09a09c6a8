// SPDX-License-Identifier: Apache-2.0
#include "cli/fake_service.hpp"
#include <atelier/runtime/cli/load_report.hpp>
#include <atelier/runtime/cli/load_run.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using namespace runtime::cli;
using outcome = load_record::outcome;

// The time advances only by waiting, or when a test says so.
struct virtual_time {
  load_clock clock() {
    return {[this] { return now; },
            [this](core::time_point until, wakeup&) {
              if (waits)
                waits();
              now = std::max(now, until);
            }};
  }

  core::time_point now{1h};
  std::function<void()> waits;
};

std::vector<due_request> load_of(size_t count, core::timespan gap) {
  std::vector<due_request> all;
  for (size_t i = 0; i < count; ++i) {
    generation x;
    x.prompt = "a red circle";
    x.seed = i;
    all.push_back({static_cast<int64_t>(i) * gap, x});
  }
  return all;
}

struct rig {
  std::vector<load_record> run(const std::vector<due_request>& load,
                               core::timespan patience = 1min) {
    return run_load(load, service, patience, stop, time.clock(),
                    [this](size_t n) { sent = n; });
  }

  test::fake_service service;
  test::fake_interruption stop;
  virtual_time time;
  size_t sent = 0;
};

load_record record(outcome what, core::timespan due, core::timespan latency,
                   std::string code = {}) {
  load_record r;
  r.result = what;
  r.due = due;
  r.latency = latency;
  r.code = std::move(code);
  return r;
}

} // namespace

BOOST_AUTO_TEST_SUITE(load_run_test)

BOOST_FIXTURE_TEST_CASE(each_request_is_sent_when_it_is_due, rig) {
  std::vector<core::time_point> at;
  service.decide = [&](const generation& x) {
    at.push_back(time.now);
    return answer{test::fake_service::make_image(x)};
  };
  const auto begin = time.now;
  const auto got = run(load_of(3, 10ms));
  BOOST_REQUIRE(got.size() == 3u);
  BOOST_TEST(sent == 3u);
  for (size_t i = 0; i < 3; ++i) {
    BOOST_TEST((at[i] == begin + static_cast<int64_t>(i) * 10ms));
    BOOST_TEST((got[i].result == outcome::answered));
    BOOST_TEST(got[i].latency.count() == 0);
  }
}

BOOST_FIXTURE_TEST_CASE(requests_go_out_though_none_is_answered, rig) {
  service.at_once = false;
  // All requests are answered once the last one is sent.
  time.waits = [this] {
    while (sent == 4 && !service.waiting.empty())
      service.answer_one();
  };
  const auto got = run(load_of(4, 10ms));
  BOOST_TEST(service.most_waiting == 4u);
  BOOST_REQUIRE(got.size() == 4u);
  BOOST_TEST((got[0].latency == 30ms));
  BOOST_TEST((got[3].latency == 0ms));
}

BOOST_FIXTURE_TEST_CASE(a_late_generator_cannot_hide_the_delay, rig) {
  // Submitting the first request takes 100 ms, so all others are late by that
  // time.
  service.refuse = [this](const generation& x, size_t) {
    if (*x.seed == 0)
      time.now += 100ms;
    return std::optional<failure>{};
  };
  const auto got = run(load_of(3, 10ms));
  BOOST_TEST((got[0].latency == 100ms));
  BOOST_TEST((got[1].lag == 90ms));
  BOOST_TEST((got[1].latency == 90ms));
  BOOST_TEST((got[2].latency == 80ms));
}

BOOST_FIXTURE_TEST_CASE(refusals_and_failures_are_told_apart, rig) {
  service.refuse = [](const generation& x, size_t) -> std::optional<failure> {
    if (*x.seed == 0)
      return failure{"overloaded", "full", 1s};
    return {};
  };
  service.decide = [](const generation& x) -> answer {
    if (*x.seed == 1)
      return failure{"deadline_missed", "late", {}};
    if (*x.seed == 2)
      return failure{"overloaded", "full, said a server", {}};
    return test::fake_service::make_image(x);
  };
  const auto got = run(load_of(4, 1ms));
  BOOST_TEST((got[0].result == outcome::refused));
  BOOST_TEST((got[1].result == outcome::failed));
  BOOST_TEST(got[1].code == "deadline_missed");
  BOOST_TEST((got[2].result == outcome::refused));
  BOOST_TEST((got[3].result == outcome::answered));
}

BOOST_FIXTURE_TEST_CASE(what_nobody_answers_is_taken_back, rig) {
  service.at_once = false;
  const auto got = run(load_of(2, 1ms), 5s);
  BOOST_TEST(service.cancelled.size() == 2u);
  BOOST_TEST((got[0].result == outcome::failed));
  BOOST_TEST(got[0].code == "cancelled");
}

BOOST_FIXTURE_TEST_CASE(after_a_wish_to_stop_nothing_is_sent, rig) {
  service.at_once = false;
  time.waits = [this] {
    if (sent == 2)
      stop.wish();
  };
  const auto got = run(load_of(10, 10ms));
  BOOST_TEST(got.size() == 2u);
  BOOST_TEST(service.handed_in.size() == 2u);
  BOOST_TEST(service.cancelled.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(load_report_test)

BOOST_AUTO_TEST_CASE(percentiles_are_values_that_were_there) {
  std::vector<core::timespan> values;
  for (int i = 100; i >= 1; --i)
    values.push_back(std::chrono::milliseconds{i});
  const auto p = percentiles_of(values);
  BOOST_TEST(p.p50 == 50.0);
  BOOST_TEST(p.p95 == 95.0);
  BOOST_TEST(p.p99 == 99.0);
  BOOST_TEST(p.max == 100.0);
  BOOST_TEST(p.mean == 50.5);
  const auto one = percentiles_of({7ms});
  BOOST_TEST(one.p50 == 7.0);
  BOOST_TEST(one.p99 == 7.0);
  BOOST_TEST(percentiles_of({}).max == 0.0);
}

BOOST_AUTO_TEST_CASE(what_was_not_answered_attained_nothing) {
  std::vector<load_record> all{
    record(outcome::answered, 0s, 1s), record(outcome::answered, 1s, 3s),
    record(outcome::refused, 2s, 0s, "overloaded"),
    record(outcome::failed, 3s, 1s, "deadline_missed")};
  all[1].deadline = 5s;
  const auto x = sum_up(all, 2s, {0, 4, 2});
  BOOST_TEST(x.requests == 4u);
  BOOST_TEST(x.with_objective == 4u);
  BOOST_TEST(x.attained == 2u);
  BOOST_TEST(x.deadline_misses == 1u);
  BOOST_TEST(x.reasons.at("overloaded") == 1u);
  BOOST_TEST(x.seconds == 4.0);
  BOOST_TEST(x.throughput == 0.5);
  BOOST_TEST(x.offered == 1.0);
  BOOST_TEST(mean_batch(x.batches) == 8.0 / 6);
}

BOOST_AUTO_TEST_CASE(each_request_has_a_line_of_its_own) {
  std::vector<load_record> all{
    record(outcome::answered, 0s, 1s), record(outcome::answered, 1s, 3s),
    record(outcome::refused, 2s, 0s, "overloaded"),
    record(outcome::failed, 3s, 1500ms, "deadline_missed")};
  all[1].lag = 2ms;
  BOOST_TEST(to_csv(all, 2s)
             == "due_ms,became,took_ms,queue_ms,sent_late_ms,code\n"
                "0.000,answered,1000.000,0.000,0.000,\n"
                "1000.000,late,3000.000,0.000,2.000,\n"
                "2000.000,refused,0.000,0.000,0.000,overloaded\n"
                "3000.000,failed,1500.000,0.000,0.000,deadline_missed\n");
  // Its own deadline is earlier than the common objective.
  all[1].deadline = 5s;
  BOOST_TEST(to_csv(all, 2s).find("late,") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_an_objective_none_is_told) {
  const auto x = sum_up({record(outcome::answered, 0s, 1s)}, std::nullopt, {});
  BOOST_TEST(x.with_objective == 0u);
  BOOST_TEST(to_table(x).find("SLO") == std::string::npos);
  BOOST_TEST(mean_batch({}) == 0.0);
}

BOOST_AUTO_TEST_CASE(the_object_has_what_the_table_has) {
  const auto x = sum_up({record(outcome::answered, 0s, 250ms),
                         record(outcome::answered, 1s, 250ms)},
                        1s, {0, 3, 1});
  const auto got = nlohmann::json::parse(to_json(x, {{"seed", "7"}}));
  BOOST_TEST(got["answered"] == 2);
  BOOST_TEST(got["latency_ms"]["p95"] == 250);
  BOOST_TEST(got["slo"]["attained"] == 2);
  BOOST_TEST(got["batches"]["1"] == 3);
  BOOST_TEST(got["mean_batch"] == 1.25);
  BOOST_TEST(got["seed"] == "7");
  const auto table = to_table(x);
  BOOST_TEST(table.find("p95 250.0") != std::string::npos);
  BOOST_TEST(table.find("100.0 % attained (2 of 2)") != std::string::npos);
  BOOST_TEST(table.find("1  75.0 % ###") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
