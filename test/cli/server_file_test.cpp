// SPDX-License-Identifier: Apache-2.0
#include "scratch_folder.hpp"
#include <atelier/runtime/cli/server_file.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>
#include <unistd.h>

using namespace atelier;
using namespace atelier::runtime::cli;

BOOST_FIXTURE_TEST_SUITE(server_file_test, test::scratch_folder)

BOOST_AUTO_TEST_CASE(a_place_is_read_back) {
  const auto file = server_file(path / "new" / "data");
  BOOST_TEST_REQUIRE(
    write_server_file(file, {"http://127.0.0.1:1", 42}).operator bool());

  struct stat about {};

  BOOST_TEST_REQUIRE(stat(file.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 07777) == 0600u);
  const auto there = read_server_file(file);
  BOOST_TEST_REQUIRE(there.operator bool());
  BOOST_TEST_REQUIRE(there->has_value());
  BOOST_TEST((*there)->url == "http://127.0.0.1:1");
  BOOST_TEST((*there)->pid == 42);
}

BOOST_AUTO_TEST_CASE(a_place_tells_when_its_process_began) {
  const auto began = start_of(getpid());
  BOOST_TEST(began > 0u);
  BOOST_TEST(start_of(getppid()) <= began);
  BOOST_TEST(start_of(0) == 0u);
  const auto file = server_file(path);
  BOOST_TEST_REQUIRE(write_server_file(file, {"a", getpid()}).operator bool());
  BOOST_TEST(read_server_file(file)->value().started == began);
  // A file of an earlier program lacks it.
  write("server.json", R"({"url":"a","pid":42})");
  BOOST_TEST(read_server_file(file)->value().started == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_of_another_server_is_kept) {
  const auto file = server_file(path);
  BOOST_TEST_REQUIRE(write_server_file(file, {"a", 42}).operator bool());
  BOOST_TEST_REQUIRE(write_server_file(file, {"b", 43}).operator bool());
  remove_server_file(file, 42);
  BOOST_TEST(std::filesystem::exists(file));
  remove_server_file(file, 43);
  BOOST_TEST(!std::filesystem::exists(file));
  BOOST_TEST(!read_server_file(file)->has_value());
}

BOOST_AUTO_TEST_CASE(one_server_at_a_time_has_a_data_folder) {
  const auto data = path / "new" / "data";
  server_claim second;
  {
    server_claim first;
    BOOST_TEST(first.take(data).operator bool());
    BOOST_TEST(first.take(data).operator bool());
    const auto refused = second.take(data);
    BOOST_TEST_REQUIRE(!refused);
    BOOST_TEST((refused.why().code == core::ec::unavailable));
    BOOST_TEST(refused.why().text
               == "another server uses the data folder '" + data.string()
                    + "'");
    BOOST_TEST_REQUIRE(
      write_server_file(server_file(data), {"http://a", 7}).operator bool());
    BOOST_TEST(second.take(data).why().text.find(" (http://a, process 7) ")
               != std::string::npos);
  }
  BOOST_TEST(second.take(data).operator bool());
  write("file", "x");
  server_claim none;
  BOOST_TEST((none.take(path / "file").why().code == core::ec::io_failed));
}

BOOST_AUTO_TEST_CASE(nonsense_is_no_place) {
  for (const auto* text : {"", "{}", "[]", R"({"url":1,"pid":2})",
                           R"({"url":"a","pid":"b"})", R"({"url":"a"})"}) {
    write("server.json", text);
    BOOST_TEST(!read_server_file(server_file(path)), text);
  }
  // It opens and cannot be read.
  BOOST_TEST(!read_server_file(path));
}

BOOST_AUTO_TEST_CASE(a_place_that_cannot_be_written_is_told) {
  write("file", "x");
  BOOST_TEST(!write_server_file(path / "file" / "server.json", {"a", 1}));
}

BOOST_AUTO_TEST_CASE(only_this_program_is_this_program) {
  BOOST_TEST(!is_atelier(0));
  BOOST_TEST(!is_atelier(-1));
  BOOST_TEST(!is_atelier(getpid()));
}

BOOST_AUTO_TEST_SUITE_END()
