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
  BOOST_TEST((no_key.body.find("invalid_api_key") != std::string::npos));
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
  BOOST_TEST((x.body.find("rate_limit_exceeded") != std::string::npos));
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

BOOST_AUTO_TEST_CASE(a_host_that_is_refused_is_named_with_a_remedy) {
  start();
  const auto x = ask(request("GET", "/hello", "Host: images.example:7860\r\n"));
  BOOST_TEST(x.status == 403u);
  for (const auto* part :
       {"'images.example:7860'", "http.keys", "http.without_key"})
    BOOST_TEST((x.body.find(part) != std::string::npos), x.body);
}

BOOST_AUTO_TEST_CASE(a_trusted_proxy_says_how_its_client_calls_the_server) {
  add("POST", "/who", [](const auto& x) {
    const auto& asked = x->asked();
    x->reply({200,
              "text/plain",
              {},
              asked.client + ' ' + asked.scheme + ' ' + asked.host});
  });
  const std::string said = "X-Forwarded-For: 192.0.2.7\r\n"
                           "X-Forwarded-Proto: https\r\n"
                           "X-Forwarded-Host: images.example:8443\r\n";
  const std::string page = "Origin: https://images.example:8443\r\n";
  start();
  BOOST_TEST(ask(request("POST", "/who", "Host: localhost\r\n" + said)).body
             == "127.0.0.1  localhost");
  BOOST_TEST(status("POST", "/who", said + page) == 403u);
  server.reset();
  with.settings.trusted_proxies = {"192.0.2.0/24", "127.0.0.1"};
  start();
  BOOST_TEST(ask(request("POST", "/who", said)).body
             == "192.0.2.7 https images.example:8443");
  BOOST_TEST(status("POST", "/who", said + page) == 200u);
  BOOST_TEST(status("POST", "/who", said + "Origin: https://evil.com\r\n")
             == 403u);
  const auto x =
    ask(request("POST", "/who", said + "Forwarded: proto=http\r\n"));
  BOOST_TEST(x.status == 400u);
  BOOST_TEST((x.body.find("contradict") != std::string::npos));
  // The name in the Host field still has to be this machine's.
  BOOST_TEST(status("POST", "/who", said + "Host: evil.com\r\n") == 403u);
}

BOOST_AUTO_TEST_CASE(who_tries_many_keys_is_slowed) {
  lock();
  with.settings.trusted_proxies = {"127.0.0.1"};
  start();
  const std::string stranger =
    "X-Forwarded-For: 192.0.2.7\r\nX-API-Key: wrong\r\n";
  // On a slow machine more are allowed meanwhile.
  constexpr int most = 10'000;
  heard x;
  for (int i = 0; i < most && (x.status == 0 || x.status == 401u); ++i)
    x = ask(request("GET", "/hello", stranger));
  BOOST_TEST(x.status == 429u);
  BOOST_TEST(!x.field("retry-after").empty());
  BOOST_TEST(status("GET", "/hello",
                    "X-Forwarded-For: 192.0.2.8\r\nX-API-Key: banana\r\n")
             == 200u);
  BOOST_TEST(status("GET", "/open", stranger) == 200u);
}

BOOST_AUTO_TEST_CASE(keys_cannot_be_tried_where_none_is_needed) {
  lock();
  add(
    "GET", "/named",
    [](const auto& x) {
      x->reply({200, "text/plain", {}, x->asked().key});
    },
    scope::anyone);
  with.settings.trusted_proxies = {"127.0.0.1"};
  start();
  const std::string at = "X-Forwarded-For: 192.0.2.9\r\n";
  BOOST_TEST(ask(request("GET", "/named", at + "X-API-Key: banana\r\n")).body
             == "bob");
  // On a slow machine more are allowed meanwhile.
  constexpr int most = 10'000;
  for (int i = 0; i < most; ++i) {
    BOOST_TEST_REQUIRE(status("GET", "/named", at + "X-API-Key: wrong\r\n")
                       == 200u);
    if (i >= 30
        && ask(request("GET", "/named", at + "X-API-Key: banana\r\n"))
             .body.empty())
      return;
  }
  BOOST_ERROR("a right key differs from wrong ones for ever");
}

BOOST_AUTO_TEST_CASE(a_key_that_is_taken_away_ends_its_calls) {
  lock();
  start();
  auto ann_waits = client();
  ann_waits.send(request("GET", "/kept", ann));
  const auto first = kept.next();
  auto bob_waits = client();
  bob_waits.send(request("GET", "/kept", bob));
  const auto second = kept.next();
  // Another key of the same name does not keep the call alive.
  with.callers->replace({{"ann", core::sha256_hex("apricot"), scope::user, 2},
                         {"bob", core::sha256_hex("banana"), scope::admin, 0}});
  server->end_strangers();
  BOOST_TEST(ann_waits.at_end());
  second->reply({});
  BOOST_TEST(bob_waits.hear().status == 200u);
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
