// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include <atelier/runtime/cli/bench_plan.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using namespace runtime::cli;
using core::ec;

bench_arguments at_rate(const std::string& rate) {
  bench_arguments x;
  x.rate = rate;
  return x;
}

common_arguments with_card() {
  common_arguments x;
  x.set = {"devices[0].executor=test_card"};
  return x;
}

core::result<bench_plan> planned(const bench_arguments& x) {
  std::istringstream none;
  return plan_bench(x, with_card(), none);
}

std::string refused(const bench_arguments& x) {
  const auto got = planned(x);
  BOOST_REQUIRE(!got);
  BOOST_TEST((got.why().code == ec::invalid_argument));
  return got.why().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(bench_plan_test)

BOOST_AUTO_TEST_CASE(a_rate_draws_arrivals_of_a_minute) {
  const auto got = planned(at_rate("20"));
  if (!got)
    BOOST_FAIL(got.why().text);
  // The number is a Poisson count: 1200 with a spread of 35.
  BOOST_TEST(got->load.size() > 1000u);
  BOOST_TEST(got->load.size() < 1400u);
  BOOST_TEST(
    std::is_sorted(got->load.begin(), got->load.end(),
                   [](const auto& a, const auto& b) { return a.due < b.due; }));
  BOOST_TEST((got->load.back().due < 60s));
  BOOST_TEST(got->about.at("processes") == "split");
  BOOST_TEST((got->engine.caller_runs_actors == std::optional{false}));
}

BOOST_AUTO_TEST_CASE(the_same_seed_makes_the_same_load) {
  auto x = at_rate("50");
  x.requests = "100";
  x.mix = {"steps=2,4,8", "deadline_ms=100,none"};
  x.seed = "9";
  const auto one = planned(x);
  const auto two = planned(x);
  x.seed = "10";
  const auto other = planned(x);
  BOOST_REQUIRE((one && two && other));
  BOOST_REQUIRE(one->load.size() == 100u);
  bool differs = false;
  for (size_t i = 0; i < 100; ++i) {
    const auto& a = one->load[i];
    const auto& b = two->load[i];
    BOOST_TEST((a.due == b.due));
    BOOST_TEST(a.request.prompt == b.request.prompt);
    BOOST_TEST((a.request.seed == b.request.seed));
    BOOST_TEST((a.request.steps == b.request.steps));
    BOOST_TEST((a.request.deadline == b.request.deadline));
    differs = differs || a.due != other->load[i].due;
  }
  BOOST_TEST(differs);
}

BOOST_AUTO_TEST_CASE(a_trace_says_when_and_what) {
  test::scratch_folder folder;
  const auto path = (folder.path / "trace.csv").string();
  std::ofstream{path} << "0,1\n250,0\n1500,1\n";
  const auto prompts = (folder.path / "prompts.txt").string();
  std::ofstream{prompts} << "zero\none\n";
  bench_arguments x;
  x.trace = path;
  x.prompts_file = prompts;
  const auto got = planned(x);
  if (!got)
    BOOST_FAIL(got.why().text);
  BOOST_REQUIRE(got->load.size() == 3u);
  BOOST_TEST((got->load[1].due == 250ms));
  BOOST_TEST(got->load[0].request.prompt == "one");
  BOOST_TEST(got->load[1].request.prompt == "zero");
  BOOST_TEST(got->load[2].request.prompt == "one");
  std::ofstream{path} << "ms,steps\n0,1\n";
  BOOST_TEST(refused(x).find("the column 'steps' is only for 'simulate'")
             != std::string::npos);
  std::ofstream{path} << "0,1\n250,0\n1500,1\n";
  x.duration = "1";
  BOOST_TEST(planned(x)->load.size() == 2u);
  x.requests = "1";
  BOOST_TEST(planned(x)->load.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_file_of_records_is_not_replaced_unasked) {
  test::scratch_folder folder;
  auto x = at_rate("20");
  x.records = (folder.path / "records.csv").string();
  const auto fresh = planned(x);
  BOOST_REQUIRE(fresh);
  BOOST_TEST(*fresh->records == *x.records);
  std::ofstream{*x.records} << "mine";
  BOOST_TEST(refused(x).find("records.csv") != std::string::npos);
  x.force = true;
  BOOST_TEST(bool(planned(x)));
  x.records = (folder.path / "records.csv" / "below").string();
  BOOST_TEST(refused(x).find("below") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(batching_is_a_setting_of_the_engine) {
  auto x = at_rate("1");
  x.batching = "whole_batch";
  const auto got = planned(x);
  BOOST_REQUIRE(got);
  BOOST_TEST(std::count(got->engine.set.begin(), got->engine.set.end(),
                        "scheduler.batching=\"whole_batch\"")
             == 1);
  x.batching = "none";
  BOOST_TEST(refused(x).find("whole_batch") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(warm_up_comes_before_and_has_no_deadline) {
  auto x = at_rate("1");
  x.warm_up = "3";
  x.mix = {"deadline_ms=10"};
  const auto got = planned(x);
  BOOST_REQUIRE(got);
  BOOST_REQUIRE(got->warm_up.size() == 3u);
  BOOST_TEST(!got->warm_up[0].deadline.has_value());
  BOOST_TEST(got->load[0].request.deadline.has_value());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_told_before_anything_starts) {
  BOOST_TEST(refused(bench_arguments{}).find("--rate") != std::string::npos);
  auto two = at_rate("1");
  two.trace = "x";
  BOOST_TEST(refused(two).find("one of --trace") != std::string::npos);
  BOOST_TEST(refused(at_rate("0")).find("--rate: '0'") != std::string::npos);
  auto x = at_rate("1");
  x.requests = "0";
  BOOST_TEST(refused(x).find("--requests") != std::string::npos);
  x = at_rate("0.001");
  x.duration = "0.001";
  BOOST_TEST(refused(x).find("no request is due") != std::string::npos);
  x = at_rate("1");
  x.mix = {"variant=none-such@4"};
  std::istringstream none;
  const auto unknown = plan_bench(x, with_card(), none);
  BOOST_REQUIRE(!unknown);
  BOOST_TEST((unknown.why().code == ec::not_found));
  BOOST_TEST(unknown.why().text.find("--mix variant=none-such@4")
             != std::string::npos);
  x = at_rate("1");
  x.server = "http://127.0.0.1:1";
  x.batching = "step";
  BOOST_TEST(refused(x).find("--server") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
