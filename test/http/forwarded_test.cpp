// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/forwarded.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace atelier::runtime::http::detail {

namespace {

constexpr auto peer = "10.0.0.1";

std::vector<config::network> proxies() {
  return {*config::parse_network("10.0.0.0/24"),
          *config::parse_network("2001:db8::1")};
}

forwarded told(const fields& headers, std::string_view from = peer) {
  const auto x = read_forwarded(headers, from, proxies());
  BOOST_TEST_REQUIRE(x.operator bool());
  return *x;
}

std::string why_not(const fields& headers) {
  const auto x = read_forwarded(headers, peer, proxies());
  BOOST_TEST_REQUIRE(!x);
  return x.why().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(forwarded_test)

BOOST_AUTO_TEST_CASE(both_kinds_of_fields_are_read) {
  for (const auto& headers :
       {fields{{"x-forwarded-for", "192.0.2.7"},
               {"x-forwarded-proto", "HTTPS"},
               {"x-forwarded-host", "images.example:8443"}},
        fields{{"forwarded",
                "for=192.0.2.7;Proto=https; host=\"images.example:8443\""}}}) {
    const auto x = told(headers);
    BOOST_TEST(x.client == "192.0.2.7");
    BOOST_TEST(x.scheme == "https");
    BOOST_TEST(x.host == "images.example:8443");
  }
}

BOOST_AUTO_TEST_CASE(what_others_send_is_not_read) {
  const fields all{{"x-forwarded-for", "192.0.2.7"},
                   {"x-forwarded-proto", "ftp"},
                   {"forwarded", "nonsense"}};
  for (const auto* from : {"10.0.1.1", "192.0.2.7", "2001:db8::2", ""}) {
    const auto x = told(all, from);
    BOOST_TEST(x.client.empty());
    BOOST_TEST(x.scheme.empty());
    BOOST_TEST(x.host.empty());
  }
}

BOOST_AUTO_TEST_CASE(the_client_is_the_last_that_is_no_proxy) {
  const auto client = [](const char* chain) {
    return told({{"x-forwarded-for", chain}}).client;
  };
  BOOST_TEST(client("198.51.100.1, 192.0.2.7") == "192.0.2.7");
  BOOST_TEST(client("invented, 192.0.2.7, 10.0.0.2") == "192.0.2.7");
  BOOST_TEST(client("10.0.0.3,10.0.0.2") == "10.0.0.3");
  BOOST_TEST(client("192.0.2.7:4711") == "192.0.2.7");
  BOOST_TEST(client("unknown") == "unknown");
  BOOST_TEST(
    told({{"x-forwarded-for", "192.0.2.7"}, {"x-forwarded-for", "10.0.0.2"}})
      .client
    == "192.0.2.7");
  BOOST_TEST(told({{"forwarded", "for=\"[2001:db8::7]:4711\";proto=https, "
                                 "for=10.0.0.2;proto=http"}})
               .client
             == "2001:db8::7");
  BOOST_TEST(told({{"forwarded", "for=_hidden"}}).client == "_hidden");
}

BOOST_AUTO_TEST_CASE(the_scheme_is_that_of_the_client) {
  BOOST_TEST(told({{"forwarded", "for=192.0.2.7;proto=https, "
                                 "for=10.0.0.2;proto=http"}})
               .scheme
             == "https");
}

BOOST_AUTO_TEST_CASE(contradictions_and_nonsense_are_refused) {
  BOOST_TEST(
    why_not({{"x-forwarded-proto", "https"}, {"forwarded", "proto=http"}})
    == "forwarded and x-forwarded-* contradict each other");
  BOOST_TEST(why_not({{"x-forwarded-proto", "https, http"}})
             == "x-forwarded-proto: it has different values: 'https, http'");
  BOOST_TEST(why_not({{"x-forwarded-host", "a"}, {"x-forwarded-host", "b"}})
               .starts_with("x-forwarded-host: it has different values"));
  BOOST_TEST(why_not({{"x-forwarded-proto", "ftp"}})
             == "x-forwarded-proto: 'ftp' is neither http nor https");
  BOOST_TEST(why_not({{"x-forwarded-host", "a/b"}})
             == "x-forwarded-host: 'a/b' is not a host, perhaps with a port");
  BOOST_TEST(why_not({{"x-forwarded-for", "nobody"}})
             == "x-forwarded-for: 'nobody' is not an address");
  BOOST_TEST(why_not({{"forwarded", "nonsense"}})
             == "forwarded: 'nonsense' has no '='");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
