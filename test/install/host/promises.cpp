// SPDX-License-Identifier: Apache-2.0
// Checks what docs/embedding.md promises to the process that an engine lives
// in: `promises NAME [PROGRAM]` checks one promise, in which PROGRAM is the
// program of the engine's processes if it is not installed. Exits with 0 if the
// promise holds, and is killed after a minute.
#include "thread_limit.hpp"
#include <atelier/atelier.hpp>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string program;

/// Ends the process with the reason if a promise does not hold. Not by `exit`,
/// which is a part of what is checked.
void expect(bool holds, const std::string& what) {
  if (holds)
    return;
  std::cerr << what << std::endl;
  _exit(1);
}

atelier::engine_options options_of(const std::string& mode,
                                   std::vector<std::string> more = {}) {
  atelier::engine_options x;
  x.set = {"devices=[{name='cpu:0',executor='test_card',test_card_step_ms=5}]",
           "arena.image_slots=4", "arena.state_slots=4", "log.level=error"};
  x.set.insert(x.set.end(), more.begin(), more.end());
  x.values = {{"processes.mode", mode}, {"processes.program", program}};
  return x;
}

std::unique_ptr<atelier::engine> start(const atelier::engine_options& how) {
  auto started = atelier::engine::start(how);
  expect(static_cast<bool>(started), started ? "" : started.why().text);
  return std::move(started).value();
}

atelier::generation wanted(uint32_t steps) {
  atelier::generation x;
  x.prompt = "a red circle";
  x.width = x.height = 64;
  x.steps = steps;
  x.seed = 1;
  return x;
}

void expect_image(atelier::engine& from) {
  auto accepted = from.submit(wanted(2));
  expect(static_cast<bool>(accepted), accepted ? "" : accepted.why().text);
  const auto answer = accepted.value().result.get();
  expect(static_cast<bool>(answer), answer ? "" : answer.why().text);
}

/// Submits requests that are not answered soon.
void keep_busy(atelier::engine& x) {
  for (int i = 0; i < 4; ++i)
    expect(static_cast<bool>(x.submit(wanted(100))), "a request was refused");
}

// -- the end of the process ---------------------------------------------------

/// Initialised before any object of the library, so destroyed after all of
/// them.
std::unique_ptr<atelier::engine> lasting;

void static_engine() {
  lasting = start(options_of("single", {"log.level=warn"}));
  expect_image(*lasting);
}

void busy_static_engine() {
  lasting = start(options_of("single", {"log.level=warn"}));
  keep_busy(*lasting);
}

/// The engine works while the process exits, and is never destroyed.
void exit_while_running() {
  static const auto* never_destroyed = start(options_of("single")).release();
  keep_busy(const_cast<atelier::engine&>(*never_destroyed));
  std::exit(0);
}

/// A callback ends the process, and so destroys the engine on its thread.
void exit_in_a_callback() {
  lasting = start(options_of("single", {"log.level=warn"}));
  atelier::callbacks calls;
  calls.answered = [](const atelier::answer&) { std::exit(0); };
  auto accepted = lasting->submit(wanted(2), calls);
  expect(static_cast<bool>(accepted), accepted ? "" : accepted.why().text);
  // The future is ready before the callback is called, so that it shows nothing
  // of the end. If the callback returned, the test's time would pass here.
  for (;;)
    pause();
}

void quick_exit_while_running() {
  lasting = start(options_of("single"));
  keep_busy(*lasting);
  std::quick_exit(0);
}

// -- processes forked from the engine's ---------------------------------------

/// Whether this process is one of these: memory that only threads of the parent
/// refer to is no leak of it.
bool is_forked = false;

#ifdef __SANITIZE_ADDRESS__
/// GCC's AddressSanitizer does not unlock its allocator in a forked process: if
/// another thread held it, the process hangs.
constexpr int tries = 4;
constexpr unsigned longest_s = 10;
#else
constexpr int tries = 1;
constexpr unsigned longest_s = 30;
#endif

/// Runs `work` in a forked process and expects that it exits with 0 in time.
void in_child(const std::function<void()>& work) {
  int how = SIGALRM;
  for (int i = 0; i < tries && how == SIGALRM; ++i) {
    const auto child = fork();
    if (child == 0) {
      is_forked = true;
      alarm(longest_s);
      work();
      std::exit(0);
    }
    expect(waitpid(child, &how, 0) == child, "no child");
  }
  expect(how == 0, "the forked process ended with " + std::to_string(how));
}

void fork_and(const std::function<void(atelier::engine&)>& work) {
  for (const auto* mode : {"single", "split"}) {
    lasting = start(options_of(mode));
    auto running = lasting->submit(wanted(100));
    in_child([&] { work(*lasting); });
    expect_image(*lasting);
    expect(static_cast<bool>(running.value().result.get()),
           "the parent's request failed");
    in_child([&] { work(*lasting); });
    expect_image(*lasting);
    lasting.reset();
  }
}

void fork_and_exit() {
  fork_and([](auto&) {});
}

void fork_and_destroy() {
  fork_and([](auto&) { lasting.reset(); });
}

void fork_and_call() {
  const auto owner = getpid();
  fork_and([&](atelier::engine& x) {
    const auto refused = x.submit(wanted(2));
    expect(!refused && refused.why().code == "unavailable", "submit worked");
    expect(refused.why().text
             == "the engine belongs to process " + std::to_string(owner),
           refused.why().text);
    expect(x.host_model("test_card", true).why().code == "unavailable",
           "host_model worked");
    expect(x.cache_entries({}).why().code == "unavailable",
           "cache_entries worked");
    expect(!x.cancel(1) && !x.stop(1s) && x.status().is_stale,
           "cancel, stop or status worked");
  });
}

void fork_and_start() {
  fork_and([](auto&) {
    lasting.reset();
    lasting = start(options_of("single"));
    expect_image(*lasting);
  });
}

// -- files
// ----------------------------------------------------------------------

/// A folder of its own, which the destructor removes.
struct folder {
  fs::path path = fs::temp_directory_path()
                / ("atelier-promises-" + std::to_string(getpid()));

  folder() {
    fs::create_directories(path);
  }

  ~folder() {
    fs::remove_all(path);
  }
};

atelier::engine_options with_cache(const std::string& mode,
                                   const folder& parent) {
  auto x = options_of(mode, {"cache.memory_mib=64", "arena.capture_slots=2"});
  x.values.emplace_back("cache.folder", parent.path / "cache");
  return x;
}

void stop_frees_the_cache() {
  const folder parent;
  auto old = start(with_cache("single", parent));
  expect_image(*old);
  expect(old->stop(10s), "a request was open");
  auto next = start(with_cache("single", parent));
  expect_image(*next);
}

void change_folder() {
  const folder parent;
  fs::create_directory(parent.path / "sub");
  auto how = options_of("split");
  if (!program.empty()) {
    fs::create_symlink(program, parent.path / "sub/worker");
    std::ofstream{parent.path / "sub/a.toml"}
      << "processes.program = 'worker'\n";
    how.config_file = "sub/a.toml";
    how.values = {{"processes.mode", "split"}};
  }
  fs::current_path(parent.path);
  auto x = start(how);
  fs::current_path("/");
  for (const auto& process : x->status().processes)
    kill(process.pid, SIGKILL);
  expect_image(*x);
}

// -- several engines, few threads ---------------------------------------------

/// Log lines, by the level's name.
struct lines {
  std::mutex lock;
  std::vector<std::string> all;

  auto sink() {
    return [this](std::string_view level, std::string_view text) {
      const std::lock_guard hold{lock};
      all.push_back(std::string{level} + ": " + std::string{text});
    };
  }

  bool has(const std::string& line) {
    const std::lock_guard hold{lock};
    return std::find(all.begin(), all.end(), line) != all.end();
  }
};

/// Lets a callback throw, which the engine logs.
void log_a_line(atelier::engine& x) {
  atelier::callbacks calls;
  calls.answered = [](const auto&) { throw std::runtime_error{"by design"}; };
  expect(static_cast<bool>(x.submit(wanted(2), calls).value().result.get()),
         "no image");
}

void two_engines() {
  const std::string line = "error: a callback of the host threw: by design";
  lines of_first;
  lines of_second;
  auto how = options_of("single", {"log.level=off"});
  how.log = of_first.sink();
  auto first = start(how);
  how = options_of("single", {"log.level=warn"});
  how.log = of_second.sink();
  auto second = start(how);
  expect(first->stop(10s), "a request was open");
  first.reset();
  log_a_line(*second);
  second.reset();
  expect(of_second.has(line), "the second engine's log lacks a line");
  expect(of_first.all.empty(), "a log that is off has a line");
}

void few_threads() {
  for (const auto* mode : {"single", "split"}) {
    size_t most = 0;
    for (bool started = false; !started; ++most) {
      expect(most < 64, "the engine does not start with 64 threads");
      const folder parent;
      allow_threads(most);
      auto x = atelier::engine::start(with_cache(mode, parent));
      allow_threads(unlimited);
      started = static_cast<bool>(x);
      if (started)
        expect_image(*x.value());
      else
        expect(x.why().code == "out_of_resources",
               std::to_string(most) + " threads: " + x.why().text);
      x = atelier::failure{};
      expect(living_threads() == 0,
             std::to_string(living_threads()) + " threads are left");
    }
    std::cout << mode << ": " << most - 1 << " threads\n";
  }
}

// -- the process's own settings -----------------------------------------------

std::string text_of(const fs::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// What an engine must not change.
std::map<std::string, std::string> settings_of_process() {
  std::map<std::string, std::string> out;
  const auto status = text_of("/proc/thread-self/status");
  for (const auto* name : {"SigBlk", "SigIgn", "SigCgt", "Umask", "Name"}) {
    const auto at = status.find(std::string{name} + ":");
    out[name] = status.substr(at, status.find('\n', at) - at);
  }
  out["folder"] = fs::current_path().string();
  out["locale"] = std::setlocale(LC_ALL, nullptr);
  out["limits"] = text_of("/proc/self/limits");
  for (char** x = environ; *x != nullptr; ++x)
    out["environment"] += std::string{*x} + "\n";
  return out;
}

/// The handlers of the host run on its own threads: all others block them.
void expect_signals_blocked() {
  for (const auto& thread : fs::directory_iterator{"/proc/self/task"}) {
    if (thread.path().filename() == std::to_string(getpid()))
      continue;
    const auto status = text_of(thread.path() / "status");
    const auto at = status.find("SigBlk:");
    const auto blocked = std::strtoull(status.c_str() + at + 7, nullptr, 16);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM})
      expect((blocked >> (number - 1) & 1) != 0,
             "a thread takes signal " + std::to_string(number) + ":\n"
               + status.substr(0, status.find('\n')));
  }
}

void unchanged_settings() {
  // The C library installs handlers of its own with the first thread.
  std::thread{[] {}}.join();
  for (const auto* mode : {"single", "split"}) {
    const auto before = settings_of_process();
    auto x = start(options_of(mode));
    expect_image(*x);
    const auto while_running = settings_of_process();
    expect_signals_blocked();
    x.reset();
    for (const auto& now : {while_running, settings_of_process()})
      for (const auto& [name, value] : before)
        expect(now.at(name) == value,
               name + " changed from " + value + " to " + now.at(name));
  }
}

const std::map<std::string, void (*)()> promises{
  {"busy_static_engine", busy_static_engine},
  {"change_folder", change_folder},
  {"exit_in_a_callback", exit_in_a_callback},
  {"exit_while_running", exit_while_running},
  {"few_threads", few_threads},
  {"fork_and_call", fork_and_call},
  {"fork_and_destroy", fork_and_destroy},
  {"fork_and_exit", fork_and_exit},
  {"fork_and_start", fork_and_start},
  {"quick_exit_while_running", quick_exit_while_running},
  {"static_engine", static_engine},
  {"stop_frees_the_cache", stop_frees_the_cache},
  {"two_engines", two_engines},
  {"unchanged_settings", unchanged_settings},
};

} // namespace

/// Asked by LeakSanitizer, if the program was built with it.
extern "C" int __lsan_is_turned_off();

extern "C" int __lsan_is_turned_off() {
  return is_forked ? 1 : 0;
}

/// OpenSSL frees its state of a thread only if the thread ends before OpenSSL's
/// own handler of the exit runs.
extern "C" const char* __lsan_default_suppressions();

extern "C" const char* __lsan_default_suppressions() {
  return "leak:CRYPTO_zalloc\n";
}

int main(int count, char** arguments) {
  const auto found = promises.find(count > 1 ? arguments[1] : "");
  if (found == promises.end()) {
    for (const auto& [name, check] : promises)
      std::cout << name << '\n';
    return count == 1 ? 0 : 2;
  }
  program = count > 2 ? arguments[2] : "";
  alarm(60);
  found->second();
}
