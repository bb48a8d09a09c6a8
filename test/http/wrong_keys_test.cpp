// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/wrong_keys.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace atelier::runtime::http::detail {

namespace {

using namespace std::chrono_literals;

constexpr core::time_point start{1h};

void send(wrong_keys& to, const std::string& client, int n,
          core::time_point at = start) {
  for (int i = 0; i < n; ++i)
    to.count(client, at);
}

} // namespace

BOOST_AUTO_TEST_SUITE(wrong_keys_test)

BOOST_AUTO_TEST_CASE(who_sends_many_waits) {
  wrong_keys sut;
  send(sut, "192.0.2.7", 29);
  BOOST_TEST(sut.wait("192.0.2.7", start).count() == 0);
  send(sut, "192.0.2.7", 1);
  const auto wait = sut.wait("192.0.2.7", start);
  BOOST_TEST((wait > 0s && wait <= 2s + 1ns));
  BOOST_TEST(sut.wait("192.0.2.7", start + 2s).count() == 0);
  BOOST_TEST(sut.wait("192.0.2.8", start).count() == 0);
}

BOOST_AUTO_TEST_CASE(a_network_of_ipv6_is_one_client) {
  wrong_keys sut;
  send(sut, "2001:db8::1", 30);
  BOOST_TEST(sut.wait("2001:db8::2", start).count() > 0);
  BOOST_TEST(sut.wait("2001:db8:0:1::1", start).count() == 0);
  send(sut, "::ffff:192.0.2.7", 30);
  BOOST_TEST(sut.wait("192.0.2.7", start).count() > 0);
}

BOOST_AUTO_TEST_CASE(this_machine_does_not_wait) {
  wrong_keys sut;
  for (const auto* own : {"127.0.0.1", "::1", "::ffff:127.0.0.1"}) {
    send(sut, own, 100);
    BOOST_TEST(sut.wait(own, start).count() == 0, own);
  }
}

BOOST_AUTO_TEST_CASE(the_log_is_told_once_a_minute) {
  wrong_keys sut;
  BOOST_TEST((sut.count("192.0.2.7", start) == 1u));
  BOOST_TEST(!sut.count("192.0.2.7", start + 1s));
  BOOST_TEST(!sut.count("192.0.2.7", start + 59s));
  BOOST_TEST((sut.count("192.0.2.8", start + 59s) == 1u));
  BOOST_TEST((sut.count("192.0.2.7", start + 60s) == 3u));
}

BOOST_AUTO_TEST_CASE(the_client_of_longest_ago_is_forgotten) {
  wrong_keys sut;
  send(sut, "192.0.2.7", 30);
  for (size_t i = 1; i < wrong_keys::most_clients; ++i)
    sut.count("10.0." + std::to_string(i / 256) + '.' + std::to_string(i % 256),
              start + 1ms);
  BOOST_TEST(sut.wait("192.0.2.7", start).count() > 0);
  sut.count("10.1.0.0", start + 2ms);
  BOOST_TEST(sut.wait("192.0.2.7", start).count() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
