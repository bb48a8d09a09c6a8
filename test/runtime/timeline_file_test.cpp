// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/timeline_file.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::timeline_event;
using core::ec;
using json = nlohmann::json;
using runtime::timeline_file;

struct folder {
  folder() {
    std::filesystem::create_directories(where);
  }

  ~folder() {
    std::filesystem::remove_all(where);
  }

  std::string file(const std::string& name) const {
    return (where / name).string();
  }

  const std::filesystem::path where =
    std::filesystem::temp_directory_path()
    / ("atelier-timeline-" + std::to_string(getpid()));
};

std::string read(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

timeline_event wait_of(uint64_t request) {
  timeline_event e;
  e.name = "queue";
  e.request = core::request_id{request};
  e.to = core::time_point{1ms};
  return e;
}

std::shared_ptr<timeline_file> opened(const std::string& path,
                                      config::timeline_settings within = {}) {
  auto x = timeline_file::open(path, within);
  if (!x)
    BOOST_FAIL(core::to_string(x.why()));
  return std::move(*x);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(timeline_file_test, folder)

BOOST_AUTO_TEST_CASE(what_is_added_stands_in_the_file) {
  const auto path = file("a.json");
  const auto sut = opened(path);
  for (uint64_t i = 1; i <= 1000; ++i)
    sut->add(wait_of(i));
  sut->close();
  const auto all = json::parse(read(path));
  size_t begun = 0;
  for (const auto& e : all)
    begun += e["ph"] == "b" ? 1u : 0u;
  BOOST_TEST(begun == 1000u);
  BOOST_TEST(all.back()["args"]["events"] == 1000);
  BOOST_TEST(all.back()["args"]["left_out"] == 0);
  BOOST_TEST(sut->count().events == 1000u);
}

BOOST_AUTO_TEST_CASE(the_file_is_bounded_and_says_what_it_lacks) {
  const auto path = file("a.json");
  config::timeline_settings within;
  within.file_bytes = 20'000;
  const auto sut = opened(path, within);
  for (uint64_t i = 1; i <= 1000; ++i)
    sut->add(wait_of(i));
  sut->close();
  BOOST_TEST(std::filesystem::file_size(path) <= within.file_bytes);
  const auto all = json::parse(read(path));
  const auto& end = all.back()["args"];
  BOOST_TEST(end["left_out"].get<int>() > 0);
  BOOST_TEST(end["events"].get<int>() > 0);
  BOOST_TEST(end["events"].get<int>() + end["left_out"].get<int>() == 1000);
  BOOST_TEST(sut->count().dropped == end["left_out"].get<uint64_t>());
}

BOOST_AUTO_TEST_CASE(what_waits_is_bounded) {
  config::timeline_settings within;
  within.events = 1;
  const auto sut = opened(file("a.json"), within);
  // A million events arrive faster than they can be written.
  constexpr uint64_t many = 1'000'000;
  for (uint64_t i = 1; i <= many; ++i)
    sut->add(wait_of(i));
  sut->close();
  const auto all = sut->count();
  BOOST_TEST(all.dropped > 0u);
  BOOST_TEST(all.events + all.dropped == many);
}

BOOST_AUTO_TEST_CASE(what_comes_after_the_end_is_left_out) {
  const auto path = file("a.json");
  const auto sut = opened(path);
  sut->close();
  const auto before = read(path);
  sut->add(wait_of(1));
  sut->close();
  BOOST_TEST(read(path) == before);
  BOOST_TEST(sut->count().dropped == 1u);
}

BOOST_AUTO_TEST_CASE(a_timeline_is_replaced_another_file_is_not) {
  const auto path = file("a.json");
  opened(path)->close();
  opened(path)->close();
  BOOST_TEST(json::parse(read(path)).is_array());
  write(path, "model weights");
  const auto refused = timeline_file::open(path, {});
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.why().code == ec::invalid_argument));
  BOOST_TEST(refused.why().text.find(path) != std::string::npos);
  BOOST_TEST(read(path) == "model weights");
}

BOOST_AUTO_TEST_CASE(one_file_has_one_writer) {
  const auto path = file("a.json");
  const auto first = opened(path);
  const auto second = timeline_file::open(path, {});
  BOOST_REQUIRE(!second);
  BOOST_TEST((second.why().code == ec::invalid_argument));
}

BOOST_AUTO_TEST_CASE(what_is_no_regular_file_is_refused) {
  const auto folder_there = timeline_file::open(where.string(), {});
  BOOST_REQUIRE(!folder_there);
  BOOST_TEST((folder_there.why().code == ec::io_failed));
  const auto device = timeline_file::open("/dev/null", {});
  BOOST_REQUIRE(!device);
  BOOST_TEST((device.why().code == ec::invalid_argument));
  const auto nowhere = timeline_file::open(file("no/a.json"), {});
  BOOST_REQUIRE(!nowhere);
  BOOST_TEST((nowhere.why().code == ec::io_failed));
}

BOOST_AUTO_TEST_SUITE_END()
