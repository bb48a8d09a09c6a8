// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/core/log_control.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace atelier::core;

namespace {

// A file that the log writes to and the test reads.
class log_file {
public:
  log_file() : file_(std::tmpfile(), &std::fclose) {
    BOOST_REQUIRE(file_ != nullptr);
  }

  ~log_file() {
    stop_log();
  }

  std::FILE* get() {
    return file_.get();
  }

  // Stops the log and returns its lines.
  std::string text() {
    stop_log();
    std::rewind(get());
    std::string all;
    for (int c = std::fgetc(get()); c != EOF; c = std::fgetc(get()))
      all += static_cast<char>(c);
    return all;
  }

private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(log_test)

BOOST_AUTO_TEST_CASE(lines_carry_level_and_role) {
  log_file file;
  BOOST_REQUIRE(start_log("info", "con%trol", file.get()));
  log_info("request {} arrived", 7);
  log_error("{}", "gone");
  const auto text = file.text();
  BOOST_TEST(contains(text, " info con%trol["));
  BOOST_TEST(contains(text, "] request 7 arrived\n"));
  BOOST_TEST(contains(text, " error con%trol["));
}

BOOST_AUTO_TEST_CASE(lines_below_the_level_are_not_written) {
  log_file file;
  BOOST_REQUIRE(start_log("warn", "test", file.get()));
  BOOST_TEST(!log_enabled(log_level::info));
  BOOST_TEST(log_enabled(log_level::warn));
  BOOST_TEST(!log_enabled(log_level::off));
  log_trace("one");
  log_debug("two");
  log_info("three");
  log_warn("four");
  const auto text = file.text();
  BOOST_TEST(!contains(text, "three"));
  BOOST_TEST(contains(text, "four"));
}

BOOST_AUTO_TEST_CASE(control_characters_cannot_forge_lines) {
  log_file file;
  BOOST_REQUIRE(start_log("info", "test", file.get()));
  log_info("{}", "a\nb\x1b[31m{} \xC3\xBC");
  BOOST_TEST(contains(file.text(), "a\\x0ab\\x1b[31m{} \xC3\xBC\n"));
}

BOOST_AUTO_TEST_CASE(unknown_level_is_refused_by_name) {
  const auto verdict = start_log("loud", "test");
  BOOST_REQUIRE(!verdict);
  BOOST_TEST((verdict.why().code == ec::bad_config));
  BOOST_TEST(
    verdict.why().text
    == "log level 'loud' is not one of trace, debug, info, warn, error, "
       "off");
}

BOOST_AUTO_TEST_CASE(off_starts_nothing) {
  BOOST_TEST(static_cast<bool>(start_log("off", "test")));
  BOOST_TEST(!log_enabled(log_level::error));
  log_error("into the void");
}

BOOST_AUTO_TEST_CASE(second_start_is_refused_until_stopped) {
  log_file file;
  BOOST_REQUIRE(start_log("info", "test", file.get()));
  BOOST_TEST(!start_log("info", "test", file.get()));
  stop_log();
  BOOST_TEST(static_cast<bool>(start_log("info", "test", file.get())));
}

BOOST_AUTO_TEST_CASE(many_threads_may_write_while_it_stops) {
  log_file file;
  BOOST_REQUIRE(start_log("info", "test", file.get()));
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t)
    writers.emplace_back([t] {
      for (int i = 0; i < 5000; ++i)
        log_info("writer {} line {}", t, i);
    });
  stop_log();
  for (auto& writer : writers)
    writer.join();
  BOOST_TEST(!log_enabled(log_level::info));
}

BOOST_AUTO_TEST_CASE(the_level_of_a_running_log_can_be_changed) {
  log_file file;
  BOOST_REQUIRE(start_log("warn", "control", file.get()));
  log_info("one");
  BOOST_REQUIRE(set_log_threshold("info"));
  BOOST_TEST((log_threshold() == log_level::info));
  log_info("two");
  BOOST_REQUIRE(set_log_threshold("off"));
  log_error("three");
  BOOST_REQUIRE(set_log_threshold("trace"));
  log_error("four");
  const auto refused = set_log_threshold("loud");
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.why().code == ec::invalid_argument));
  const auto text = file.text();
  BOOST_TEST(!contains(text, "one"));
  BOOST_TEST(contains(text, "two"));
  BOOST_TEST(!contains(text, "three"));
  BOOST_TEST(contains(text, "four"));
}

BOOST_AUTO_TEST_CASE(no_level_can_be_set_where_no_log_runs) {
  const auto refused = set_log_threshold("info");
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.why().code == ec::unavailable));
  BOOST_TEST((log_threshold() == log_level::off));
}

BOOST_AUTO_TEST_SUITE_END()
