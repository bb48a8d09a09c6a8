// SPDX-License-Identifier: Apache-2.0
// The memory that the processes share has no name: nothing outside the engine
// can take it away, and no file system limits it.
#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>

using namespace atelier;
using test::mode;

namespace {

constexpr const char* objects = "/dev/shm";
constexpr int not_permitted = 77;

/// Gives this process a view of the file system in which no file fits into
/// /dev/shm. Returns whether the machine permits it.
bool shrink_objects_folder() {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return false;
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
      && mount("tmpfs", objects, "tmpfs", MS_RDONLY, "size=4k") == 0;
}

/// Runs an engine; returns what went wrong, or 0.
int run_engine() {
  auto sut = test::start(mode::split, {"processes.restart_first_ms=1"});
  generation wanted;
  wanted.prompt = "a";
  wanted.width = wanted.height = 64;
  wanted.steps = 3;
  const auto draws = [&] {
    return test::code_of(test::answers_to(*sut, {wanted})[0]).empty();
  };
  if (!draws())
    return 1;
  if (!std::filesystem::is_empty(objects))
    return 2;
  for (const auto* role : {"cpu", "cpu:0"})
    kill(test::pid_of(*sut, role), SIGKILL);
  if (!test::eventually([&] {
        for (const auto& p : sut->status().processes)
          if (p.restarts != 1 || !p.ready)
            return false;
        return true;
      }))
    return 3;
  return draws() ? 0 : 4;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_memory_test)

BOOST_AUTO_TEST_CASE(processes_start_again_without_anything_in_dev_shm) {
  const auto parent = getpid();
  const auto other = fork();
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = not_permitted;
    try {
      if (getppid() == parent && shrink_objects_folder())
        status = run_engine();
    } catch (...) {
      status = 5;
    }
    std::cout.flush();
    _exit(status);
  }
  int status = 0;
  BOOST_TEST_REQUIRE(waitpid(other, &status, 0) == other);
  BOOST_TEST_REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == not_permitted)
    BOOST_TEST_MESSAGE("skipped: this machine permits no other view of files");
  else
    BOOST_TEST(WEXITSTATUS(status) == 0);
}

BOOST_AUTO_TEST_CASE(too_little_memory_is_told_with_the_remedy) {
  // 900 GiB.
  const auto started = engine::start(test::options_of(
    mode::split, {"arena.image_slots=450", "arena.image_slot_kib=2097152"}));
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(started));
  const auto& why = std::get<failure>(started);
  BOOST_TEST(why.code == "out_of_resources");
  BOOST_TEST(why.text.find("MiB are free; set fewer arena.image_slots")
               != std::string::npos,
             why.text);
}

BOOST_AUTO_TEST_SUITE_END()
