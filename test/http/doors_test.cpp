// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/connection/reply_text.hpp>
#include <atelier/runtime/http/doors.hpp>
#include <atelier/runtime/http/engine_images.hpp>
#include <atelier/runtime/http/housekeeper.hpp>
#include <atelier/runtime/http/metrics.hpp>

#include <boost/test/unit_test.hpp>
#include <http/still_images.hpp>
#include <support/eventually.hpp>
#include <support/series.hpp>

#include <atomic>
#include <stdexcept>

namespace atelier::runtime::http {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(doors_test)

BOOST_AUTO_TEST_CASE(all_doors_open_without_an_engine) {
  const auto images = std::make_shared<engine_images>();
  const auto condition = std::make_shared<health>(
    images, "1.2.3", [] { return core::time_point{}; });
  const config::settings settings;
  const auto made = doors::make({images, condition, settings});
  const auto found = made.routes->find("GET", "/health");
  BOOST_TEST_REQUIRE(found.found != nullptr);
  BOOST_TEST((found.found->needs == scope::anyone));
  for (const auto& chores : {made.chores, made.disk_chores})
    for (const auto& chore : chores)
      chore();
}

// docs/metrics.md states this bound. It counts every method with every route
// that has it and every status that has a name, which is more than happens.
BOOST_AUTO_TEST_CASE(series_of_metrics_are_bounded) {
  const auto images = std::make_shared<engine_images>();
  const auto condition = std::make_shared<health>(
    images, "1.2.3", [] { return core::time_point{}; });
  const auto made = doors::make({images, condition, config::settings{}});
  std::vector<unsigned> statuses;
  for (unsigned status = 200; status < 600; ++status) {
    reply_message reply;
    reply.status = status;
    if (detail::head_text(reply, {}, 0).find("Unknown") == std::string::npos)
      statuses.push_back(status);
  }
  BOOST_TEST(statuses.size() > 20u);
  const auto count = [&](const std::string& method,
                         const std::string& pattern) {
    for (const auto status : statuses)
      made.counted->count_exchange(method, pattern, status, 1);
  };
  for (const auto& to : made.routes->all()) {
    count(to.method, to.pattern);
    if (to.method == "GET")
      count("HEAD", to.pattern);
  }
  // What no route answers.
  for (const auto* const method : {"GET", "HEAD", "POST", "PUT", "DELETE",
                                   "OPTIONS", "PATCH", "BREW", "TRACE"})
    count(method, {});
  const auto series = test::series_of(made.counted->exposition({}));
  BOOST_TEST_MESSAGE(series << " series");
  BOOST_TEST(series < 7'000u);
}

BOOST_AUTO_TEST_CASE(without_an_engine_everything_is_refused) {
  engine_images sut;
  const auto x = sut.submit({}, {});
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(x));
  BOOST_TEST(std::get<failure>(x).code == "unavailable");
  // Clients may know why, and when to come back.
  const auto told = error_reply(error_shape::openai, std::get<failure>(x));
  BOOST_TEST(told.status == 503u);
  BOOST_TEST(told.body.find("the server is starting") != std::string::npos);
  BOOST_TEST_REQUIRE(!told.headers.empty());
  BOOST_TEST(told.headers.back().first == "Retry-After");
  BOOST_TEST(!sut.cancel(1));
  BOOST_TEST(sut.status().workers.empty());
  BOOST_TEST(sut.status().is_stale);
  BOOST_TEST(sut.variants().empty());
  BOOST_TEST(sut.stop(1s));
}

BOOST_AUTO_TEST_CASE(chores_are_done_again_and_again) {
  std::atomic<int> done = 0;
  {
    const housekeeper sut{{[] { throw std::runtime_error{"tired"}; },
                           [] { throw 7; }, [&] { ++done; }},
                          1ms};
    BOOST_TEST(test::eventually([&] { return done >= 3; }));
  }
  const int at_the_end = done;
  BOOST_TEST(done == at_the_end);
}

BOOST_AUTO_TEST_CASE(a_housekeeper_ends_at_once) {
  std::atomic<int> done = 0;
  const auto began = std::chrono::steady_clock::now();
  {
    const housekeeper sut{{[&] { ++done; }}, 1h};
    BOOST_TEST(test::eventually([&] { return done == 1; }));
  }
  BOOST_TEST((std::chrono::steady_clock::now() - began < 30s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
