// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/origin.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

BOOST_AUTO_TEST_SUITE(origin_test)

BOOST_AUTO_TEST_CASE(names_and_addresses_of_this_machine_are_known) {
  for (const auto* host :
       {"localhost", "LOCALHOST:7860", "localhost.", "a.localhost", "127.0.0.1",
        "127.0.0.1:80", "127.1.2.3:1", "[::1]", "[::1]:7860"})
    BOOST_TEST(is_loopback_host(host), host);
}

BOOST_AUTO_TEST_CASE(other_hosts_are_strangers) {
  for (const auto* host :
       {"", "evil.com", "localhost.evil.com", "evil.com:7860", "127.0.0.1.com",
        "128.0.0.1", "0.0.0.0", "[::2]", "[::1", "[::1]x", "localhost:x",
        "notlocalhost", "127.1", "localhost:123456", "localhost@evil.com",
        "2130706433"})
    BOOST_TEST(!is_loopback_host(host), host);
}

BOOST_AUTO_TEST_CASE(a_page_of_the_server_has_its_host) {
  BOOST_TEST(is_same_origin("http://localhost:7860", "localhost:7860"));
  BOOST_TEST(is_same_origin("https://Atelier.example", "atelier.example"));
  BOOST_TEST(!is_same_origin("http://localhost:7861", "localhost:7860"));
  BOOST_TEST(!is_same_origin("http://evil.com", "localhost"));
  BOOST_TEST(!is_same_origin("null", "null"));
  BOOST_TEST(!is_same_origin("null", "localhost"));
  BOOST_TEST(!is_same_origin("http://", ""));
}

BOOST_AUTO_TEST_CASE(methods_that_change_something_are_not_safe) {
  for (const auto* method : {"GET", "HEAD", "OPTIONS"})
    BOOST_TEST(is_safe_method(method));
  for (const auto* method : {"POST", "PUT", "DELETE", "PATCH", "get", ""})
    BOOST_TEST(!is_safe_method(method));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
