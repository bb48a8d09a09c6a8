// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>
#include <http/server_rig.hpp>

#include <future>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;

} // namespace

BOOST_FIXTURE_TEST_SUITE(server_events_test, server_rig)

BOOST_AUTO_TEST_CASE(events_come_as_they_are_told) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  x->begin_events();
  const auto head = c.read_until("\r\n\r\n");
  BOOST_TEST(head.starts_with("HTTP/1.1 200 OK\r\n"));
  for (const auto* line :
       {"Content-Type: text/event-stream\r\n", "Cache-Control: no-cache\r\n",
        "Transfer-Encoding: chunked\r\n"})
    BOOST_TEST((head.find(line) != std::string::npos), line);
  x->event("step", "1");
  BOOST_TEST(c.read_until("\n\n\r\n") == "15\r\nevent: step\ndata: 1\n\n\r\n");
  x->event("", "a\nb");
  BOOST_TEST(c.read_until("\n\n\r\n") == "11\r\ndata: a\ndata: b\n\n\r\n");
  BOOST_TEST(server->counts().open_streams == 1u);
  x->end_events();
  x->event("late", "x");
  BOOST_TEST(c.read_until("0\r\n\r\n") == "0\r\n\r\n");
  // The connection stays open.
  BOOST_TEST(c.ask(request("GET", "/hello")).body == "hello");
  BOOST_TEST(server->counts().open_streams == 0u);
}

BOOST_AUTO_TEST_CASE(many_events_come_whole_and_in_order) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  x->begin_events();
  std::string wanted;
  for (int i = 0; i < 2000; ++i) {
    x->event("n", std::to_string(i));
    wanted += "event: n\ndata: " + std::to_string(i) + "\n\n";
  }
  x->end_events();
  BOOST_TEST((c.hear().body == wanted));
}

BOOST_AUTO_TEST_CASE(an_old_client_has_its_stream_without_chunks) {
  start();
  auto c = client();
  c.send("GET /kept HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto x = kept.next();
  x->begin_events();
  x->event("", "a");
  x->end_events();
  const auto y = c.hear();
  BOOST_TEST(y.field("connection") == "close");
  BOOST_TEST(y.field("transfer-encoding").empty());
  BOOST_TEST(y.body == "data: a\n\n");
}

BOOST_AUTO_TEST_CASE(the_head_of_a_stream_comes_alone) {
  start();
  auto c = client();
  c.send(request("HEAD", "/kept"));
  const auto x = kept.next();
  std::promise<void> gone;
  x->on_gone([&] { gone.set_value(); });
  x->begin_events();
  BOOST_TEST_REQUIRE(
    (gone.get_future().wait_for(30s) == std::future_status::ready));
  x->event("", "a");
  BOOST_TEST(c.hear(true).field("content-type") == "text/event-stream");
  BOOST_TEST(c.at_end());
  BOOST_TEST(server->counts().open_streams == 0u);
}

BOOST_AUTO_TEST_CASE(a_stream_that_rests_shows_a_sign_of_life) {
  with.heartbeat = 1ms;
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  x->begin_events();
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(c.read_until("3\r\n:\n\n\r\n").ends_with("3\r\n:\n\n\r\n"));
  x->event("", "a");
  BOOST_TEST(c.read_until("data: a\n\n\r\n").ends_with("data: a\n\n\r\n"));
  BOOST_TEST(c.read_until("3\r\n:\n\n\r\n").ends_with("3\r\n:\n\n\r\n"));
}

BOOST_AUTO_TEST_CASE(a_listener_that_goes_is_noticed) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  std::promise<void> gone;
  x->on_gone([&] { gone.set_value(); });
  x->begin_events();
  BOOST_TEST((c.hear(true).status == 200u));
  c.reset();
  BOOST_TEST_REQUIRE(
    (gone.get_future().wait_for(30s) == std::future_status::ready));
  x->event("", "a");
}

BOOST_AUTO_TEST_CASE(a_listener_that_sends_no_more_still_hears) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  x->begin_events();
  BOOST_TEST((c.hear(true).status == 200u));
  c.shut();
  // A sign of life shows that the server has seen it.
  BOOST_TEST(c.read_until("3\r\n:\n\n\r\n").ends_with("3\r\n:\n\n\r\n"));
  x->event("", "a");
  x->end_events();
  BOOST_TEST(c.read_until("data: a\n\n\r\n").ends_with("data: a\n\n\r\n"));
  BOOST_TEST(c.read_until("0\r\n\r\n").ends_with("0\r\n\r\n"));
  BOOST_TEST(c.at_end());
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_given_up_ends) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  auto x = kept.next();
  x->begin_events();
  BOOST_TEST(c.hear(true).status == 200u);
  x.reset();
  BOOST_TEST(c.at_end());
}

BOOST_AUTO_TEST_CASE(a_listener_that_does_not_read_is_cut_off) {
  with.settings.unsent_bytes = 1 << 20;
  start();
  plain_client c{port, false, 4096};
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  std::promise<void> gone;
  auto went = gone.get_future();
  x->on_gone([&] { gone.set_value(); });
  x->begin_events();
  // The sockets' own buffers take some megabytes first.
  const std::string data(1 << 16, 'x');
  for (int i = 0; i < 2000 && went.wait_for(0s) != std::future_status::ready;
       ++i)
    x->event("", data);
  BOOST_TEST_REQUIRE((went.wait_for(30s) == std::future_status::ready));
  BOOST_TEST(server->counts().timed_out == 1u);
  BOOST_TEST(
    eventually([&] { return server->counts().open_connections == 0; }));
}

BOOST_AUTO_TEST_CASE(a_stream_knows_how_much_may_wait_for_its_client) {
  with.settings.unsent_bytes = 5 << 20;
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  BOOST_TEST(kept.next()->unread_limit() == 5u << 20);
}

BOOST_AUTO_TEST_CASE(a_listener_that_stalls_is_cut_off) {
  with.settings.idle = 50ms;
  start();
  plain_client c{port, false, 4096};
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  std::promise<void> gone;
  x->on_gone([&] { gone.set_value(); });
  x->begin_events();
  x->event("", std::string(16 << 20, 'x'));
  BOOST_TEST_REQUIRE(
    (gone.get_future().wait_for(30s) == std::future_status::ready));
  BOOST_TEST(server->counts().timed_out == 1u);
}

BOOST_AUTO_TEST_CASE(stopping_ends_streams_at_last) {
  start();
  auto c = client();
  c.send(request("GET", "/kept"));
  const auto x = kept.next();
  x->begin_events();
  BOOST_TEST(c.hear(true).status == 200u);
  BOOST_TEST(!server->stop(1ms));
  BOOST_TEST(c.at_end());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
