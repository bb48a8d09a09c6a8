// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>
#include <http/server_rig.hpp>

#include <future>
#include <thread>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string post_head(uint64_t length) {
  return "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
       + std::to_string(length) + "\r\n\r\n";
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(server_hostile_test, server_rig)

BOOST_AUTO_TEST_CASE(addresses_that_are_none_are_refused) {
  start();
  for (const auto* target :
       {"/../etc/passwd", "/%2e%2e/etc/passwd", "/a/..%2f..%2fetc", "/%",
        "/%zz", "/%00", "/%ff", "/a?b=%", "/\\..\\a", "hello", "/a#b"}) {
    const auto x = ask(request("GET", target));
    BOOST_TEST(x.status == 400u, target);
    BOOST_TEST(has(x.body, "\"error\""));
  }
  BOOST_TEST(ask(request("GET", "/hello")).status == 200u);
}

BOOST_AUTO_TEST_CASE(what_could_smuggle_a_request_ends_the_connection) {
  start();
  const std::string inner = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const auto* fields :
       {"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
        "Content-Length: 0\r\nContent-Length: 60\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n",
        "Content-Length: 0 \r\n 60\r\n", "Content-Length: 0,60\r\n",
        "Transfer-Encoding : chunked\r\n"}) {
    auto c = client();
    c.send("POST /echo HTTP/1.1\r\nHost: localhost\r\n" + std::string{fields}
           + "\r\n0\r\n\r\n" + inner);
    const auto x = c.hear();
    BOOST_TEST((x.status == 400u || x.status == 501u), fields);
    BOOST_TEST(x.field("connection") == "close");
    // The bytes after it are not read as a request.
    BOOST_TEST(c.at_end());
  }
}

BOOST_AUTO_TEST_CASE(what_readers_take_differently_is_refused_with_400) {
  with.settings.body_bytes = 100'000;
  start();
  const std::string post = "POST /echo HTTP/1.1\r\nHost: localhost\r\n";
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  for (const auto& text :
       {post + "Content-Length:\r\n 2\r\n\r\nab",
        post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        post
          + "Origin: http://localhost\r\nOrigin: https://evil.com\r\n"
            "Content-Length: 2\r\n\r\nab",
        std::string{"GET /hello HTTP/1.1\r\nHost:\r\n\r\n"},
        std::string{"GET /hello HTTP/1.1\nHost: localhost\n\n"},
        std::string{"GET /hello HTTP/1.1\rHost: localhost\r\r"},
        request("GET", "*"), chunked + std::string(5000, '0') + "\r\n\r\n"}) {
    auto c = client();
    const auto x = c.ask(text);
    BOOST_TEST(x.status == 400u, text.substr(0, 100));
    BOOST_TEST(has(x.body, "\"type\":\"invalid_request_error\""));
  }
  // The refusal comes at once, not at the end of the reading time.
  BOOST_TEST(ask(chunked + "ffffffffffffffff\r\n").status == 413u);
  BOOST_TEST(ask(request("OPTIONS", "*")).status == 204u);
}

BOOST_AUTO_TEST_CASE(a_large_head_is_refused) {
  with.settings.header_bytes = 4096;
  start();
  auto c = client();
  const auto x =
    c.ask(request("GET", "/hello", "X: " + std::string(5000, 'a') + "\r\n"));
  BOOST_TEST(x.status == 431u);
  BOOST_TEST(c.at_end());
  const auto y =
    ask(request("GET", "/hello", "X: " + std::string(3000, 'a') + "\r\n"));
  BOOST_TEST(y.status == 200u);
}

BOOST_AUTO_TEST_CASE(a_head_up_to_its_limit_is_read) {
  start();
  const auto head = [](size_t bytes) {
    return request("GET", "/hello", "X: " + std::string(bytes, 'a') + "\r\n");
  };
  BOOST_TEST(with.settings.header_bytes == 32u << 10);
  BOOST_TEST(ask(head(20'000)).status == 200u);
  BOOST_TEST(ask(head(31'000)).status == 200u);
  BOOST_TEST(client().ask(head(40'000)).status == 431u);
}

BOOST_AUTO_TEST_CASE(a_large_body_is_refused_in_the_words_of_the_api) {
  with.settings.body_bytes = 100'000;
  start();
  auto c = client();
  // The refusal comes before the body is sent.
  const auto x = c.ask(post_head(100'001));
  BOOST_TEST(x.status == 413u);
  BOOST_TEST(has(x.body, "\"type\":\"invalid_request_error\""));
  BOOST_TEST(x.field("connection") == "close");
  // A client that keeps sending still receives the reply.
  auto d = client();
  std::thread sending{
    [&] { d.send(post_head(9'000'000) + std::string(9'000'000, 'x')); }};
  BOOST_TEST(d.hear().status == 413u);
  sending.join();
  d.shut();
  BOOST_TEST(d.at_end());
  const auto chunked =
    ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
        "chunked\r\n\r\n186A1\r\n"
        + std::string(100'001, 'x') + "\r\n0\r\n\r\n");
  BOOST_TEST(chunked.status == 413u);
  BOOST_TEST(has(chunked.body, "invalid_request_error"));
  BOOST_TEST(ask(request("POST", "/echo", {}, std::string(100'000, 'x'))).status
             == 200u);
}

BOOST_AUTO_TEST_CASE(bodies_together_have_a_limit) {
  with.settings.body_bytes = 100'000;
  with.settings.bodies_bytes = 300'000;
  start();
  std::vector<plain_client> all;
  std::vector<std::shared_ptr<runtime::http::exchange>> held;
  for (int i = 0; i < 2; ++i) {
    all.push_back(client());
    all.back().send(request("POST", "/kept", {}, std::string(100'000, 'x')));
    held.push_back(kept.next());
  }
  BOOST_TEST(server->counts().body_bytes_held == 200'000u);
  const auto body = std::string(100'000, 'x');
  const auto x = ask(request("POST", "/echo", {}, body));
  BOOST_TEST(x.status == 503u);
  BOOST_TEST(x.field("retry-after") == "1");
  BOOST_TEST(has(x.body, "overloaded"));
  for (auto& y : held)
    y->reply({});
  held.clear();
  BOOST_TEST(eventually([&] { return server->counts().body_bytes_held == 0; }));
  BOOST_TEST(ask(request("POST", "/echo", {}, body)).status == 200u);
}

BOOST_AUTO_TEST_CASE(a_length_that_is_only_told_holds_nothing) {
  with.settings.bodies_bytes = with.settings.body_bytes;
  start();
  std::vector<plain_client> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(client());
    all.back().send(post_head(with.settings.body_bytes));
  }
  const auto body = std::string(1'000'000, 'x');
  BOOST_TEST(ask(request("POST", "/echo", {}, body)).status == 200u);
}

BOOST_AUTO_TEST_CASE(slow_requests_are_ended_and_do_not_stop_others) {
  with.settings.read = 2s;
  start();
  constexpr size_t count = 500;
  std::vector<plain_client> slow;
  size_t served = 0;
  for (size_t i = 0; i < count; ++i) {
    slow.push_back(client());
    slow.back().send(i % 2 == 0 ? "GET /hello HTTP/1.1\r\nHo"
                                : "POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                                  "Content-Length: 10\r\n\r\nabc");
    if (i % 100 == 99)
      served += ask(request("GET", "/hello")).status == 200u ? 1u : 0u;
  }
  BOOST_TEST(served == 5u);
  for (auto& c : slow) {
    BOOST_TEST(c.hear().status == 408u);
    BOOST_TEST(c.at_end());
  }
  BOOST_TEST(server->counts().timed_out == count);
}

BOOST_AUTO_TEST_CASE(bytes_that_drip_do_not_buy_time) {
  with.settings.read = 200ms;
  start();
  auto c = client();
  const auto began = std::chrono::steady_clock::now();
  c.send("GET /hello HTTP/1.1\r\nHost: localhost\r\nX: ");
  // The server closes the connection.
  BOOST_TEST(eventually([&] { return !c.send("a"); }));
  BOOST_TEST((std::chrono::steady_clock::now() - began >= 200ms));
  BOOST_TEST(server->counts().timed_out == 1u);
}

BOOST_AUTO_TEST_CASE(connections_that_say_nothing_are_ended) {
  with.settings.idle = 50ms;
  start();
  auto fresh = client();
  BOOST_TEST(fresh.at_end());
  auto used = client();
  BOOST_TEST(used.ask(request("GET", "/hello")).status == 200u);
  BOOST_TEST(used.at_end());
}

BOOST_AUTO_TEST_CASE(a_request_that_is_worked_on_is_not_idle) {
  with.settings.idle = 10ms;
  with.settings.read = 10ms;
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  // Another connection reaches its limit meanwhile.
  auto other = client();
  BOOST_TEST(other.at_end());
  x->reply({200, "text/plain", {}, "late"});
  BOOST_TEST(c.hear().body == "late");
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_read_its_reply_is_cut_off) {
  with.settings.idle = 100ms;
  add("GET", "/large", [](const auto& x) {
    x->reply({200, "text/plain", {}, std::string(32 << 20, 'x')});
  });
  start();
  plain_client c{port, false, 4096};
  c.send(request("GET", "/large"));
  BOOST_TEST(eventually([&] { return server->counts().timed_out == 1; }));
  BOOST_TEST(
    eventually([&] { return server->counts().open_connections == 0; }));
}

BOOST_AUTO_TEST_CASE(connections_beyond_the_limit_are_turned_away) {
  with.settings.connections = 3;
  start();
  std::vector<plain_client> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(client());
    BOOST_TEST(all.back().ask(request("GET", "/hello")).status == 200u);
  }
  auto more = client();
  const auto x = more.hear();
  BOOST_TEST(x.status == 503u);
  BOOST_TEST(x.field("retry-after") == "1");
  BOOST_TEST(server->counts().refused_connections == 1u);
  all.pop_back();
  BOOST_TEST(
    eventually([&] { return server->counts().open_connections == 2; }));
  BOOST_TEST(ask(request("GET", "/hello")).status == 200u);
}

BOOST_AUTO_TEST_CASE(one_address_does_not_take_all_connections) {
  with.settings.connections_of_peer = 3;
  start();
  std::vector<plain_client> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(client());
    BOOST_TEST(all.back().ask(request("GET", "/hello")).status == 200u);
  }
  auto more = client();
  const auto x = more.hear();
  BOOST_TEST(x.status == 429u);
  BOOST_TEST(x.field("retry-after") == "1");
  BOOST_TEST(has(x.body, "too_many_connections"));
  BOOST_TEST(server->counts().refused_connections == 1u);
  all.pop_back();
  // The server needs a moment to notice that the client has disconnected.
  BOOST_TEST(
    eventually([&] { return ask(request("GET", "/hello")).status == 200u; }));
}

BOOST_AUTO_TEST_CASE(a_proxy_here_may_bring_everybody) {
  start();
  std::vector<plain_client> all;
  for (uint32_t i = 0; i < 300; ++i)
    all.push_back(client());
  BOOST_TEST(all.back().ask(request("GET", "/hello")).status == 200u);
  BOOST_TEST(server->counts().refused_connections == 0u);
}

BOOST_AUTO_TEST_CASE(a_flood_of_requests_ahead_is_not_hoarded) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  std::string flood;
  for (int i = 0; i < 5000; ++i)
    flood += request("GET", "/hello");
  std::thread sending{[&] { c.send(flood); }};
  x->reply({200, "text/plain", {}, "kept"});
  BOOST_TEST(c.hear().body == "kept");
  int good = 0;
  for (int i = 0; i < 5000; ++i)
    good += c.hear().body == "hello" ? 1 : 0;
  sending.join();
  BOOST_TEST(good == 5000);
}

BOOST_AUTO_TEST_CASE(a_client_with_much_ahead_is_missed_when_it_goes) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  std::promise<void> gone;
  x->on_gone([&] { gone.set_value(); });
  std::string flood;
  for (int i = 0; i < 1000; ++i)
    flood += request("GET", "/hello");
  c.send(flood);
  // The server has read what it takes once other connections were served.
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(ask(request("GET", "/hello")).status == 200u);
  c.reset();
  BOOST_TEST_REQUIRE(
    (gone.get_future().wait_for(30s) == std::future_status::ready));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
