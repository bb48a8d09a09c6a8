// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/arena.hpp>
#include <atelier/runtime/openmp_waits.hpp>
#include <atelier/runtime/split/above_streams.hpp>
#include <atelier/runtime/split/worker_program.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

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

worker_program::worker_program(std::string path, core::descriptor folder,
                               int arena)
  : path_(std::move(path)), folder_(std::move(folder)), arena_(arena) {}

worker_program::file_id worker_program::file_of(int descriptor) {
  struct stat x;
  if (fstat(descriptor, &x) != 0)
    return std::nullopt;
  return std::pair{x.st_dev, x.st_ino};
}

core::result<worker_program> worker_program::make(std::string path, int arena) {
  auto folder = above_streams(open_folder());
  if (!folder)
    return core::fail(core::ec::out_of_resources,
                      "the folder for other processes cannot be opened: {}",
                      std::strerror(errno));
  return worker_program{std::move(path), std::move(folder), arena};
}

const std::string& worker_program::path() const {
  return path_;
}

core::result<int32_t> worker_program::start(ipc::process_life who) const {
  if (file_of(folder_.number()) != folder_id_ || file_of(arena_) != arena_id_)
    return core::fail(core::ec::unavailable,
                      "the host closed descriptors of the engine: restart it");
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
  posix_spawn_file_actions_addfchdir_np(&files, folder_.number());
  posix_spawn_file_actions_adddup2(&files, arena_, ipc::inherited_arena);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY,
                                   0);
  posix_spawn_file_actions_addclosefrom_np(&files, ipc::inherited_arena + 1);
  auto variables = with_short_waits(environ);
  pid_t pid = 0;
  const auto failed = posix_spawn(&pid, path_.c_str(), &files, &attributes,
                                  const_cast<char* const*>(arguments),
                                  addresses_of(variables).data());
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
