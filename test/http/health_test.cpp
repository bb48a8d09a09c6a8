// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/health.hpp>

#include <boost/test/unit_test.hpp>
#include <http/still_pictures.hpp>
#include <nlohmann/json.hpp>

namespace atelier::runtime::http {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

struct rig {
  std::shared_ptr<test::still_pictures> pictures =
    std::make_shared<test::still_pictures>();
  core::time_point now{1h};
  health sut{pictures, "1.2.3", [this] { return now; }};

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
  pictures->now.workers = {{"cpu:0", {"test_card@20"}, true, 1}};
  sut.refresh();
  BOOST_TEST(told(scope::anyone, 503)["status"] == "starting");
  sut.enter(health::stage::running);
  BOOST_TEST(told(scope::anyone, 200)["status"] == "ok");
  sut.enter(health::stage::stopping);
  BOOST_TEST(told(scope::anyone, 503)["status"] == "stopping");
}

BOOST_AUTO_TEST_CASE(one_live_worker_is_enough) {
  sut.enter(health::stage::running);
  BOOST_TEST(told(scope::anyone, 503)["status"] == "degraded");
  pictures->now.workers = {{"cpu:0", {}, false, 0}, {"cpu:1", {}, true, 0}};
  BOOST_TEST(told(scope::anyone, 503)["status"] == "degraded");
  sut.refresh();
  BOOST_TEST(told(scope::anyone, 200)["status"] == "ok");
  pictures->now.workers[1].alive = false;
  sut.refresh();
  BOOST_TEST(told(scope::anyone, 503)["status"] == "degraded");
}

BOOST_AUTO_TEST_CASE(strangers_are_told_less) {
  pictures->now.workers = {{"cpu:0", {"base@50"}, true, 2}};
  pictures->now.processes = {{"cpu", 42, 3, true}};
  pictures->now.waiting = 5;
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
