// SPDX-License-Identifier: Apache-2.0
// The whole program is killed at a random moment from its start on.
#include <atelier/core/image/codec.hpp>
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/process_table.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

extern char** environ;

using namespace atelier;
using namespace std::chrono_literals;
using test::come_to_moment;
using test::eventually;

namespace {

namespace fs = std::filesystem;

struct scratch {
  fs::path path;

  scratch() {
    auto name = (fs::temp_directory_path() / "whole-XXXXXX").string();
    BOOST_TEST_REQUIRE((mkdtemp(name.data()) != nullptr));
    path = name;
  }

  ~scratch() {
    fs::remove_all(path);
  }
};

pid_t run(const fs::path& into, int images, const std::string& step_ms) {
  const std::vector<std::string> words{
    ATELIER_PROGRAM,
    "generate",
    "a",
    "-n",
    std::to_string(images),
    "--size",
    "64x64",
    "--steps",
    "3",
    "--seed",
    "1",
    "-o",
    into.string(),
    "--force",
    "--processes",
    "split",
    "--set",
    "processes.program=\"" + test::process_program() + '"',
    "--set",
    "devices=[{name='cpu:0',test_card_step_ms=" + step_ms + "}]"};
  std::vector<char*> arguments;
  for (const auto& x : words)
    arguments.push_back(const_cast<char*>(x.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY,
                                   0);
  pid_t pid = 0;
  BOOST_TEST_REQUIRE(posix_spawn(&pid, ATELIER_PROGRAM, &quiet, nullptr,
                                 arguments.data(), environ)
                     == 0);
  posix_spawn_file_actions_destroy(&quiet);
  return pid;
}

/// Returns whether a child has ended; the caller can still wait for it.
bool has_ended(pid_t pid) {
  siginfo_t told{};
  constexpr auto look = WEXITED | WNOHANG | WNOWAIT;
  return waitid(P_PID, static_cast<id_t>(pid), &told, look) == 0
      && told.si_pid == pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  BOOST_TEST_REQUIRE(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Counts images; fails if one is incomplete.
size_t check_images(const fs::path& folder) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator{folder}) {
    if (entry.path().extension() != ".png")
      continue;
    std::ifstream file{entry.path(), std::ios::binary};
    const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>{file}, {}};
    BOOST_TEST(image::decode(bytes).operator bool(), entry.path());
    ++count;
  }
  return count;
}

} // namespace

BOOST_AUTO_TEST_SUITE(whole_program_test)

BOOST_AUTO_TEST_CASE(nothing_of_a_killed_program_stays) {
  core::philox random{test::seed(), core::purpose::fault};
  size_t finished = 0;
  size_t with_processes = 0;
  for (size_t i = 0; i < 10 + test::scaled(290); ++i) {
    const scratch folder;
    const auto victim = run(folder.path, 1000, "2");
    const auto over = [victim] { return has_ended(victim); };
    // Every second one dies while it works, however long its start takes here.
    if (i % 2 == 0)
      BOOST_TEST_REQUIRE(eventually(
        [&] { return over() || !test::engine_processes_of(victim).empty(); }));
    come_to_moment(random.below(i % 2 == 0 ? 500'000U : 50'000U), over);
    if (!test::engine_processes_of(victim).empty())
      ++with_processes;
    kill(victim, SIGKILL);
    BOOST_TEST(wait_for(victim) == -1);
    BOOST_TEST(eventually(
      [&] { return test::engine_processes_of(victim).empty(); }, 2s));
    finished += check_images(folder.path);
    // The next one starts at once.
    const auto next = run(folder.path, 2, "0");
    BOOST_TEST(wait_for(next) == 0);
    BOOST_TEST(test::engine_processes_of(next).empty());
    BOOST_TEST(check_images(folder.path) >= 2u);
  }
  BOOST_TEST_MESSAGE(finished << " images before the deaths; " << with_processes
                              << " beside their processes");
  BOOST_TEST(with_processes > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
