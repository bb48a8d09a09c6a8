// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/client.hpp>

#include <boost/test/unit_test.hpp>
#include <http/server_rig.hpp>

#include <thread>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;
using runtime::http::ask_server;
using runtime::http::client_request;
using runtime::http::find_field;

struct client_rig : server_rig {
  client_request to(const std::string& path) const {
    client_request x;
    x.url = server->url() + path;
    return x;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(client_test, client_rig)

BOOST_AUTO_TEST_CASE(a_server_is_asked) {
  start();
  const auto x = ask_server(to("/hello?a=b"));
  BOOST_TEST_REQUIRE(x.operator bool());
  BOOST_TEST(x->status == 200u);
  BOOST_TEST(x->body == "hello");
  BOOST_TEST(find_field(x->headers, "content-type") == "text/plain");
  auto post = to("/echo");
  post.method = "POST";
  post.body = std::string(3'000'000, 'x');
  const auto y = ask_server(post);
  BOOST_TEST_REQUIRE(y.operator bool());
  BOOST_TEST((y->body == post.body));
  BOOST_TEST(ask_server(to("/nothing"))->status == 404u);
}

BOOST_AUTO_TEST_CASE(fields_are_sent_along) {
  add("GET", "/key", [](const auto& x) {
    x->reply({200,
              "text/plain",
              {},
              std::string{find_field(x->asked().headers, "x-api-key")}});
  });
  start();
  auto x = to("/key");
  x.headers = {{"X-API-Key", "apple"}};
  BOOST_TEST(ask_server(x)->body == "apple");
}

BOOST_AUTO_TEST_CASE(addresses_that_are_none_are_refused) {
  for (const auto* url :
       {"", "localhost", "ftp://localhost/", "http://", "http:///a",
        "http://a:b/", "http://localhost/a b", "http://localhost/\r\nX: y"}) {
    client_request x;
    x.url = url;
    const auto reply = ask_server(x);
    BOOST_TEST_REQUIRE(!reply, url);
    BOOST_TEST((reply.why().code == core::ec::invalid_argument), url);
  }
}

BOOST_AUTO_TEST_CASE(a_key_does_not_leave_this_machine_in_the_clear) {
  client_request x;
  for (const auto* url : {"http://images.example/", "http://192.0.2.7:7860/"})
    for (const auto* field : {"Authorization", "X-API-Key"}) {
      x.url = url;
      x.headers = {{field, "apple"}};
      const auto reply = ask_server(x);
      BOOST_TEST_REQUIRE(!reply, url);
      BOOST_TEST((reply.why().code == core::ec::invalid_argument));
      BOOST_TEST(
        (reply.why().text.find("ATELIER_INSECURE_KEY=1") != std::string::npos),
        reply.why().text);
      BOOST_TEST((reply.why().text.find("apple") == std::string::npos));
    }
  // The name is looked up only if the key may be seen; RFC 6761 reserves it.
  x.url = "http://host.invalid/";
  x.key_in_clear = true;
  BOOST_TEST((ask_server(x).why().code != core::ec::invalid_argument));
  start();
  x = to("/hello");
  x.headers = {{"Authorization", "Bearer apple"}};
  BOOST_TEST(ask_server(x)->status == 200u);
}

BOOST_AUTO_TEST_CASE(nobody_there_is_told) {
  start();
  const auto x = to("/hello");
  server.reset();
  const auto reply = ask_server(x);
  BOOST_TEST_REQUIRE(!reply);
  BOOST_TEST((reply.why().code == core::ec::unavailable));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_slow_or_breaks_off_is_told) {
  start();
  auto x = to("/kept");
  x.patience = 50ms;
  const auto slow = ask_server(x);
  BOOST_TEST_REQUIRE(!slow);
  BOOST_TEST((slow.why().code == core::ec::deadline_missed));
  kept.next();
  x.patience = 30s;
  std::thread ending{[&] {
    const auto held = kept.next();
    server->stop(0s);
  }};
  const auto broken = ask_server(x);
  ending.join();
  BOOST_TEST_REQUIRE(!broken);
  BOOST_TEST((broken.why().code == core::ec::io_failed));
}

BOOST_AUTO_TEST_CASE(a_reply_that_is_too_large_is_not_taken) {
  start();
  auto x = to("/hello");
  x.most_bytes = 4;
  BOOST_TEST(!ask_server(x));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
