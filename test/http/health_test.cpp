// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/health.hpp>

#include <boost/test/unit_test.hpp>
#include <http/still_images.hpp>
#include <nlohmann/json.hpp>

namespace atelier::runtime::http {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

struct rig {
  std::shared_ptr<test::still_images> images =
    std::make_shared<test::still_images>();
  core::time_point now{1h};
  health sut{images, "1.2.3", [this] { return now; }};

  json told(scope to, unsigned status) const {
    const auto x = sut.reply(to);
    BOOST_TEST(x.status == status);
    return json::parse(x.body);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(health_test, rig)

BOOST_AUTO_TEST_CASE(it_is_starting_until_told_otherwise) {
  BOOST_TEST(told(scope::anyone, 503)["status"] == "starting");
  images->now.workers = {{"cpu:0", {"test_card@20"}, true, 1}};
  sut.refresh();
  BOOST_TEST(told(scope::anyone, 503)["status"] == "starting");
  sut.enter(health::stage::running);
  BOOST_TEST(told(scope::anyone, 200)["status"] == "ok");
  sut.enter(health::stage::stopping);
  BOOST_TEST(told(scope::anyone, 503)["status"] == "stopping");
}

BOOST_AUTO_TEST_CASE(it_says_that_it_drains_and_for_how_long) {
  images->now.workers = {{"cpu:0", {"test_card@20"}, true, 1}};
  sut.refresh();
  sut.enter(health::stage::running);
  auto seen = told(scope::anyone, 200);
  BOOST_TEST(seen["draining"] == false);
  sut.drain(true);
  seen = told(scope::anyone, 503);
  BOOST_TEST(seen["status"] == "draining");
  BOOST_TEST(seen["draining"] == true);
  // The drain has no deadline.
  BOOST_TEST(!seen.contains("drain_left_s"));
  sut.drain(false);
  BOOST_TEST(!sut.draining());
  sut.end(now + 10s);
  now += 2500ms;
  seen = told(scope::anyone, 503);
  BOOST_TEST(seen["status"] == "draining");
  BOOST_TEST(seen["draining"] == true);
  BOOST_TEST(seen["drain_left_s"].get<double>() == 7.5);
  // The end of a server cannot be undone.
  sut.drain(false);
  BOOST_TEST(sut.draining());
  now += 1h;
  BOOST_TEST(told(scope::anyone, 503)["drain_left_s"].get<double>() == 0.0);
  sut.enter(health::stage::stopping);
  seen = told(scope::anyone, 503);
  BOOST_TEST(seen["status"] == "stopping");
  BOOST_TEST(seen["draining"] == true);
}

BOOST_AUTO_TEST_CASE(one_live_worker_is_enough) {
  sut.enter(health::stage::running);
  BOOST_TEST(told(scope::anyone, 503)["status"] == "degraded");
  images->now.workers = {{"cpu:0", {}, false, 0}, {"cpu:1", {}, true, 0}};
  BOOST_TEST(told(scope::anyone, 503)["status"] == "degraded");
  sut.refresh();
  BOOST_TEST(told(scope::anyone, 200)["status"] == "ok");
  // An engine that does not answer is not known to be alive.
  images->now.is_stale = true;
  sut.refresh();
  BOOST_TEST(told(scope::anyone, 503)["status"] == "degraded");
  images->now.is_stale = false;
  images->now.workers[1].alive = false;
  sut.refresh();
  BOOST_TEST(told(scope::anyone, 503)["status"] == "degraded");
}

BOOST_AUTO_TEST_CASE(a_part_that_is_down_is_named) {
  sut.enter(health::stage::running);
  images->now.workers = {{"cpu:1", {}, true, 0}};
  images->now.processes = {{"cpu", 1, 0, true, true},
                           {"cpu:0", 2, 1, true, false},
                           {"cpu:1", 3, 0, true, true}};
  sut.refresh();
  // One device draws, so requests are answered.
  const auto device = told(scope::anyone, 200);
  BOOST_TEST(device["status"] == "ok");
  BOOST_TEST(device["down"] == json::array({"cpu:0"}));
  images->now.processes[1].ready = true;
  images->now.processes[0].ready = false;
  sut.refresh();
  // No worker prepares or encodes.
  const auto pools = told(scope::anyone, 503);
  BOOST_TEST(pools["status"] == "degraded");
  BOOST_TEST(pools["down"] == json::array({"cpu"}));
  images->now.processes[0].ready = true;
  sut.refresh();
  BOOST_TEST(told(scope::anyone, 200)["down"] == json::array());
}

BOOST_AUTO_TEST_CASE(a_cache_whose_disk_is_left_out_is_named) {
  sut.enter(health::stage::running);
  images->now.workers = {{"cpu:0", {}, true, 0}};
  auto& cache = images->now.cache.emplace();
  const auto down = [&] {
    sut.refresh();
    return told(scope::anyone, 200)["down"];
  };
  BOOST_TEST(down() == json::array());
  cache.reads_left_out = true;
  BOOST_TEST(down() == json::array({"cache"}));
  cache.writes_left_out = true;
  cache.reads_left_out = false;
  BOOST_TEST(down() == json::array({"cache"}));
}

BOOST_AUTO_TEST_CASE(a_stage_that_requests_go_on_without_is_named) {
  images->now.workers = {{"cpu:0", {"base@50"}, true, 0}};
  images->now.stages = {{"classify", 3}, {"mask", 0}};
  sut.enter(health::stage::running);
  sut.refresh();
  BOOST_TEST(told(scope::user, 200)["stages_left_out"]
             == json({{"classify", 3}}));
  BOOST_TEST(!told(scope::anyone, 200).contains("stages_left_out"));
}

BOOST_AUTO_TEST_CASE(what_no_plan_meets_is_a_warning) {
  sut.enter(health::stage::running);
  images->now.workers = {{"cpu:0", {"base@50"}, true, 0}};
  sut.refresh();
  auto seen = told(scope::user, 200);
  BOOST_TEST(seen["feasible"] == true);
  BOOST_TEST(seen["infeasible"] == "");
  images->now.infeasible = "deadline_ms 40: one image takes 50 ms";
  sut.refresh();
  seen = told(scope::user, 200);
  BOOST_TEST(seen["status"] == "ok");
  BOOST_TEST(seen["down"] == json::array());
  BOOST_TEST(seen["feasible"] == false);
  BOOST_TEST(seen["infeasible"] == images->now.infeasible);
  // The explanation names routes, and thereby variants.
  const auto less = told(scope::anyone, 200);
  BOOST_TEST(less["feasible"] == false);
  BOOST_TEST(!less.contains("infeasible"));
}

BOOST_AUTO_TEST_CASE(strangers_are_told_less) {
  images->now.workers = {{"cpu:0", {"base@50"}, true, 2}};
  images->now.processes = {{"cpu", 42, 3, true, true}};
  images->now.waiting = 5;
  sut.enter(health::stage::running);
  sut.refresh();
  now += 90s;
  const auto less = told(scope::anyone, 200);
  BOOST_TEST(less["uptime_s"].get<double>() == 90.0);
  BOOST_TEST(less["version"] == "1.2.3");
  BOOST_TEST(less["waiting"] == 5);
  BOOST_TEST(less["workers"][0]["running"] == 2);
  BOOST_TEST(!less.contains("processes"));
  BOOST_TEST(!less["workers"][0].contains("variants"));
  const auto more = told(scope::user, 200);
  BOOST_TEST(more["processes"][0]["pid"] == 42);
  BOOST_TEST(more["workers"][0]["variants"][0] == "base@50");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
