// SPDX-License-Identifier: Apache-2.0
#include "thread_limit.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <memory>

namespace {

std::atomic<size_t> allowed{unlimited};
std::atomic<bool> counts{false};
std::atomic<size_t> living{0};

struct thread_start {
  void* (*run)(void*);
  void* with;
};

void* run_counted(void* x) {
  const std::unique_ptr<thread_start> from{static_cast<thread_start*>(x)};

  // Also if the thread ends by pthread_exit.
  const struct leave {
    ~leave() {
      --living;
    }
  } at_end;

  return from->run(from->with);
}

} // namespace

void allow_threads(size_t most) {
  counts = true;
  allowed = most;
}

size_t living_threads() {
  return living;
}

// Replaces the C library's function, for all libraries of the program.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* how,
                              void* (*run)(void*), void* with) {
  using create =
    int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real =
    reinterpret_cast<create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!counts)
    return real(thread, how, run, with);
  if (++living > allowed) {
    --living;
    return EAGAIN;
  }
  auto* counted = new thread_start{run, with};
  const int failed = real(thread, how, run_counted, counted);
  if (failed != 0) {
    delete counted;
    --living;
  }
  return failed;
}
