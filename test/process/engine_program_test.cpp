// SPDX-License-Identifier: Apache-2.0
// The program of the other processes changes, moves or vanishes under a running
// engine.
#include <atelier/ipc/layout.hpp>
#include <atelier/runtime/split/exit_status.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

extern char** environ;

using namespace atelier;
using test::eventually;
using test::mode;

namespace {

namespace fs = std::filesystem;

/// A worker program in its own folder, and an engine that uses it.
struct installed {
  fs::path folder = make_folder();
  std::unique_ptr<engine> sut;

  installed() {
    put_back();
  }

  ~installed() {
    sut.reset();
    fs::remove_all(folder);
  }

  void start(const std::string& program) {
    sut = test::start(mode::split, {"processes.program='" + program + "'",
                                    "processes.restart_first_ms=1",
                                    "processes.restart_most_ms=10"});
  }

  /// Replaces the program as a package manager does.
  void replace(const std::string& script) const {
    const auto next = folder / "next";
    std::ofstream{next} << "#!/bin/sh\n" << script << "\n";
    fs::permissions(next, fs::perms::owner_all);
    fs::rename(next, program());
  }

  void put_back() const {
    replace("exec '" + test::process_program() + "' \"$@\"");
  }

  fs::path program() const {
    return folder / "program";
  }

  void kill_device() const {
    const auto pid = test::pid_of(*sut, "cpu:0");
    BOOST_TEST_REQUIRE(pid > 0);
    kill(pid, SIGKILL);
  }

  bool comes_to_tell(const std::string& fault) const {
    return eventually([&] {
      for (const auto& p : sut->status().processes)
        if (p.role == "cpu:0")
          return p.fault == fault && p.ready == fault.empty();
      return false;
    });
  }

  void draw() const {
    generation x;
    x.prompt = "a";
    x.width = x.height = 64;
    x.steps = 2;
    test::image_in(test::answers_to(*sut, {x})[0]);
  }

  static fs::path make_folder() {
    auto name = (fs::temp_directory_path() / "program-XXXXXX").string();
    BOOST_TEST_REQUIRE((mkdtemp(name.data()) != nullptr));
    return name;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(engine_program_test)

BOOST_AUTO_TEST_CASE(another_build_under_a_running_engine_is_told) {
  installed x;
  x.start(x.program().string());
  x.replace("exit 4");
  x.kill_device();
  BOOST_TEST(x.comes_to_tell("the program " + x.program().string()
                             + " is of another build: restart the server"));
  x.put_back();
  BOOST_TEST(x.comes_to_tell(""));
  x.draw();
}

BOOST_AUTO_TEST_CASE(a_program_that_is_gone_is_told) {
  installed x;
  x.start(x.program().string());
  fs::remove(x.program());
  x.kill_device();
  BOOST_TEST(x.comes_to_tell("cannot start " + x.program().string()
                             + ": No such file or directory; put it back, or "
                               "restart the server with processes.program"));
  x.put_back();
  BOOST_TEST(x.comes_to_tell(""));
  x.draw();
}

BOOST_AUTO_TEST_CASE(a_host_may_change_its_folder) {
  const auto before = fs::current_path();
  installed x;
  fs::current_path(x.folder);
  x.start("./program");
  fs::current_path(before);
  x.kill_device();
  BOOST_TEST(eventually([&] {
    for (const auto& p : x.sut->status().processes)
      if (p.role == "cpu:0")
        return p.restarts == 1 && p.ready;
    return false;
  }));
  x.draw();
}

BOOST_AUTO_TEST_CASE(the_program_refuses_an_arena_of_another_build) {
  constexpr ipc::arena_sizes sizes{{1, 1, 0}, {64, 64, 64}, 2, 4096};
  const auto bytes = ipc::lay_out(sizes)->total_bytes;
  ipc::arena_header header{};
  ipc::describe(header, sizes, bytes, core::epoch{1});
  ++header.build;
  header.magic = ipc::arena_magic;
  const auto arena = memfd_create("foreign", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  BOOST_TEST_REQUIRE(ftruncate(arena, static_cast<off_t>(bytes)) == 0);
  BOOST_TEST_REQUIRE(pwrite(arena, &header, sizeof header, 0)
                     == static_cast<ssize_t>(sizeof header));
  BOOST_TEST_REQUIRE(
    fcntl(arena, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
  const auto program = test::process_program();
  const auto parent = "--parent=" + std::to_string(getpid());
  const char* arguments[] = {program.c_str(), "--process=1", "--life=1",
                             parent.c_str(), nullptr};
  for (const auto given : {arena, STDIN_FILENO}) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, given, ipc::inherited_arena);
    pid_t pid = 0;
    const auto failed = posix_spawn(&pid, program.c_str(), &files, nullptr,
                                    const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&files);
    BOOST_TEST_REQUIRE(failed == 0);
    int status = 0;
    BOOST_TEST_REQUIRE(waitpid(pid, &status, 0) == pid);
    BOOST_TEST_REQUIRE(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == runtime::exit_status::foreign);
  }
  close(arena);
}

BOOST_AUTO_TEST_SUITE_END()
