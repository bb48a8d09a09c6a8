// SPDX-License-Identifier: Apache-2.0
// Kills the owner of an arena at random moments, also while it makes or removes
// the arena.
#include "ipc/child_process.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/stale_segments.hpp>

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <filesystem>
#include <random>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using ipc::arena_owner;
using ipc::arena_view;

// With 8 MiB the reservation takes long enough to be hit.
constexpr ipc::arena_sizes sizes = {{4, 0, 0}, {1 << 20, 0, 0}, 3, 4096};

std::string prefix_of(uid_t user, pid_t pid) {
  return "atelier-" + std::to_string(user) + "-" + std::to_string(pid) + "-";
}

std::vector<std::string> objects_of(pid_t pid, uid_t user = geteuid()) {
  std::vector<std::string> found;
  for (const auto& x : std::filesystem::directory_iterator{"/dev/shm"})
    if (auto name = x.path().filename().string();
        name.starts_with(prefix_of(user, pid)))
      found.push_back(name);
  return found;
}

// The values that a child reports before it is killed.
struct told {
  std::atomic<uint32_t> epoch;
  std::atomic<pid_t> worker;
  std::atomic<uint32_t> ready;
  std::atomic<uint32_t> faults;
};

struct fixture {
  told* shared =
    static_cast<told*>(mmap(nullptr, sizeof(told), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::mt19937_64 rng{test::seed()};

  ~fixture() {
    munmap(shared, sizeof(told));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(owner_process_test, fixture)

BOOST_AUTO_TEST_CASE(an_owner_killed_at_any_time_leaves_nothing) {
  size_t n = std::max<size_t>(10, test::scaled(500));
  size_t made_by_dead = 0;
  for (size_t i = 0; i < n; ++i) {
    shared->epoch = 0;
    shared->worker = 0;
    test::child_process owner{[&] {
      for (;;) {
        auto x = arena_owner::make_shared_memory(sizes, 5s);
        if (!x)
          _exit(2);
        shared->epoch = (*x)->id();
        core::process_id worker{1};
        (*x)->begin_life(worker, core::incarnation{1});
        test::child_process child{[] {
          for (;;)
            pause();
        }};
        (*x)->set_process(worker, {child.pid(), ipc::start_time_of(child.pid()),
                                   core::incarnation{1}});
        shared->worker = child.pid();
        if (rng() % 2 == 0)
          pause();
        shared->worker = 0;
      }
    }};
    auto pid = owner.pid();
    test::come_to_moment(rng() % 12'000,
                         [pid] { return ipc::start_time_of(pid) == 0; });
    owner.signal(SIGKILL);
    // The successor may start before the dead process is reaped.
    auto early = rng() % 2 == 0;
    if (!early)
      BOOST_TEST(owner.wait() == -1);
    else
      BOOST_TEST(
        test::eventually([pid] { return ipc::start_time_of(pid) == 0; }));
    auto next = arena_owner::make_shared_memory(sizes, 5s);
    BOOST_REQUIRE_MESSAGE(bool(next), (next ? "" : next.why().text));
    BOOST_TEST(objects_of(pid).empty());
    if (auto worker = shared->worker.load(); worker != 0) {
      ++made_by_dead;
      BOOST_TEST(ipc::start_time_of(worker) == 0u);
      BOOST_TEST((*next)->id() > shared->epoch.load());
    }
    if (early)
      BOOST_TEST(owner.wait() == -1);
  }
  BOOST_TEST_MESSAGE(n << " kills, " << made_by_dead << " beside a worker");
  BOOST_TEST(objects_of(getpid()).empty());
}

BOOST_AUTO_TEST_CASE(engines_that_start_at_once_do_not_hurt_each_other) {
  constexpr int engines = 4;
  auto rounds = std::max<size_t>(5, test::scaled(300));
  std::vector<test::child_process> children;
  for (int i = 0; i < engines; ++i)
    children.emplace_back([&] {
      for (size_t round = 0; round < rounds; ++round) {
        auto x = arena_owner::make_shared_memory({{}, {}, 2, 256}, 1s);
        if (!x || !arena_view::open_shared_memory((*x)->name()))
          _exit(2);
        if (test::eventually(
              [&] { return !arena_view::open_shared_memory((*x)->name()); },
              1ms))
          _exit(3);
      }
    });
  for (auto& x : children) {
    auto pid = x.pid();
    BOOST_TEST(x.wait() == 0);
    BOOST_TEST(objects_of(pid).empty());
  }
}

BOOST_AUTO_TEST_CASE(a_successor_waits_for_the_processes_of_the_dead) {
  // The worker outlives its parent here, like a worker that the kernel cannot
  // kill at once.
  test::child_process owner{[&] {
    auto x = arena_owner::make_shared_memory({{}, {}, 2, 256}, 0s);
    if (!x)
      _exit(2);
    auto pid = fork();
    if (pid == 0) {
      // The worker runs without the owner's files, so that the lock does not
      // outlive the owner.
      for (int fd = 3; fd < 64; ++fd)
        close(fd);
      alarm(60);
      for (;;)
        pause();
    }
    (*x)->set_process(core::process_id{1},
                      {pid, ipc::start_time_of(pid), core::incarnation{1}});
    shared->worker = pid;
    shared->ready = 1;
    pause();
  }};
  BOOST_REQUIRE(test::eventually([&] { return shared->ready == 1; }));
  auto dead = owner.pid();
  owner.signal(SIGKILL);
  owner.wait();
  std::atomic<bool> finished = false;
  std::thread successor{[&] {
    auto removed = ipc::remove_stale(60s);
    finished = true;
    if (!removed)
      ++shared->faults;
  }};
  BOOST_TEST(!test::eventually([&] { return finished.load(); }, 20ms));
  BOOST_TEST(objects_of(dead).size() == 1u);
  kill(shared->worker, SIGKILL);
  successor.join();
  BOOST_TEST(shared->faults == 0u);
  BOOST_TEST(objects_of(dead).empty());
}

BOOST_AUTO_TEST_CASE(patience_is_bounded) {
  // The table of a dead owner contains a live process, which is this one.
  test::child_process owner{[&] {
    auto x = arena_owner::make_shared_memory({{}, {}, 2, 256}, 0s);
    if (x)
      (*x)->set_process(
        core::process_id{1},
        {getppid(), ipc::start_time_of(getppid()), core::incarnation{1}});
    shared->ready = 1;
    pause();
  }};
  BOOST_REQUIRE(test::eventually([&] { return shared->ready == 1; }));
  auto dead = owner.pid();
  owner.signal(SIGKILL);
  owner.wait();
  BOOST_TEST((ipc::remove_stale(5ms) ? true : false));
  BOOST_TEST(objects_of(dead).empty());
}

BOOST_AUTO_TEST_CASE(objects_of_other_users_are_not_touched) {
  constexpr uid_t other = 65'534;
  if (geteuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: only root can act as another user");
    BOOST_TEST(true);
    return;
  }
  auto spoof = prefix_of(0, 999'999'999) + "0";
  test::child_process stranger{[&] {
    if (setuid(other) != 0)
      _exit(4);
    test::child_process::die_with(getppid());
    auto x = arena_owner::make_shared_memory({{}, {}, 2, 256}, 0s);
    // The object has this user's name.
    auto fd = shm_open(spoof.c_str(), O_CREAT | O_RDWR, 0666);
    if (!x || fd < 0)
      _exit(5);
    close(fd);
    shared->ready = 1;
    pause();
  }};
  BOOST_REQUIRE(test::eventually([&] { return shared->ready == 1; }));
  auto pid = stranger.pid();
  stranger.signal(SIGKILL);
  stranger.wait();
  auto left = objects_of(pid, other);
  BOOST_TEST(left.size() == 1u);
  auto removed = ipc::remove_stale(0s);
  BOOST_REQUIRE(removed);
  BOOST_TEST(objects_of(pid, other).size() == 1u);
  BOOST_TEST(objects_of(999'999'999).size() == 1u);
  BOOST_TEST((arena_view::open_shared_memory(spoof).why().code
              == core::ec::incompatible));
  shm_unlink(spoof.c_str());
  test::child_process heir{[&] {
    if (setuid(other) != 0 || !ipc::remove_stale(0s))
      _exit(4);
  }};
  BOOST_TEST(heir.wait() == 0);
  BOOST_TEST(objects_of(pid, other).empty());
}

BOOST_AUTO_TEST_SUITE_END()
