// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/access_log.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace atelier::runtime::http {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct fixture {
  fixture() {
    fs::create_directory(folder);
  }

  ~fixture() {
    fs::remove_all(folder);
  }

  std::unique_ptr<access_log> open() const {
    auto x = access_log::open(file.string(), [] {
      return std::chrono::system_clock::time_point{1'700'000'000s + 250ms};
    });
    BOOST_TEST_REQUIRE(x.operator bool());
    return std::move(*x);
  }

  static std::string text_of(const fs::path& path) {
    std::ostringstream out;
    out << std::ifstream{path}.rdbuf();
    return out.str();
  }

  fs::path folder = fs::temp_directory_path()
                  / ("atelier-access-log-" + std::to_string(getpid()));
  fs::path file = folder / "access.log";
};

constexpr answered_request request{"192.0.2.7", "ann", "POST", "/v1/jobs",
                                   202,         512,   0.25,   "req_1"};

} // namespace

BOOST_FIXTURE_TEST_SUITE(access_log_test, fixture)

BOOST_AUTO_TEST_CASE(a_request_is_a_line) {
  open()->note(request);
  BOOST_TEST(text_of(file)
             == "2023-11-14T22:13:20.250Z 192.0.2.7 ann POST /v1/jobs 202 512 "
                "0.250000 req_1\n");

  struct stat about {};

  BOOST_TEST(stat(file.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777) == 0600u);
}

BOOST_AUTO_TEST_CASE(no_client_forges_a_line_or_a_field) {
  auto x = request;
  x.key = {};
  x.path = "/a b\n2023 \x1b[2J\xc3\xa9";
  open()->note(x);
  BOOST_TEST(text_of(file)
             == "2023-11-14T22:13:20.250Z 192.0.2.7 - POST "
                "/a%20b%0A2023%20%1B[2J%C3%A9 202 512 0.250000 req_1\n");
}

BOOST_AUTO_TEST_CASE(a_file_that_was_renamed_is_opened_anew) {
  const auto log = open();
  log->note(request);
  fs::rename(file, folder / "old");
  BOOST_TEST(log->reopen().operator bool());
  BOOST_TEST(fs::exists(file));
}

BOOST_AUTO_TEST_CASE(lines_are_added_to_what_is_there) {
  open()->note(request);
  open()->note(request);
  const auto text = text_of(file);
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 2);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_opened_is_told) {
  const auto x = access_log::open((folder / "none" / "x").string(), [] {
    return std::chrono::system_clock::time_point{};
  });
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST(x.why().text.starts_with("http.access_log: cannot open "));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
