// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/text_file.hpp>

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using atelier::core::ec;
using atelier::core::read_text_file;

namespace {

struct one_file {
  one_file() {
    std::ofstream{path} << std::string(100'000, 'x');
  }

  ~one_file() {
    std::filesystem::remove(path);
  }

  const std::string path =
    (std::filesystem::temp_directory_path()
     / ("atelier-text-file-" + std::to_string(::getpid())))
      .string();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(text_file_test, one_file)

BOOST_AUTO_TEST_CASE(a_file_within_the_limit_is_read_whole) {
  const auto text = read_text_file(path, 100'000, "it");
  BOOST_REQUIRE(text);
  BOOST_TEST(*text == std::string(100'000, 'x'));
}

BOOST_AUTO_TEST_CASE(a_longer_one_is_refused_with_the_limit) {
  const auto text = read_text_file(path, 99'999, "it");
  BOOST_REQUIRE(!text);
  BOOST_TEST((text.why().code == ec::bad_payload));
  BOOST_TEST(text.why().text
             == "it has more than 99999 bytes, the most it may have");
}

BOOST_AUTO_TEST_CASE(a_file_without_end_or_size_is_read_no_further) {
  const auto text = read_text_file("/dev/zero", 1'000'000, "it");
  BOOST_REQUIRE(!text);
  BOOST_TEST((text.why().code == ec::bad_payload));
  const auto some = read_text_file("/proc/self/status", 1'000'000, "it");
  BOOST_REQUIRE(some);
  BOOST_TEST(some->find("Name:") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_says_why) {
  const auto none = read_text_file("/no/such/file", 10, "it");
  BOOST_REQUIRE(!none);
  BOOST_TEST((none.why().code == ec::io_failed));
  BOOST_TEST(none.why().text == "cannot read it: No such file or directory");
  BOOST_TEST(read_text_file("/", 10, "it").why().text
             == "cannot read it: Is a directory");
}

BOOST_AUTO_TEST_SUITE_END()
