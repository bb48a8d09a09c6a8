// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/timeline_text.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <sstream>
#include <utility>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::timeline_event;
using json = nlohmann::json;
using kind = timeline_event::kind;

// Returns each line by itself, without its comma.
std::vector<json> events_in(const std::string& lines) {
  std::vector<json> all;
  std::istringstream in{lines};
  for (std::string line; std::getline(in, line);) {
    BOOST_REQUIRE(line.ends_with(","));
    line.pop_back();
    all.push_back(json::parse(line));
  }
  return all;
}

timeline_event span_of(uint64_t request) {
  timeline_event e;
  e.name = "queue";
  e.from = core::time_point{1500ns};
  e.to = core::time_point{2ms};
  e.request = core::request_id{request};
  return e;
}

} // namespace

BOOST_AUTO_TEST_SUITE(timeline_text_test)

BOOST_AUTO_TEST_CASE(a_requests_span_is_a_pair_under_its_number) {
  runtime::timeline_text sut;
  const auto got = events_in(sut.lines_of(span_of(7)));
  BOOST_REQUIRE(got.size() == 2u);
  BOOST_TEST(got[0]["ph"] == "b");
  BOOST_TEST(got[1]["ph"] == "e");
  for (const auto& e : got) {
    BOOST_TEST(e["id"] == "7");
    BOOST_TEST(e["cat"] == "request");
    BOOST_TEST(e["name"] == "queue");
  }
  BOOST_TEST(got[0]["ts"] == 1.5);
  BOOST_TEST(got[1]["ts"] == 2000);
}

BOOST_AUTO_TEST_CASE(a_worker_is_named_once_and_keeps_its_thread) {
  runtime::timeline_text sut;
  auto e = span_of(1);
  e.request.reset();
  e.track = actors::timeline_track{actors::role::denoise_step, 0, "cpu:0"};
  e.rows = {core::request_id{4}, core::request_id{9}};
  const auto first = events_in(sut.lines_of(e));
  BOOST_REQUIRE(first.size() == 3u);
  BOOST_TEST(first[0]["args"]["name"] == "cpu:0");
  const auto again = events_in(sut.lines_of(e));
  BOOST_REQUIRE(again.size() == 1u);
  BOOST_TEST(first[2]["ph"] == "X");
  BOOST_TEST(again[0]["tid"] == first[0]["tid"]);
  BOOST_TEST(first[2]["dur"] == 1998.5);
  BOOST_TEST(first[2]["args"]["requests"] == json({4, 9}));
  e.track = actors::timeline_track{actors::role::preprocess, 1, ""};
  const auto other = events_in(sut.lines_of(e));
  BOOST_TEST(other[0]["args"]["name"] == "preprocess 1");
  BOOST_TEST(other[0]["tid"] != first[0]["tid"]);
}

BOOST_AUTO_TEST_CASE(a_worker_does_one_thing_at_a_time) {
  runtime::timeline_text sut;
  timeline_event e;
  e.name = "steps";
  e.track = actors::timeline_track{actors::role::denoise_step, 0, "cpu:0"};
  const auto told = [&](core::timespan from, core::timespan to) {
    e.from = core::time_point{from};
    e.to = core::time_point{to};
    const auto x = events_in(sut.lines_of(e)).back();
    return std::pair{x["ts"].get<double>(), x["dur"].get<double>()};
  };
  BOOST_TEST((told(1us, 10us) == std::pair{1.0, 9.0}));
  BOOST_TEST((told(8us, 20us) == std::pair{10.0, 10.0}));
  BOOST_TEST((told(12us, 15us) == std::pair{15.0, 0.0}));
  BOOST_TEST((told(20us, 21us) == std::pair{20.0, 1.0}));
}

BOOST_AUTO_TEST_CASE(what_callers_write_cannot_break_a_line) {
  runtime::timeline_text sut;
  auto e = span_of(1);
  e.type = kind::accepted;
  e.texts.emplace_back("trace", "\"},\n\xff\x01");
  const auto got = events_in(sut.lines_of(e));
  BOOST_REQUIRE(got.size() == 1u);
  BOOST_TEST(got[0]["args"]["trace"] == "\"},\n\xef\xbf\xbd\x01");
}

BOOST_AUTO_TEST_CASE(begin_and_end_make_one_array) {
  runtime::timeline_text sut;
  const auto whole =
    json::parse(runtime::timeline_text::begin() + sut.lines_of(span_of(1))
                + runtime::timeline_text::end(core::time_point{3ms}, 1, 5));
  BOOST_TEST(whole.back()["args"]["left_out"] == 5);
  BOOST_TEST(whole.back()["ts"] == 3000);
}

BOOST_AUTO_TEST_SUITE_END()
