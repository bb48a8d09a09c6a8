// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/endpoint.hpp>
#include <atelier/config/network.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::config;

BOOST_AUTO_TEST_SUITE(endpoints)

BOOST_AUTO_TEST_CASE(host_and_port_are_read) {
  for (const auto& [text, host, port] :
       {std::tuple{"127.0.0.1:7860", "127.0.0.1", 7860},
        {"localhost:0", "localhost", 0},
        {"[::1]:65535", "::1", 65535},
        {"[::]:80", "::", 80}}) {
    const auto x = parse_endpoint(text);
    BOOST_REQUIRE_MESSAGE(x, text);
    BOOST_CHECK_EQUAL(x->host, host);
    BOOST_CHECK_EQUAL(x->port, port);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_endpoint_is_none) {
  for (const auto* const text :
       {"", ":", ":80", "localhost", "localhost:", "localhost:65536",
        "localhost:-1", "localhost:+1", "localhost: 1", "localhost:1 ",
        "::1:80", "[]:80", "[::1]", "[local]:80", "a/b:80", "a b:80",
        "http://a:80"})
    BOOST_CHECK_MESSAGE(!parse_endpoint(text), text);
  BOOST_CHECK(!parse_endpoint(std::string(254, 'a') + ":80"));
}

BOOST_AUTO_TEST_CASE(a_port_alone_listens_on_this_machine_only) {
  for (const auto& [text, host, port] : {std::tuple{"7861", "127.0.0.1", 7861},
                                         {":7861", "127.0.0.1", 7861},
                                         {":0", "127.0.0.1", 0},
                                         {"0.0.0.0:7861", "0.0.0.0", 7861},
                                         {"[::1]:7861", "::1", 7861}}) {
    const auto x = parse_listen(text);
    BOOST_REQUIRE_MESSAGE(x, text);
    BOOST_CHECK_EQUAL(x->host, host);
    BOOST_CHECK_EQUAL(x->port, port);
  }
  for (const auto* const text :
       {"", ":", "65536", ":65536", "::1:80", "::", "-1", "+1", "a", "7861:"})
    BOOST_CHECK_MESSAGE(!parse_listen(text), text);
}

BOOST_AUTO_TEST_CASE(origins_are_told_from_other_texts) {
  for (const auto* const text : {"http://localhost", "http://localhost:3000",
                                 "https://a.example", "https://[::1]:8443"})
    BOOST_CHECK_MESSAGE(is_origin(text), text);
  for (const auto* const text :
       {"", "*", "null", "localhost", "http://", "http://a/", "http://A",
        "ftp://a", "http://a:99999", "http://a b"})
    BOOST_CHECK_MESSAGE(!is_origin(text), text);
}

BOOST_AUTO_TEST_CASE(networks_are_read) {
  for (const auto* const text :
       {"127.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "192.0.2.7/32", "::1",
        "2001:db8::/32", "::/0", "fd00::1/128", "::ffff:192.0.2.7"})
    BOOST_CHECK_MESSAGE(parse_network(text), text);
  for (const auto* const text :
       {"", "/", "localhost", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1",
        "10.0.0.0/+8", "10.0.0.0/8x", "::/129", "10.0.0", "10.0.0.0/8/8",
        "[::1]", "127.0.0.1:80", "::ffff:10.0.0.0/8"})
    BOOST_CHECK_MESSAGE(!parse_network(text), text);
}

BOOST_AUTO_TEST_CASE(networks_contain_their_addresses) {
  const auto has = [](const char* outer, const char* inner) {
    return contains(*parse_network(outer), *parse_address(inner));
  };
  BOOST_CHECK(has("10.0.0.0/8", "10.255.1.2"));
  BOOST_CHECK(!has("10.0.0.0/8", "11.0.0.0"));
  BOOST_CHECK(has("192.0.2.128/25", "192.0.2.200"));
  BOOST_CHECK(!has("192.0.2.128/25", "192.0.2.127"));
  BOOST_CHECK(has("127.0.0.1", "::ffff:127.0.0.1"));
  BOOST_CHECK(!has("127.0.0.1", "127.0.0.2"));
  BOOST_CHECK(has("0.0.0.0/0", "1.2.3.4"));
  BOOST_CHECK(!has("0.0.0.0/0", "::1"));
  BOOST_CHECK(has("::/0", "1.2.3.4"));
  BOOST_CHECK(has("2001:db8::/33", "2001:db8:7fff::1"));
  BOOST_CHECK(!has("2001:db8::/33", "2001:db8:8000::1"));
}

BOOST_AUTO_TEST_SUITE_END()
