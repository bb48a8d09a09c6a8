// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/arena.hpp>
#include <atelier/runtime/split/worker_program.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

extern char** environ;

namespace atelier::runtime {

namespace {

/// Opens the current folder, or the root if this process may not enter it.
int open_folder() {
  constexpr int how = O_PATH | O_DIRECTORY | O_CLOEXEC;
  if (faccessat(AT_FDCWD, ".", X_OK, AT_EACCESS) == 0)
    if (const auto fd = open(".", how); fd >= 0)
      return fd;
  return open("/", how);
}

} // namespace

worker_program::worker_program(std::string path)
  : path_(std::move(path)), folder_(open_folder()) {}

worker_program::~worker_program() {
  if (folder_ >= 0)
    close(folder_);
}

const std::string& worker_program::path() const {
  return path_;
}

core::result<int32_t> worker_program::start(int arena,
                                            ipc::process_life who) const {
  const auto process = fmt::format("--process={}", who.process.value);
  const auto life = fmt::format("--life={}", who.life.value);
  const auto parent = fmt::format("--parent={}", getpid());
  const char* arguments[] = {path_.c_str(), process.c_str(), life.c_str(),
                             parent.c_str(), nullptr};
  // Signals meant for the host are not for the children; and a terminal's
  // Ctrl-C must not end them before the host has cancelled its work.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  // A child gets only the arena and the standard error among the host's
  // descriptors: another open one would keep a pipe or a port open.
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addfchdir_np(&files, folder_);
  posix_spawn_file_actions_adddup2(&files, arena, ipc::inherited_arena);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY,
                                   0);
  posix_spawn_file_actions_addclosefrom_np(&files, ipc::inherited_arena + 1);
  pid_t pid = 0;
  const auto failed = posix_spawn(&pid, path_.c_str(), &files, &attributes,
                                  const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  switch (failed) {
    case 0:
      return pid;
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case ENOEXEC:
      return core::fail(core::ec::not_found,
                        "cannot start {}: {}; put it back, or restart the "
                        "server with processes.program",
                        path_, std::strerror(failed));
    default:
      return core::fail(core::ec::unavailable, "cannot start {}: {}", path_,
                        std::strerror(failed));
  }
}

} // namespace atelier::runtime
