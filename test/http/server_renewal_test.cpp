// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <http/server_rig.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace atelier::test {

using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(server_renewal_test, server_rig)

BOOST_AUTO_TEST_CASE(limits_and_origins_are_taken_over_while_it_runs) {
  start();
  auto c = client();
  const auto post = [&](size_t bytes) {
    return client()
      .ask(request("POST", "/echo", "Origin: https://a.example\r\n",
                   std::string(bytes, 'x')))
      .status;
  };
  BOOST_TEST(post(10) == 403u);
  BOOST_TEST(c.ask(request("POST", "/echo", {}, std::string(101, 'x'))).status
             == 200u);
  auto next = with.settings;
  next.origins = {"https://a.example"};
  next.body_bytes = 100;
  BOOST_TEST(static_cast<bool>(server->renew(next)));
  BOOST_TEST(post(10) == 200u);
  BOOST_TEST(post(101) == 413u);
  // The new limit also applies to an idle connection.
  BOOST_TEST(c.ask(request("POST", "/echo", {}, std::string(101, 'x'))).status
             == 413u);
}

BOOST_AUTO_TEST_CASE(a_request_under_way_keeps_what_it_began_with) {
  start();
  auto c = client();
  const auto whole = request("POST", "/echo", {}, std::string(101, 'x'));
  c.send(whole.substr(0, whole.size() - 50));
  BOOST_TEST(
    eventually([&] { return server->counts().body_bytes_held == 51u; }));
  auto next = with.settings;
  next.body_bytes = 100;
  BOOST_TEST(static_cast<bool>(server->renew(next)));
  BOOST_TEST(c.ask(whole.substr(whole.size() - 50)).status == 200u);
}

BOOST_AUTO_TEST_CASE(each_request_is_told_to_the_log) {
  std::mutex mutex;
  std::vector<std::string> heard;
  with.log = [&](const runtime::http::answered_request& x) {
    const std::lock_guard guard{mutex};
    heard.push_back(fmt::format("{} {} {} {} {}", x.client, x.method, x.path,
                                x.status, x.bytes > 0 && x.seconds >= 0));
  };
  start();
  auto c = client();
  BOOST_TEST(c.ask(request("GET", "/hello?key=secret")).status == 200u);
  BOOST_TEST(c.ask(request("POST", "/nothing")).status == 404u);
  auto gone = client();
  gone.send(request("GET", "/kept"));
  const auto x = kept.next();
  gone.reset();
  BOOST_TEST(eventually([&] {
    const std::lock_guard guard{mutex};
    return heard.size() == 3;
  }));
  const std::lock_guard guard{mutex};
  BOOST_TEST((heard
              == std::vector<std::string>{"127.0.0.1 GET /hello 200 true",
                                          "127.0.0.1 POST /nothing 404 true",
                                          "127.0.0.1 GET /kept 499 false"}));
}

BOOST_AUTO_TEST_CASE(a_reply_tells_how_long_it_took_from_its_image_on) {
  std::mutex mutex;
  std::vector<double> heard;
  with.responded = [&](double seconds) {
    const std::lock_guard guard{mutex};
    heard.push_back(seconds);
  };
  add("GET", "/ready", [](const auto& x) {
    runtime::http::reply_message m{200, "text/plain", {}, "there", {}};
    m.ready = x->asked().received;
    x->reply(std::move(m));
  });
  start();
  BOOST_TEST(ask(request("GET", "/hello")).status == 200u);
  BOOST_TEST(ask(request("GET", "/ready")).status == 200u);
  server->stop(30s);
  const std::lock_guard guard{mutex};
  BOOST_TEST_REQUIRE(heard.size() == 1u);
  BOOST_TEST(heard[0] >= 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
