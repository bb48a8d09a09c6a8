// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>
#include <http/server_rig.hpp>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;
using runtime::http::find_field;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(server_test, server_rig)

BOOST_AUTO_TEST_CASE(a_request_is_answered) {
  start();
  BOOST_TEST(server->url() == "http://127.0.0.1:" + std::to_string(port));
  const auto x = ask(request("GET", "/hello"));
  BOOST_TEST(x.status == 200u);
  BOOST_TEST(x.body == "hello");
  BOOST_TEST(x.field("server") == "atelier");
  BOOST_TEST(x.field("content-type") == "text/plain");
  BOOST_TEST(x.field("x-content-type-options") == "nosniff");
  BOOST_TEST(x.field("cache-control").empty());
}

BOOST_AUTO_TEST_CASE(a_connection_takes_request_after_request) {
  start();
  auto c = client();
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(c.ask(request("GET", "/hello")).body == "hello");
    BOOST_TEST(c.ask(request("POST", "/echo", {}, "abc")).body == "abc");
  }
  BOOST_TEST(server->counts().connections == 1u);
  BOOST_TEST(server->counts().requests == 6u);
  BOOST_TEST(eventually([&] { return server->counts().replies[2] == 6u; }));
}

BOOST_AUTO_TEST_CASE(a_connection_ends_where_the_client_wants_it) {
  start();
  auto c = client();
  const auto x = c.ask(request("GET", "/hello", "Connection: close\r\n"));
  BOOST_TEST(x.field("connection") == "close");
  BOOST_TEST(c.at_end());
  auto old = client();
  BOOST_TEST(old.ask("GET /hello HTTP/1.0\r\n\r\n").body == "hello");
  BOOST_TEST(old.at_end());
  auto living = client();
  const auto y =
    living.ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  BOOST_TEST(y.field("connection") == "keep-alive");
  BOOST_TEST(living.ask(request("GET", "/hello")).body == "hello");
}

BOOST_AUTO_TEST_CASE(requests_sent_at_once_are_answered_in_order) {
  start();
  auto c = client();
  c.send(request("GET", "/kept") + request("POST", "/echo", {}, "a")
         + request("GET", "/hello"));
  kept.next()->reply({200, "text/plain", {}, "first"});
  BOOST_TEST(c.hear().body == "first");
  BOOST_TEST(c.hear().body == "a");
  BOOST_TEST(c.hear().body == "hello");
}

BOOST_AUTO_TEST_CASE(a_request_may_come_byte_by_byte) {
  start();
  auto c = client();
  for (const char byte : request("POST", "/echo", "X: y\r\n", "abc"))
    c.send({&byte, 1});
  BOOST_TEST(c.hear().body == "abc");
}

BOOST_AUTO_TEST_CASE(large_bodies_go_both_ways) {
  start();
  std::string body(9'000'000, 'x');
  for (size_t i = 0; i < body.size(); i += 1000)
    body[i] = static_cast<char>(i / 1000 % 256);
  auto c = client();
  std::thread sending{[&] { c.send(request("POST", "/echo", {}, body)); }};
  const auto x = c.hear();
  sending.join();
  BOOST_TEST((x.body == body));
  BOOST_TEST(eventually([&] { return server->counts().body_bytes_held == 0; }));
}

BOOST_AUTO_TEST_CASE(chunks_come_to_the_handler_as_one_body) {
  start();
  const auto x = ask("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n"
                     "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  BOOST_TEST(x.body == "abcde");
}

BOOST_AUTO_TEST_CASE(a_client_that_waits_to_go_on_is_told_so) {
  start();
  auto c = client();
  c.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
         "Expect: 100-continue\r\n\r\n");
  BOOST_TEST(c.hear().status == 100u);
  c.send("abc");
  BOOST_TEST(c.hear().body == "abc");
  // No interim reply is sent if the request is refused anyway.
  c.send("POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
         "Expect: 100-continue\r\n\r\n");
  BOOST_TEST(c.hear().status == 404u);
}

BOOST_AUTO_TEST_CASE(a_head_is_asked_for_alone) {
  start();
  auto c = client();
  c.send(request("HEAD", "/hello"));
  const auto x = c.hear(true);
  BOOST_TEST(x.status == 200u);
  BOOST_TEST(x.field("content-length") == "5");
  BOOST_TEST(c.ask(request("GET", "/hello")).body == "hello");
}

BOOST_AUTO_TEST_CASE(a_handler_sees_the_whole_request) {
  add("POST", "/things/{id}", kept.keep());
  start();
  auto c = client();
  c.send(request("POST", "/things/a%20b?q=%C3%A9+%2B",
                 "X-Thing: Some Thing\r\n", "body"));
  const auto handed = kept.next();
  const auto& asked = handed->asked();
  BOOST_TEST(asked.method == "POST");
  BOOST_TEST(asked.path == "/things/a b");
  BOOST_TEST(find_field(asked.parts, "id") == "a b");
  BOOST_TEST(find_field(asked.query, "q") == "\u00e9 +");
  BOOST_TEST(find_field(asked.headers, "x-thing") == "Some Thing");
  BOOST_TEST(asked.body == "body");
  BOOST_TEST(asked.client == "127.0.0.1");
  BOOST_TEST(asked.key.empty());
  handed->reply({201, "text/plain", {{"Location", "/there"}}, {}});
  const auto x = c.hear();
  BOOST_TEST(x.status == 201u);
  BOOST_TEST(x.field("location") == "/there");
  BOOST_TEST(x.field("content-length") == "0");
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_told_in_the_words_of_the_api) {
  start();
  auto c = client();
  const auto nothing = c.ask(request("GET", "/hell"));
  BOOST_TEST(nothing.status == 404u);
  BOOST_TEST(has(nothing.body, "\"type\":\"invalid_request_error\""));
  BOOST_TEST(nothing.field("cache-control") == "no-store");
  const auto other = c.ask(request("DELETE", "/kept"));
  BOOST_TEST(other.status == 405u);
  BOOST_TEST(other.field("allow") == "GET, POST, OPTIONS");
  // The server skips the small body of a refused request.
  BOOST_TEST(c.ask(request("POST", "/hello", {}, "abc")).status == 405u);
  BOOST_TEST(c.ask(request("GET", "/hello")).status == 200u);
  const auto options = c.ask(request("OPTIONS", "/kept"));
  BOOST_TEST(options.status == 204u);
  BOOST_TEST(options.field("allow") == "GET, POST, OPTIONS");
  BOOST_TEST(c.ask(request("OPTIONS", "*")).status == 204u);
  BOOST_TEST(c.ask(request("OPTIONS", "/x")).status == 404u);
}

BOOST_AUTO_TEST_CASE(a_missing_endpoint_names_those_that_are_near) {
  add("POST", "/v1/images/generations", kept.keep());
  add("GET", "/v1/jobs/{id}", kept.keep());
  start();
  const auto named = [&](const char* method, const char* path) {
    const auto x = ask(request(method, path));
    BOOST_TEST(x.status == 404u);
    const auto at = x.body.find("nearest: ");
    return at == std::string::npos
           ? ""
           : x.body.substr(at, x.body.find('"', at) - at);
  };
  BOOST_TEST(named("POST", "/images/generations")
             == "nearest: /v1/images/generations");
  BOOST_TEST(named("GET", "/v1/job/abc") == "nearest: /v1/jobs/{id}");
  const auto far = ask(request("POST", "/v1/chat/completions"));
  BOOST_TEST(far.body
             == R"({"error":{"code":"not_found","message":"no such endpoint: )"
                R"(POST /v1/chat/completions",)"
                R"("param":null,"type":"invalid_request_error"}})");
  const auto long_path = "/" + std::string(5000, 'a');
  BOOST_TEST(named("GET", long_path.c_str()).empty());
}

BOOST_AUTO_TEST_CASE(empty_segments_of_a_path_do_not_count) {
  add("GET", "/", [](const auto& x) { x->reply({200, {}, {}, "root"}); });
  add("GET", "/all/{name}", [](const auto& x) {
    x->reply({200, {}, {}, std::string{find_field(x->asked().parts, "name")}});
  });
  start();
  auto c = client();
  for (const auto* path : {"//hello", "/hello/", "/hello//"})
    BOOST_TEST(c.ask(request("GET", path)).body == "hello");
  BOOST_TEST(c.ask(request("GET", "//all//a/")).body == "a");
  BOOST_TEST(c.ask(request("GET", "//")).body == "root");
  BOOST_TEST(c.ask(request("GET", "/all/")).status == 404u);
}

BOOST_AUTO_TEST_CASE(a_packed_body_is_refused_by_its_encoding) {
  start();
  auto c = client();
  const auto x =
    c.ask(request("POST", "/echo", "Content-Encoding: gzip\r\n", "abc"));
  BOOST_TEST(x.status == 415u);
  BOOST_TEST(has(x.body, "Content-Encoding 'gzip' is not supported"));
  BOOST_TEST(
    c.ask(request("POST", "/echo", "Content-Encoding: Identity\r\n", "abc"))
      .body
    == "abc");
}

BOOST_AUTO_TEST_CASE(every_answer_has_a_request_id) {
  with.settings.body_bytes = 10;
  std::string seen;
  add("GET", "/id", [&](const auto& x) {
    seen = x->asked().request_id;
    x->reply({});
  });
  start();
  auto c = client();
  const auto own = c.ask(request("GET", "/id", "X-Request-ID: mine-7\r\n"));
  BOOST_TEST(own.field("x-request-id") == "mine-7");
  BOOST_TEST(seen == "mine-7");
  const auto made = c.ask(request("GET", "/id")).field("x-request-id");
  BOOST_TEST(made.size() == 36u);
  BOOST_TEST(made.starts_with("req_"));
  BOOST_TEST(seen == made);
  BOOST_TEST(c.ask(request("GET", "/id")).field("x-request-id") != made);
  // The header is also in replies that no handler makes.
  BOOST_TEST(
    c.ask(request("GET", "/no", "X-Request-ID: a\r\n")).field("x-request-id")
    == "a");
  BOOST_TEST(c.ask(request("OPTIONS", "/id")).field("x-request-id").size()
             == 36u);
  for (const auto& text :
       {std::string{"nonsense\r\n\r\n"}, request("GET", "/../a"),
        request("POST", "/echo", {}, std::string(11, 'x'))})
    BOOST_TEST(ask(text).field("x-request-id").size() == 36u, text);
}

BOOST_AUTO_TEST_CASE(a_handler_that_throws_is_answered_for) {
  add("GET", "/throws",
      [](const auto&) { throw std::runtime_error{"/secret/path"}; });
  add("GET", "/throws-more", [](const auto&) { throw 1; });
  start();
  auto c = client();
  for (const auto* path : {"/throws", "/throws-more"}) {
    const auto x = c.ask(request("GET", path));
    BOOST_TEST(x.status == 500u);
    BOOST_TEST(has(x.body, "server_error"));
    BOOST_TEST(!has(x.body, "secret"));
  }
  BOOST_TEST(c.ask(request("GET", "/hello")).status == 200u);
}

BOOST_AUTO_TEST_CASE(an_exchange_that_is_given_up_is_answered_for) {
  add("GET", "/forgets", [](const auto&) {});
  start();
  auto c = client();
  BOOST_TEST(c.ask(request("GET", "/forgets")).status == 500u);
  c.send(request("GET", "/kept"));
  kept.next().reset();
  BOOST_TEST(c.hear().status == 500u);
  BOOST_TEST(c.ask(request("GET", "/hello")).status == 200u);
}

BOOST_AUTO_TEST_CASE(a_second_reply_is_dropped) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  x->reply({200, "text/plain", {}, "one"});
  x->reply({200, "text/plain", {}, "two"});
  x->begin_events();
  x->event("a", "b");
  BOOST_TEST(c.hear().body == "one");
  BOOST_TEST(c.ask(request("GET", "/hello")).body == "hello");
  x->reply({200, "text/plain", {}, "three"});
  BOOST_TEST(c.ask(request("GET", "/hello")).body == "hello");
}

BOOST_AUTO_TEST_CASE(replies_are_told_to_the_one_that_counts) {
  std::promise<std::string> told;
  with.done = [&](const std::string& method, const std::string& pattern,
                  unsigned status, double seconds) {
    const bool likely = seconds >= 0 && seconds < 30;
    told.set_value(method + " " + pattern + " " + std::to_string(status)
                   + (likely ? "" : " in no likely time"));
  };
  add("GET", "/jobs/{id}", [](const auto& x) { x->reply({}); });
  start();
  auto next = told.get_future();
  auto c = client();
  const auto heard_next = [&] {
    const auto text = next.get();
    told = {};
    next = told.get_future();
    return text;
  };
  c.ask(request("GET", "/jobs/1"));
  BOOST_TEST(heard_next() == "GET /jobs/{id} 200");
  c.ask(request("PUT", "/jobs/1"));
  BOOST_TEST(heard_next() == "PUT  405");
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  c.reset();
  BOOST_TEST(heard_next() == "GET /kept 499");
}

BOOST_AUTO_TEST_CASE(a_client_that_goes_is_noticed_while_it_is_served) {
  start();
  for (const bool orderly : {true, false}) {
    auto c = std::make_unique<plain_client>(port);
    c->send(request("GET", "/kept"));
    const auto x = kept.next();
    std::promise<void> gone;
    x->on_gone([&] { gone.set_value(); });
    if (!orderly)
      c->reset();
    c.reset();
    BOOST_TEST_REQUIRE(
      (gone.get_future().wait_for(30s) == std::future_status::ready));
    // A late listener is called at once.
    bool told = false;
    x->on_gone([&] { told = true; });
    BOOST_TEST(told);
    x->reply({});
  }
  BOOST_TEST(
    eventually([&] { return server->counts().open_connections == 0; }));
}

BOOST_AUTO_TEST_CASE(what_is_sent_ahead_is_no_end) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  std::atomic<bool> gone = false;
  x->on_gone([&] { gone = true; });
  c.send(request("GET", "/hello"));
  // The server has received it once another connection is served after it.
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(ask(request("GET", "/hello")).status == 200u);
  BOOST_TEST(!gone);
  x->reply({200, "text/plain", {}, "kept"});
  BOOST_TEST(c.hear().body == "kept");
  BOOST_TEST(c.hear().body == "hello");
  BOOST_TEST(!gone);
}

BOOST_AUTO_TEST_CASE(a_client_that_closed_its_half_still_gets_its_reply) {
  with.heartbeat = 5ms;
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  c.shut();
  const auto x = kept.next();
  std::atomic<bool> gone = false;
  x->on_gone([&] { gone = true; });
  // The server has seen the end, and asks more than once.
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(c.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  BOOST_TEST(!gone);
  x->reply({200, "text/plain", {}, "late"});
  auto rest = c.read_until("late");
  BOOST_TEST(rest.ends_with("late"));
  BOOST_TEST((rest.find("Connection: close") != std::string::npos));
  BOOST_TEST(c.at_end());
}

BOOST_AUTO_TEST_CASE(a_client_that_goes_after_its_half_is_noticed) {
  with.heartbeat = 5ms;
  start();
  auto c = std::make_unique<plain_client>(port);
  c->send(request("GET", "/kept"));
  c->shut();
  const auto x = kept.next();
  std::promise<void> gone;
  x->on_gone([&] { gone.set_value(); });
  c->read_until("\r\n\r\n");
  c.reset();
  BOOST_TEST_REQUIRE(
    (gone.get_future().wait_for(30s) == std::future_status::ready));
}

BOOST_AUTO_TEST_CASE(a_client_of_http_1_0_that_closed_its_half_counts_as_gone) {
  start();
  auto c = client();
  c.send("GET /kept HTTP/1.0\r\nHost: localhost\r\n\r\n");
  c.shut();
  const auto x = kept.next();
  std::promise<void> gone;
  x->on_gone([&] { gone.set_value(); });
  BOOST_TEST_REQUIRE(
    (gone.get_future().wait_for(30s) == std::future_status::ready));
  x->reply({200, "text/plain", {}, "late"});
  BOOST_TEST(c.hear().body == "late");
  BOOST_TEST(c.at_end());
}

BOOST_AUTO_TEST_CASE(all_that_was_sent_before_the_end_is_answered) {
  constexpr int more = 400;
  start();
  auto c = client();
  std::string all = request("GET", "/kept");
  for (int i = 0; i < more; ++i)
    all += request("GET", "/hello");
  // What comes last is no whole request.
  c.send(all + "GET /hel");
  c.shut();
  const auto x = kept.next();
  x->reply({200, "text/plain", {}, "kept"});
  const auto hear = [&] {
    auto got = c.hear();
    while (got.status == 100)
      got = c.hear();
    return got.body;
  };
  BOOST_TEST(hear() == "kept");
  int good = 0;
  for (int i = 0; i < more; ++i)
    good += hear() == "hello" ? 1 : 0;
  BOOST_TEST(good == more);
  BOOST_TEST(c.at_end());
}

BOOST_AUTO_TEST_CASE(an_answered_exchange_forgets_what_it_was_to_do) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  auto held = std::make_shared<int>(1);
  x->on_gone([held] {});
  BOOST_TEST(held.use_count() == 2);
  x->reply({});
  BOOST_TEST(held.use_count() == 1);
  x->on_gone([held] {});
  BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(an_exchange_may_outlive_its_server) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  auto d = client();
  d.send(request("GET", "/kept"));
  const auto y = kept.next();
  y->begin_events();
  std::atomic<int> gone = 0;
  x->on_gone([&] { ++gone; });
  y->on_gone([&] { ++gone; });
  server.reset();
  BOOST_TEST(gone == 2);
  BOOST_TEST(x->asked().path == "/kept");
  x->reply({});
  y->event("a", "b");
  y->end_events();
  BOOST_TEST(c.at_end());
}

BOOST_AUTO_TEST_CASE(answers_race_with_the_servers_end) {
  for (int i = 0; i < 20; ++i) {
    start();
    auto c = client();
    c.send(request("GET", "/kept"));
    auto x = kept.next();
    std::thread answering{[x = std::move(x)]() mutable {
      x->begin_events();
      for (int n = 0; n < 200; ++n)
        x->event("n", "data");
      x.reset();
    }};
    server.reset();
    answering.join();
  }
  BOOST_TEST(server == nullptr);
}

BOOST_AUTO_TEST_CASE(stopping_waits_for_what_is_worked_on) {
  start();
  auto idle = client();
  BOOST_TEST(idle.ask(request("GET", "/hello")).status == 200u);
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  auto stopped =
    std::async(std::launch::async, [&] { return server->stop(30s); });
  BOOST_TEST(idle.at_end());
  x->reply({200, "text/plain", {}, "in time"});
  const auto y = c.hear();
  BOOST_TEST(y.body == "in time");
  BOOST_TEST(y.field("connection") == "close");
  BOOST_TEST(stopped.get());
  BOOST_TEST(server->stop(0s));
}

BOOST_AUTO_TEST_CASE(stopping_does_not_wait_longer_than_it_may) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  BOOST_TEST(!server->stop(1ms));
  BOOST_TEST(c.at_end());
  BOOST_TEST(server->counts().open_connections == 0u);
}

BOOST_AUTO_TEST_CASE(work_without_a_connection_runs_on_the_servers_threads) {
  start();
  std::promise<std::thread::id> ran;
  server->post([&] { ran.set_value(std::this_thread::get_id()); });
  BOOST_TEST((ran.get_future().get() != std::this_thread::get_id()));
  server->stop(0s);
  auto held = std::make_shared<int>(1);
  server->post([held] {});
  BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(many_clients_are_served_at_once) {
  start();
  std::atomic<int> good = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back([&, i] {
      auto c = client();
      for (int n = 0; n < 100; ++n) {
        const auto body = std::to_string(i) + "/" + std::to_string(n);
        good += c.ask(request("POST", "/echo", {}, body)).body == body;
      }
    });
  for (auto& x : all)
    x.join();
  BOOST_TEST(good == 800);
}

BOOST_AUTO_TEST_CASE(an_address_that_is_taken_is_told) {
  start();
  server_rig second;
  second.with.settings.listen = "127.0.0.1:" + std::to_string(port);
  second.with.routes = second.routes;
  const auto x = runtime::http::server::start(second.with);
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST((x.why().code == core::ec::unavailable));
  BOOST_TEST(has(x.why().text, "taken"));
}

BOOST_AUTO_TEST_CASE(addresses_that_cannot_be_are_told) {
  const auto code_at = [&](const std::string& listen) {
    with.settings.listen = listen;
    const auto x = runtime::http::server::start(with);
    BOOST_TEST_REQUIRE(!x, listen);
    return x.why().code;
  };
  BOOST_TEST((code_at("nonsense") == core::ec::bad_config));
  BOOST_TEST((code_at("no.such.host.invalid:1") == core::ec::bad_config));
  with.settings.without_key = "anywhere";
  BOOST_TEST((code_at("192.0.2.1:0") == core::ec::unavailable));
}

BOOST_AUTO_TEST_CASE(a_trace_is_handed_on_and_returned) {
  start();
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-";
  auto c = client();
  c.send(request("GET", "/kept",
                 "traceparent: " + trace + "00f067aa0ba902b7-01\r\n"));
  const auto x = kept.next();
  BOOST_TEST(x->asked().trace.starts_with(trace));
  BOOST_TEST(x->asked().trace.find("00f067aa0ba902b7") == std::string::npos);
  x->reply({200, "text/plain", {}, "kept"});
  BOOST_TEST(c.hear().field("traceparent") == x->asked().trace);
  // A malformed header is ignored.
  BOOST_TEST(c.ask(request("GET", "/hello", "traceparent: 00-0-0-0\r\n"))
               .field("traceparent")
             == "");
  // Refusals belong to the trace, too.
  BOOST_TEST(c.ask(request("GET", "/none",
                           "traceparent: " + trace + "00f067aa0ba902b7-00\r\n"))
               .field("traceparent")
               .starts_with(trace));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
