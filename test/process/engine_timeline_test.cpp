// SPDX-License-Identifier: Apache-2.0
#include "process/engine_fixture.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <support/eventually.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using json = nlohmann::json;
using test::mode;

struct file_of_run {
  ~file_of_run() {
    std::filesystem::remove(path);
  }

  // Returns the events of whole lines, whether the array is closed or not, as
  // viewers do.
  std::vector<json> events() const {
    std::vector<json> all;
    std::ifstream in{path, std::ios::binary};
    for (std::string line; std::getline(in, line);) {
      if (line.ends_with(","))
        line.pop_back();
      const auto e = json::parse(line, nullptr, false);
      if (e.is_object())
        all.push_back(e);
    }
    return all;
  }

  const std::string path =
    (std::filesystem::temp_directory_path()
     / ("atelier-engine-timeline-" + std::to_string(getpid()) + ".json"))
      .string();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_timeline_test, file_of_run)

BOOST_DATA_TEST_CASE(every_request_has_its_track,
                     boost::unit_test::data::make({mode::single, mode::split}),
                     how) {
  auto options = test::options_of(how);
  options.timeline = path;
  const auto sut = test::start(options);
  constexpr size_t count = 20;
  auto wanted = test::mixed_requests(count, 3);
  wanted[4].trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const auto answers = test::answers_to(*sut, wanted);
  BOOST_TEST(test::image_in(answers[4]).trace == wanted[4].trace);
  BOOST_REQUIRE(sut->stop(10s));
  std::ifstream in{path, std::ios::binary};
  const auto all = json::parse(in);
  std::map<std::string, int> depth;
  std::map<std::string, std::set<std::string>> parts;
  std::set<std::string> tracks;
  size_t traced = 0;
  for (const auto& e : all) {
    if (e["name"] == "thread_name")
      tracks.insert(e["args"]["name"].get<std::string>());
    if (e.contains("args") && e["args"].contains("trace")) {
      BOOST_TEST(e["args"]["trace"] == wanted[4].trace);
      ++traced;
    }
    if (!e.contains("id"))
      continue;
    const auto id = e["id"].get<std::string>();
    parts[id].insert(e["name"].get<std::string>());
    depth[id] += e["ph"] == "b" ? 1 : e["ph"] == "e" ? -1 : 0;
  }
  BOOST_TEST(traced == 1u);
  BOOST_TEST(depth.size() == count);
  for (const auto& [id, left] : depth) {
    BOOST_TEST(left == 0, "request " << id << " is not paired");
    for (const auto* part :
         {"queue", "preprocess", "denoise", "decode", "postprocess"})
      BOOST_TEST(parts[id].count(part) == 1u, part << " of " << id);
  }
  BOOST_TEST(tracks.count("cpu:0") == 1u);
  BOOST_TEST(tracks.count("preprocess 0") == 1u);
  BOOST_TEST(all.back()["args"]["left_out"] == 0);
}

BOOST_AUTO_TEST_CASE(work_on_a_device_does_not_overlap) {
  auto options = test::options_of(mode::split);
  options.timeline = path;
  const auto sut = test::start(options);
  test::answers_to(*sut, test::mixed_requests(30, 8));
  BOOST_REQUIRE(sut->stop(10s));
  std::map<int, std::vector<std::pair<double, double>>> busy;
  for (const auto& e : events())
    if (e["ph"] == "X")
      busy[e["tid"].get<int>()].emplace_back(
        e["ts"].get<double>(), e["ts"].get<double>() + e["dur"].get<double>());
  BOOST_TEST(!busy.empty());
  for (auto& [tid, spans] : busy) {
    std::sort(spans.begin(), spans.end());
    for (size_t i = 1; i < spans.size(); ++i)
      // The times may differ in the last digit.
      BOOST_TEST(spans[i].first >= spans[i - 1].second - 0.01);
  }
}

BOOST_AUTO_TEST_CASE(a_killed_device_and_what_resumes_are_drawn) {
  auto options =
    test::options_of(mode::split, {"devices[0].test_card_step_ms=20"});
  options.timeline = path;
  const auto sut = test::start(options);
  generation wanted;
  wanted.prompt = "a red circle";
  wanted.steps = 40;
  auto running = test::hand_in(*sut, wanted);
  // The file is written during the run, so it shows when steps happen.
  const auto steps = [&] {
    for (const auto& e : events())
      if (e["name"] == "steps")
        return true;
    return false;
  };
  BOOST_REQUIRE(test::eventually(steps));
  const auto pid = test::pid_of(*sut, "cpu:0");
  BOOST_REQUIRE(pid > 0);
  BOOST_REQUIRE(kill(pid, SIGKILL) == 0);
  test::image_in(test::await(running));
  BOOST_REQUIRE(sut->stop(10s));
  std::set<std::string> names;
  for (const auto& e : events())
    names.insert(e["name"].get<std::string>());
  BOOST_TEST(names.count("died") == 1u);
  BOOST_TEST(names.count("resumed") == 1u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_is_told_at_the_start) {
  auto options = test::options_of(mode::single);
  options.timeline = "/proc/none/timeline.json";
  const auto started = engine::start(options);
  BOOST_REQUIRE(std::holds_alternative<failure>(started));
  BOOST_TEST(std::get<failure>(started).code == "io_failed");
  BOOST_TEST(std::get<failure>(started).text.find(options.timeline)
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_trace_that_is_too_long_is_refused) {
  const auto sut = test::start(mode::single);
  generation wanted;
  wanted.trace = std::string(129, 'x');
  auto handed_in = sut->submit(wanted);
  BOOST_REQUIRE(std::holds_alternative<failure>(handed_in));
  BOOST_TEST(std::get<failure>(handed_in).code == "invalid_argument");
  BOOST_TEST(std::get<failure>(handed_in).text
             == "trace has 129 bytes, outside 0..128");
  wanted.trace = "a\nb";
  handed_in = sut->submit(wanted);
  BOOST_REQUIRE(std::holds_alternative<failure>(handed_in));
  BOOST_TEST(std::get<failure>(handed_in).text
             == "trace has the byte 0x0a at 1, outside 0x20..0x7e");
}

BOOST_AUTO_TEST_SUITE_END()
