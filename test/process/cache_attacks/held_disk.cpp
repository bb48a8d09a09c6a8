// SPDX-License-Identifier: Apache-2.0
#include <process/cache_attacks/held_disk.hpp>

#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace atelier::test {

namespace {

class gate {
public:
  void answer(disk_answer how) {
    {
      const std::lock_guard hold{lock_};
      how_ = how;
    }
    changed_.notify_all();
  }

  /// Waits as long as the disk takes; returns whether it worked.
  bool pass() {
    constexpr auto slow = std::chrono::milliseconds{500};
    std::unique_lock hold{lock_};
    if (how_ == disk_answer::late)
      changed_.wait_for(hold, slow, [&] { return how_ != disk_answer::late; });
    else
      changed_.wait(hold, [&] { return how_ != disk_answer::never; });
    return how_ != disk_answer::with_faults;
  }

private:
  std::mutex lock_;
  std::condition_variable changed_;
  disk_answer how_ = disk_answer::at_once;
};

// Threads that the disk held may outlive main.
gate& reads() {
  static auto* const it = new gate;
  return *it;
}

gate& writes() {
  static auto* const it = new gate;
  return *it;
}

} // namespace

void disk_reads(disk_answer how) {
  reads().answer(how);
}

void disk_writes(disk_answer how) {
  writes().answer(how);
}

} // namespace atelier::test

// The linker's option --wrap gives these names.
extern "C" {

ssize_t __real_pread(int file, void* into, size_t bytes, off_t from);
int __real_fsync(int file);
ssize_t __wrap_pread(int file, void* into, size_t bytes, off_t from);
int __wrap_fsync(int file);

ssize_t __wrap_pread(int file, void* into, size_t bytes, off_t from) {
  if (atelier::test::reads().pass())
    return __real_pread(file, into, bytes, from);
  errno = EIO;
  return -1;
}

int __wrap_fsync(int file) {
  if (atelier::test::writes().pass())
    return __real_fsync(file);
  errno = EIO;
  return -1;
}
}
