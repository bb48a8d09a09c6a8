// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>
#include <http/server_rig.hpp>

namespace atelier::test {

namespace {

using runtime::http::access;
using runtime::http::scope;

struct rights_rig : server_rig {
  rights_rig() {
    add(
      "GET", "/open", [](const auto& x) { x->reply({}); }, scope::anyone);
    add(
      "POST", "/admin",
      [](const auto& x) {
        x->reply({200, "text/plain", {}, x->asked().key});
      },
      scope::admin);
  }

  void lock() {
    with.callers =
      std::make_shared<access>(std::vector<runtime::http::access_key>{
        {"ann", core::sha256_hex("apple"), scope::user, 2},
        {"bob", core::sha256_hex("banana"), scope::admin, 0}});
  }

  unsigned status(std::string_view method, std::string_view target,
                  std::string_view more = {}) {
    return ask(request(method, target, more)).status;
  }
};

constexpr auto ann = "Authorization: Bearer apple\r\n";
constexpr auto bob = "X-API-Key: banana\r\n";

} // namespace

BOOST_FIXTURE_TEST_SUITE(server_rights_test, rights_rig)

BOOST_AUTO_TEST_CASE(keys_open_what_they_may) {
  lock();
  start();
  BOOST_TEST(status("GET", "/open") == 200u);
  const auto no_key = ask(request("GET", "/hello"));
  BOOST_TEST(no_key.status == 401u);
  BOOST_TEST(no_key.field("www-authenticate") == "Bearer realm=\"atelier\"");
  BOOST_TEST((no_key.body.find("authentication_error") != std::string::npos));
  BOOST_TEST(status("GET", "/hello", "X-API-Key: wrong\r\n") == 401u);
  BOOST_TEST(status("POST", "/admin", ann) == 403u);
  const auto x = ask(request("POST", "/admin", bob));
  BOOST_TEST(x.status == 200u);
  BOOST_TEST(x.body == "bob");
}

BOOST_AUTO_TEST_CASE(a_key_that_asks_too_often_is_told_when_to_come_back) {
  lock();
  start();
  BOOST_TEST(status("GET", "/hello", ann) == 200u);
  BOOST_TEST(status("GET", "/hello", ann) == 200u);
  const auto x = ask(request("GET", "/hello", ann));
  BOOST_TEST(x.status == 429u);
  const auto seconds = std::stoi("0" + x.field("retry-after"));
  BOOST_TEST(seconds >= 1);
  BOOST_TEST(seconds <= 30);
  BOOST_TEST(status("GET", "/hello", bob) == 200u);
}

BOOST_AUTO_TEST_CASE(a_body_is_not_read_for_a_stranger) {
  lock();
  start();
  auto c = client();
  c.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n");
  BOOST_TEST(c.hear().status == 401u);
}

BOOST_AUTO_TEST_CASE(without_keys_other_hosts_names_are_refused) {
  start();
  for (const auto* host : {"evil.com", "evil.com:7860", "localhost.evil.com",
                           "192.168.0.1", "[::2]"})
    BOOST_TEST(status("GET", "/hello", "Host: " + std::string{host} + "\r\n")
                 == 403u,
               host);
  for (const auto* host : {"localhost", "127.0.0.1:7860", "[::1]:1"})
    BOOST_TEST(status("GET", "/hello", "Host: " + std::string{host} + "\r\n")
                 == 200u,
               host);
  BOOST_TEST(status("GET", "/hello", "Host: \r\n") == 400u);
  BOOST_TEST(
    ask("GET http://evil.com/hello HTTP/1.1\r\nHost: evil.com\r\n\r\n").status
    == 403u);
  BOOST_TEST(
    ask("GET http://localhost/hello HTTP/1.1\r\nHost: evil.com\r\n\r\n").status
    == 400u);
  BOOST_TEST(
    ask("GET http://localhost/hello HTTP/1.1\r\nHost: localhost\r\n\r\n").status
    == 200u);
}

BOOST_AUTO_TEST_CASE(with_keys_any_host_is_served) {
  lock();
  start();
  BOOST_TEST(status("GET", "/hello",
                    "Host: proxy.example\r\nX-API-Key: "
                    "banana\r\n")
             == 200u);
}

BOOST_AUTO_TEST_CASE(served_anywhere_any_host_will_do) {
  with.settings.without_key = "anywhere";
  start();
  BOOST_TEST(status("GET", "/hello", "Host: proxy.example\r\n") == 200u);
}

BOOST_AUTO_TEST_CASE(pages_from_elsewhere_change_nothing) {
  start();
  for (const auto* origin : {"https://evil.com", "null", "http://localhost:1"})
    BOOST_TEST(
      status("POST", "/echo", "Origin: " + std::string{origin} + "\r\n")
        == 403u,
      origin);
  const auto own = ask(request("POST", "/echo",
                               "Host: localhost:7860\r\n"
                               "Origin: http://localhost:7860\r\n"));
  BOOST_TEST(own.status == 200u);
  BOOST_TEST(own.field("access-control-allow-origin").empty());
  // A foreign page may send a request whose reply it cannot read.
  const auto look =
    ask(request("GET", "/hello", "Origin: https://evil.com\r\n"));
  BOOST_TEST(look.status == 200u);
  BOOST_TEST(look.field("access-control-allow-origin").empty());
  const auto preflight =
    ask(request("OPTIONS", "/echo",
                "Origin: https://evil.com\r\n"
                "Access-Control-Request-Method: POST\r\n"));
  BOOST_TEST(preflight.status == 403u);
  BOOST_TEST(preflight.field("access-control-allow-methods").empty());
}

BOOST_AUTO_TEST_CASE(pages_on_the_list_may_use_the_apis) {
  with.settings.origins = {"https://good.example"};
  lock();
  start();
  const std::string origin = "Origin: https://good.example\r\n";
  const auto preflight =
    ask(request("OPTIONS", "/echo",
                origin
                  + "Access-Control-Request-Method: POST\r\n"
                    "Access-Control-Request-Headers: authorization, x-a\r\n"));
  BOOST_TEST(preflight.status == 204u);
  BOOST_TEST(preflight.field("access-control-allow-origin")
             == "https://good.example");
  BOOST_TEST(preflight.field("access-control-allow-methods") == "POST");
  BOOST_TEST(preflight.field("access-control-allow-headers")
             == "authorization, x-a");
  BOOST_TEST(preflight.field("vary") == "Origin");
  const auto x = ask(request("POST", "/echo", origin + bob));
  BOOST_TEST(x.status == 200u);
  BOOST_TEST(x.field("access-control-allow-origin") == "https://good.example");
  // Errors are readable too.
  const auto y = ask(request("POST", "/echo", origin));
  BOOST_TEST(y.status == 401u);
  BOOST_TEST(y.field("access-control-allow-origin") == "https://good.example");
  BOOST_TEST(status("POST", "/echo",
                    "Origin: http://good.example\r\nX-API-Key: banana\r\n")
             == 403u);
}

BOOST_AUTO_TEST_CASE(beyond_this_machine_keys_are_asked_for) {
  with.settings.listen = "0.0.0.0:0";
  const auto x = runtime::http::server::start(with);
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST((x.why().code == core::ec::bad_config));
  BOOST_TEST((x.why().text.find("http.keys") != std::string::npos));
  with.settings.without_key = "anywhere";
  start();
  BOOST_TEST(status("GET", "/hello") == 200u);
  server.reset();
  with.settings.without_key = "loopback";
  lock();
  start();
  BOOST_TEST(status("GET", "/hello", bob) == 200u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
