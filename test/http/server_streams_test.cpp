// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/job_routes.hpp>

#include <boost/test/unit_test.hpp>
#include <http/server_rig.hpp>
#include <http_api/support/job_rig.hpp>

#include <future>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;

constexpr size_t mib = 1 << 20;

bool has_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// A server with the routes of jobs. The jobs end after the server.
struct streams_rig : job_rig, server_rig {
  streams_rig() {
    images->bytes_of = [this](const auto&) { return image; };
    runtime::http::api_context context;
    context.images = images;
    context.wall = clocks().wall;
    context.draw = clocks().draw;
    add_job_routes(*routes, all, context);
    with.settings.replies_bytes = 40 * mib;
  }

  ~streams_rig() {
    server.reset();
  }

  plain_client listener() const {
    auto out = client();
    out.send(request("GET", "/v1/jobs/mine/events?images=b64_json"));
    return out;
  }

  /// Its text has 16 MiB, more than sockets keep.
  const std::vector<uint8_t> image = std::vector<uint8_t>(12 * mib, 7);
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(server_streams_test, streams_rig)

BOOST_AUTO_TEST_CASE(image_that_many_streams_wait_for_is_held_once) {
  start();
  BOOST_TEST_REQUIRE(
    ask(request("POST", "/v1/jobs", {}, R"({"prompt": "a", "id": "mine"})"))
      .status
    == 202u);
  std::vector<plain_client> all_that_listen;
  for (int i = 0; i < 8; ++i)
    all_that_listen.push_back(listener());
  BOOST_TEST_REQUIRE(
    eventually([&] { return server->counts().open_streams == 8; }));
  images->finish(1);
  BOOST_TEST(server->counts().reply_bytes_held >= 16 * mib);
  BOOST_TEST(server->counts().reply_bytes_held < 17 * mib);
  // Late listeners wait for the same text.
  for (int i = 0; i < 4; ++i)
    all_that_listen.push_back(listener());
  BOOST_TEST(eventually([&] { return server->counts().requests == 13; }));
  const auto encoded = runtime::http::to_base64(image);
  for (auto& x : all_that_listen) {
    BOOST_TEST(server->counts().reply_bytes_held < 17 * mib);
    const auto heard = x.hear();
    BOOST_TEST(heard.status == 200u);
    BOOST_TEST(has_part(heard.body, "event: image\ndata: {\"index\":0,"));
    BOOST_TEST(has_part(heard.body, "\"b64_json\":\"" + encoded + "\"}\n\n"));
    BOOST_TEST(has_part(heard.body, "event: completed\n"));
    BOOST_TEST(!has_part(heard.body, "event: error\n"));
  }
  BOOST_TEST(
    eventually([&] { return server->counts().reply_bytes_held == 0; }));
}

BOOST_AUTO_TEST_CASE(stream_without_room_ends_with_an_error) {
  start();
  const std::string large(20 * mib, 'x');
  auto slow = client();
  slow.send(request("GET", "/kept"));
  const auto first = kept.next();
  first->begin_events();
  first->event("large", large);
  first->end_events();
  BOOST_TEST(server->counts().reply_bytes_held >= 20 * mib);
  auto late = client();
  late.send(request("GET", "/kept"));
  const auto second = kept.next();
  std::promise<void> gone;
  second->on_gone([&] { gone.set_value(); });
  second->begin_events();
  // A later event would replace this one.
  second->passing_event("preview", large);
  second->event("small", "1");
  second->event("large", large);
  second->event("small", "2");
  BOOST_TEST_REQUIRE(
    (gone.get_future().wait_for(30s) == std::future_status::ready));
  const auto heard = late.hear();
  BOOST_TEST(heard.status == 200u);
  BOOST_TEST(heard.body
             == "event: small\ndata: 1\n\n"
                "event: error\ndata: {\"type\":\"error\",\"error\":"
                "{\"code\":\"overloaded\",\"message\":\"too many events wait "
                "to be read at the moment: ask again\"}}\n\n");
  BOOST_TEST(late.at_end());
  BOOST_TEST(server->counts().reply_bytes_held < 21 * mib);
  // Who reads on loses nothing, and makes room.
  BOOST_TEST(slow.hear().body.size() > large.size());
  BOOST_TEST_REQUIRE(
    eventually([&] { return server->counts().reply_bytes_held == 0; }));
  auto again = client();
  again.send(request("GET", "/kept"));
  const auto third = kept.next();
  third->begin_events();
  third->event("large", large);
  third->end_events();
  BOOST_TEST(again.hear().body.size() > large.size());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
