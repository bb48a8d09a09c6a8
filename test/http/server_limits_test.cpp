// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/open_files.hpp>
#include <atelier/runtime/http/metrics.hpp>

#include <boost/test/unit_test.hpp>
#include <http/server_rig.hpp>

#include <sys/resource.h>

#include <future>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;

bool has_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(server_limits_test, server_rig)

BOOST_AUTO_TEST_CASE(routes_without_a_body_keep_none) {
  with.settings.body_bytes = with.settings.bodies_bytes = 1'000'000;
  routes->add({"POST", "/bare", runtime::http::scope::user,
               runtime::http::error_shape::openai,
               [](const auto& x) {
                 x->reply({200, "text/plain", {}, '[' + x->asked().body + ']'});
               },
               false});
  start();
  std::vector<plain_client> all;
  for (const auto& head :
       {request("GET", "/hello", "Content-Length: 1000000\r\n"),
        request("POST", "/bare", "Content-Length: 1000000\r\n")})
    for (int i = 0; i < 3; ++i) {
      all.push_back(client());
      all.back().send(head + std::string(999'999, 'x'));
    }
  BOOST_TEST(ask(request("POST", "/echo", {}, std::string(500'000, 'x'))).status
             == 200u);
  for (auto& c : all) {
    c.send("x");
    BOOST_TEST(c.hear().status == 200u);
    BOOST_TEST(c.ask(request("GET", "/hello")).body == "hello");
  }
  BOOST_TEST(ask(request("POST", "/bare", {}, "{}")).body == "[]");
  BOOST_TEST(
    ask(request("POST", "/bare", {}, std::string(1'000'001, 'x'))).status
    == 413u);
}

BOOST_AUTO_TEST_CASE(a_body_that_was_read_is_free) {
  with.settings.body_bytes = 100'000;
  start();
  auto c = client();
  c.send(request("POST", "/kept", {}, std::string(100'000, 'x')));
  const auto x = kept.next();
  BOOST_TEST(server->counts().body_bytes_held == 100'000u);
  x->drop_body();
  BOOST_TEST(server->counts().body_bytes_held == 0u);
  x->reply({});
  BOOST_TEST(c.hear().status == 200u);
}

BOOST_AUTO_TEST_CASE(a_key_leaves_others_their_share_of_the_bodies) {
  with.settings.body_bytes = 100'000;
  with.settings.bodies_bytes = 400'000;
  const auto key = [](const std::string& name) {
    return runtime::http::access_key{name, core::sha256_hex(name)};
  };
  with.callers = std::make_shared<runtime::http::access>(
    std::vector{key("ann"), key("bob")});
  start();
  const auto body = std::string(100'000, 'x');
  std::vector<plain_client> all;
  std::vector<std::shared_ptr<runtime::http::exchange>> held;
  for (int i = 0; i < 3; ++i) {
    all.push_back(client());
    all.back().send(request("POST", "/kept", "X-API-Key: ann\r\n", body));
    held.push_back(kept.next());
  }
  const auto more = ask(request("POST", "/echo", "X-API-Key: ann\r\n", body));
  BOOST_TEST(more.status == 503u);
  BOOST_TEST(more.field("retry-after") == "1");
  BOOST_TEST(ask(request("POST", "/echo", "X-API-Key: bob\r\n", body)).status
             == 200u);
  for (auto& x : held)
    x->reply({});
}

BOOST_AUTO_TEST_CASE(large_bodies_are_read_apart_from_other_requests) {
  with.settings.threads = 1;
  std::promise<void> reading;
  std::promise<void> go_on;
  add("POST", "/slow", [&](const auto& x) {
    reading.set_value();
    go_on.get_future().wait();
    x->reply({200, "text/plain", {}, "read"});
  });
  start();
  auto c = client();
  c.send(request("POST", "/slow", {}, std::string(300'000, 'x')));
  reading.get_future().wait();
  auto other = client();
  other.send(request("GET", "/hello"));
  // Else it would wait for the first one.
  const auto x = other.hear();
  go_on.set_value();
  BOOST_TEST(x.body == "hello");
  BOOST_TEST(c.hear().body == "read");
}

BOOST_AUTO_TEST_CASE(a_client_that_reads_too_slowly_is_cut_off) {
  with.settings.idle = 500ms;
  with.pace_bytes = 1 << 30;
  add("GET", "/large", [](const auto& x) {
    x->reply({200, "text/plain", {}, std::string(128 << 20, 'x')});
  });
  start();
  plain_client c{port, false, 4096};
  c.send(request("GET", "/large"));
  // Each read lets the server write a little more.
  BOOST_TEST(c.hear(true).status == 200u);
  BOOST_TEST(eventually([&] {
    c.read_some();
    return server->counts().timed_out == 1;
  }));
}

BOOST_AUTO_TEST_CASE(replies_that_wait_together_have_a_limit) {
  with.settings.replies_bytes = 100 << 20;
  add("GET", "/large", [](const auto& x) {
    x->reply({200, "text/plain", {}, std::string(30 << 20, 'x')});
  });
  start();
  std::vector<plain_client> slow;
  for (int i = 0; i < 2; ++i) {
    slow.emplace_back(port, false, 4096);
    slow.back().send(request("GET", "/large"));
    BOOST_TEST(slow.back().hear(true).status == 200u);
  }
  BOOST_TEST(server->counts().reply_bytes_held >= 60u << 20);
  const auto x = ask(request("GET", "/large"));
  BOOST_TEST(x.status == 503u);
  BOOST_TEST(x.field("retry-after") == "1");
  BOOST_TEST(has_part(x.body, "replies"));
  BOOST_TEST(ask(request("GET", "/hello")).status == 200u);
  slow.clear();
  BOOST_TEST(
    eventually([&] { return server->counts().reply_bytes_held == 0; }));
  BOOST_TEST(ask(request("GET", "/large")).body.size() == 30u << 20);
}

struct shares_rig : server_rig {
  shares_rig() {
    with.settings.replies_bytes = 100 << 20;
    for (const auto& [path, bytes] : {std::pair{"/large", size_t{30 << 20}},
                                      std::pair{"/medium", size_t{10 << 20}}})
      add("GET", path, [bytes = bytes](const auto& x) {
        x->reply({200, "text/plain", {}, std::string(bytes, 'x')});
      });
  }

  /// Has one client hold most of its room, and the room beyond its share.
  void fill(const std::string& as) {
    for (const auto* path : {"/large", "/large", "/medium"}) {
      slow.emplace_back(port, false, 4096);
      slow.back().send(request("GET", path, as));
      BOOST_TEST(slow.back().hear(true).status == 200u);
    }
  }

  unsigned status(const std::string& as) {
    return ask(request("GET", "/medium", as)).status;
  }

  std::vector<plain_client> slow;
  const std::string one = "X-Forwarded-For: 192.0.2.7\r\n";
  const std::string other = "X-Forwarded-For: 192.0.2.8\r\n";
};

BOOST_FIXTURE_TEST_CASE(clients_of_a_trusted_proxy_have_shares_of_their_own,
                        shares_rig) {
  with.settings.trusted_proxies = {"127.0.0.1"};
  start();
  fill(one);
  BOOST_TEST(status(one) == 503u);
  BOOST_TEST(status("Forwarded: for=192.0.2.7\r\n") == 503u);
  // What stands before the address that the proxy added may be invented.
  BOOST_TEST(status("X-Forwarded-For: 192.0.2.8, 192.0.2.7\r\n") == 503u);
  BOOST_TEST(status(other) == 200u);
  BOOST_TEST(status("Forwarded: for=192.0.2.9\r\n") == 200u);
}

BOOST_FIXTURE_TEST_CASE(fields_of_an_untrusted_peer_give_no_other_share,
                        shares_rig) {
  with.settings.trusted_proxies = {"192.0.2.0/24"};
  start();
  fill(one);
  for (const auto& as : {one, other, std::string{}})
    BOOST_TEST(status(as) == 503u);
}

BOOST_AUTO_TEST_CASE(few_open_files_allow_fewer_connections) {
  using runtime::http::detail::connections_within;
  BOOST_TEST(connections_within(8192, 1'048'576) == 8192u);
  BOOST_TEST(connections_within(8192, 1024) == 768u);
  BOOST_TEST(connections_within(8192, 100) == 50u);
  BOOST_TEST(connections_within(10, 1024) == 10u);
  rlimit before{};
  BOOST_TEST_REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  auto few = before;
  few.rlim_cur = 200;
  BOOST_TEST_REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  start();
  // The clients are in this process, too.
  BOOST_TEST_REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  std::vector<plain_client> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(client());
    BOOST_REQUIRE(all.back().ask(request("GET", "/hello")).status == 200u);
  }
  auto more = client();
  BOOST_TEST(more.hear().status == 503u);
}

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
