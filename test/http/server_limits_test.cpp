// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/metrics.hpp>

#include <boost/test/unit_test.hpp>
#include <http/server_rig.hpp>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;

bool has_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(server_limits_test, server_rig)

BOOST_AUTO_TEST_CASE(invented_methods_leave_no_series_of_their_own) {
  runtime::http::metrics counted;
  with.done = [&](const auto& method, const auto& pattern, unsigned status,
                  double seconds) {
    counted.count_exchange(method, pattern, status, seconds);
  };
  start();
  auto c = client();
  for (int i = 0; i < 1000; ++i) {
    const auto method = "M" + std::to_string(i) + std::string(100, 'A');
    BOOST_REQUIRE(c.ask(request(method, "/hello")).status == 405u);
  }
  BOOST_TEST(c.ask(request("GET", "/hello")).status == 200u);
  BOOST_TEST(server->stop(30s));
  const auto text = counted.exposition({});
  size_t series = 0;
  for (size_t at = 0; (at = text.find("\natelier_http_requests_total{", at))
                      != std::string::npos;
       ++at) {
    ++series;
    const auto begin = text.find("method=\"", at) + 8;
    BOOST_TEST(text.find('"', begin) - begin <= 16u);
  }
  BOOST_TEST(series >= 2u);
  BOOST_TEST(series < 100u);
  BOOST_TEST(has_part(text, "method=\"other\""));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
