// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/core/log_control.hpp>

#include <boost/test/unit_test.hpp>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace atelier::core;

namespace {

// A file that the log writes to and the test reads.
class log_file {
public:
  log_file() : file_(std::tmpfile(), &std::fclose) {
    BOOST_REQUIRE(file_ != nullptr);
  }

  std::FILE* get() {
    return file_.get();
  }

  // Starts a log that writes to it.
  void start(std::string_view level, std::string_view role = "test") {
    auto log = start_log(level, role, get());
    BOOST_REQUIRE(log);
    log_ = std::move(*log);
  }

  void stop() {
    log_.reset();
  }

  // Stops the log and returns the file's lines.
  std::string text() {
    stop();
    std::rewind(get());
    std::string all;
    for (int c = std::fgetc(get()); c != EOF; c = std::fgetc(get()))
      all += static_cast<char>(c);
    return all;
  }

private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::shared_ptr<started_log> log_;
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(log_test)

BOOST_AUTO_TEST_CASE(lines_carry_level_and_role) {
  log_file file;
  file.start("info", "con%trol");
  log_info("request {} arrived", 7);
  log_error("{}", "gone");
  const auto text = file.text();
  BOOST_TEST(contains(text, " info con%trol["));
  BOOST_TEST(contains(text, "] request 7 arrived\n"));
  BOOST_TEST(contains(text, " error con%trol["));
}

BOOST_AUTO_TEST_CASE(lines_below_the_level_are_not_written) {
  log_file file;
  file.start("warn");
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
  file.start("info");
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
  const auto log = start_log("off", "test");
  BOOST_REQUIRE(log);
  BOOST_TEST(*log == nullptr);
  BOOST_TEST(!log_enabled(log_level::error));
  log_error("into the void");
}

BOOST_AUTO_TEST_CASE(the_end_of_one_log_leaves_the_other_and_its_level) {
  log_file first;
  log_file second;
  first.start("error");
  second.start("info");
  log_info("one");
  log_error("two");
  second.stop();
  BOOST_TEST(!log_enabled(log_level::info));
  second.start("debug");
  log_info("three");
  const auto of_first = first.text();
  log_info("four");
  const auto of_second = second.text();
  BOOST_TEST(!contains(of_first, "one"));
  BOOST_TEST(contains(of_first, "two"));
  BOOST_TEST(!contains(of_first, "three"));
  for (const auto* line : {"one", "two", "three", "four"})
    BOOST_TEST(contains(of_second, line));
}

BOOST_AUTO_TEST_CASE(a_file_of_two_logs_receives_each_line_once) {
  log_file file;
  file.start("error");
  auto other = start_log("info", "other", file.get());
  BOOST_REQUIRE(other);
  log_info("from the second's level on");
  log_error("from both levels on");
  other->reset();
  const auto text = file.text();
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 2);
  BOOST_TEST(contains(text, "info other"));
}

BOOST_AUTO_TEST_CASE(a_function_receives_lines_and_may_throw) {
  std::vector<std::pair<log_level, std::string>> lines;
  auto log = start_log("warn", [&](log_level level, std::string_view text) {
    lines.emplace_back(level, text);
    throw 7;
  });
  BOOST_REQUIRE(log);
  log_info("one");
  log_warn("{}", "two\n");
  log_error("three");
  log->reset();
  const std::vector<std::pair<log_level, std::string>> expected = {
    {log_level::warn, "two\\x0a"}, {log_level::error, "three"}};
  BOOST_CHECK(lines == expected);
}

BOOST_AUTO_TEST_CASE(a_function_that_ends_its_thread_receives_the_next_line) {
  std::vector<std::string> lines;
  auto log = start_log("info", [&](log_level, std::string_view text) {
    lines.emplace_back(text);
    pthread_exit(nullptr);
  });
  BOOST_REQUIRE(log);
  log_info("one");
  log_info("two");
  log_info("three");
  log->reset();
  const std::vector<std::string> expected = {"one", "two", "three"};
  BOOST_TEST(lines == expected);
}

BOOST_AUTO_TEST_CASE(a_slow_function_loses_the_oldest_lines_and_hears_of_it) {
  constexpr int many = 20'000;
  std::promise<void> release;
  std::vector<std::string> lines;
  auto log = start_log(
    "info", [&, first = true](log_level, std::string_view text) mutable {
      if (std::exchange(first, false))
        release.get_future().wait();
      lines.emplace_back(text);
    });
  BOOST_REQUIRE(log);
  for (int i = 0; i < many; ++i)
    log_info("{}", i);
  release.set_value();
  log->reset();
  BOOST_REQUIRE(lines.size() > 2);
  const auto kept = static_cast<int>(lines.size()) - 1;
  BOOST_TEST(lines.back() == fmt::format("{} lines were dropped", many - kept));
  BOOST_TEST(lines.end()[-2] == std::to_string(many - 1));
}

BOOST_AUTO_TEST_CASE(a_forked_process_has_no_log) {
  log_file file;
  file.start("warn");
  const auto child = fork();
  if (child == 0) {
    alarm(30);
    log_error("of the child");
    _exit(log_enabled(log_level::error) ? 1 : 0);
  }
  int how = 0;
  BOOST_REQUIRE(waitpid(child, &how, 0) == child);
  BOOST_TEST(how == 0);
  log_error("of the parent");
  const auto text = file.text();
  BOOST_TEST(contains(text, "of the parent"));
  BOOST_TEST(!contains(text, "of the child"));
}

BOOST_AUTO_TEST_CASE(many_threads_may_write_while_it_stops) {
  log_file file;
  file.start("info");
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t)
    writers.emplace_back([t] {
      for (int i = 0; i < 5000; ++i)
        log_info("writer {} line {}", t, i);
    });
  file.stop();
  for (auto& writer : writers)
    writer.join();
  BOOST_TEST(!log_enabled(log_level::info));
}

BOOST_AUTO_TEST_CASE(the_level_of_a_running_log_can_be_changed) {
  log_file file;
  file.start("warn", "control");
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
