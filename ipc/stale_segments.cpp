// SPDX-License-Identifier: Apache-2.0
// Objects of dead owners are read with pread and never mapped, because they may
// have any length.
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/layout.hpp>
#include <atelier/ipc/segment.hpp>
#include <atelier/ipc/stale_segments.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

namespace atelier::ipc {

namespace {

using clock = std::chrono::steady_clock;

// The folder where the C library keeps shared objects. It offers no list of
// them.
constexpr const char* objects_folder = "/dev/shm";

class descriptor {
public:
  explicit descriptor(const std::filesystem::path& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {}

  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  ~descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int get() const {
    return fd_;
  }

private:
  int fd_;
};

struct owned_pid {
  int32_t pid = 0;
  uint64_t start_time = 0;
};

template <class T>
bool read_at(int fd, uint64_t offset, T& into) {
  return pread(fd, static_cast<void*>(&into), sizeof into,
               static_cast<off_t>(offset))
      == static_cast<ssize_t>(sizeof into);
}

// Returns the epoch of a finished arena of any build of this layout.
std::optional<core::epoch> epoch_of(int fd) {
  arena_header header;
  if (!read_at(fd, 0, header) || header.magic.load() != arena_magic
      || header.layout != layout_version)
    return std::nullopt;
  return core::epoch{header.epoch};
}

std::vector<owned_pid> processes_of(int fd) {
  std::vector<owned_pid> found;
  arena_header header;
  if (!epoch_of(fd) || !read_at(fd, 0, header))
    return found;
  for (uint32_t i = 0; i < header.processes; ++i) {
    process_record record;
    if (!read_at(fd, sizeof header + i * sizeof record, record))
      break;
    if (auto pid = record.pid.load(); pid > 0)
      found.push_back({pid, record.start_time.load()});
  }
  return found;
}

bool is_gone(const owned_pid& x) {
  auto start = start_time_of(x.pid);
  return start == 0 || start != x.start_time;
}

// Returns the pid in "atelier-<uid>-<pid>-<n>".
int32_t pid_in(std::string_view name) {
  name.remove_prefix(std::min(name.size(), segment_prefix().size()));
  int32_t pid = 0;
  std::from_chars(name.data(), name.data() + name.size(), pid);
  return pid;
}

bool names_this_object(const std::filesystem::path& path, int fd) {
  struct stat by_name;
  struct stat by_fd;
  return lstat(path.c_str(), &by_name) == 0 && fstat(fd, &by_fd) == 0
      && by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev;
}

bool is_mine(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && info.st_uid == geteuid()
      && S_ISREG(info.st_mode);
}

class sweep {
public:
  explicit sweep(core::timespan patience)
    : end_(core::after(clock::now(), patience)) {}

  void visit(const std::filesystem::path& path) {
    descriptor object{path};
    auto fd = object.get();
    if (fd < 0 || !is_mine(fd))
      return;
    auto locked = try_lock_segment(fd);
    if (!locked && start_time_of(pid_in(path.filename().native())) == 0)
      locked = wait_until([fd] { return try_lock_segment(fd); });
    if (auto epoch = epoch_of(fd))
      result_.highest = std::max(result_.highest, *epoch);
    if (!locked)
      return;
    for (const auto& x : processes_of(fd))
      wait_until([&x] { return is_gone(x); });
    // Only the holder of the lock unlinks, so that the name stays the object's.
    if (names_this_object(path, fd) && ::unlink(path.c_str()) == 0)
      result_.removed.push_back(path.filename());
  }

  sweep_result result() && {
    return std::move(result_);
  }

private:
  template <class Predicate>
  bool wait_until(Predicate done) {
    constexpr auto pause = std::chrono::milliseconds{1};
    while (!done()) {
      if (clock::now() >= end_)
        return false;
      std::this_thread::sleep_for(pause);
    }
    return true;
  }

  core::time_point end_;
  sweep_result result_;
};

} // namespace

core::result<sweep_result> sweep_stale_segments(core::timespan patience) {
  std::error_code failed;
  std::filesystem::directory_iterator all{objects_folder, failed};
  std::vector<std::filesystem::path> mine;
  for (; !failed && all != std::filesystem::directory_iterator{};
       all.increment(failed))
    if (all->path().filename().native().starts_with(segment_prefix()))
      mine.push_back(all->path());
  if (failed)
    return core::fail(core::ec::io_failed, "cannot list {}: {}", objects_folder,
                      failed.message());
  sweep x{patience};
  for (const auto& path : mine)
    x.visit(path);
  return std::move(x).result();
}

uint64_t start_time_of(int32_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  // Uses a stream's own reading, which never throws: the process may be gone by
  // now, and then its file cannot be read.
  std::string text;
  std::getline(file, text, '\0');
  // The second field is a name in parentheses that may hold anything.
  auto end_of_name = text.rfind(')');
  if (pid <= 0 || end_of_name == std::string::npos)
    return 0;
  std::istringstream fields{text.substr(end_of_name + 1)};
  std::vector<std::string> xs{std::istream_iterator<std::string>{fields}, {}};
  // Fields are numbered as in proc(5), where the state is field 3.
  auto field = [&xs](size_t n) { return n - 3 < xs.size() ? xs[n - 3] : ""; };
  uint64_t threads = 0;
  uint64_t start = 0;
  auto number = [](const std::string& s, uint64_t& x) {
    std::from_chars(s.data(), s.data() + s.size(), x);
  };
  number(field(20), threads);
  number(field(22), start);
  // A zombie that still counts threads is a process in the act of dying.
  auto dead = field(3) == "Z" || field(3) == "X";
  return dead && threads <= 1 ? 0 : start;
}

} // namespace atelier::ipc
