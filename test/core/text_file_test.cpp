// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/text_file.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>
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
  BOOST_TEST(text.why().text == "it has more than 99999 bytes, the limit");
}

BOOST_AUTO_TEST_CASE(what_may_have_no_end_is_refused) {
  const auto why = [](const std::string& name) {
    const auto text = read_text_file(name, 1'000'000, "it");
    BOOST_REQUIRE(!text);
    BOOST_TEST((text.why().code == ec::io_failed));
    return text.why().text;
  };
  BOOST_TEST(why("/dev/zero")
             == "cannot read it: it is a device, not a regular file");
  BOOST_TEST(
    why("/proc/self/status")
    == "cannot read it: it is a file of the kernel, not one of a disk");
  const auto pipe = path + "-pipe";
  BOOST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  // No process writes to it.
  BOOST_TEST(why(pipe) == "cannot read it: it is a pipe, not a regular file");
  std::filesystem::remove(pipe);
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
