// SPDX-License-Identifier: Apache-2.0

// The engine's own process does not run for longer than a process may be
// silent, alone or with all others: nobody is to blame for that.

#include <boost/test/unit_test.hpp>
#include <fault/watched.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <map>
#include <string>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::check_at_rest;
using test::mode;

namespace {

/// Stops these processes and this one, continues them after `seconds`, the
/// others first.
void stop_with(const std::vector<pid_t>& others, time_t seconds) {
  const auto me = getpid();
  const auto helper = fork();
  if (helper == 0) {
    // Only calls that are safe in a child of many threads.
    for (const auto pid : others)
      kill(pid, SIGSTOP);
    kill(me, SIGSTOP);
    timespec left{seconds, 0};
    while (nanosleep(&left, &left) != 0) {
    }
    for (const auto pid : others)
      kill(pid, SIGCONT);
    kill(me, SIGCONT);
    _exit(0);
  }
  BOOST_TEST_REQUIRE(helper > 0);
  BOOST_TEST_REQUIRE(waitpid(helper, nullptr, 0) == helper);
}

std::map<std::string, pid_t> processes_of(const engine& x) {
  std::map<std::string, pid_t> out;
  for (const auto& p : x.status().processes)
    out[p.role] = p.pid;
  return out;
}

void expect_no_death(bool with_others) {
  // After the pause, more steps are left than the silence of a second takes.
  const auto wanted = test::wanted_image(60);
  const auto expected = test::undisturbed(wanted);
  auto sut = test::start(mode::split, test::with_card(test::card(40)));
  test::watched x{*sut, wanted};
  BOOST_TEST_REQUIRE(x.comes_to_step(3));
  const auto before = processes_of(*sut);
  BOOST_TEST_REQUIRE(before.size() == 2u);
  std::vector<pid_t> others;
  if (with_others)
    for (const auto& [role, pid] : before)
      others.push_back(pid);
  stop_with(others, 6);
  const auto a = x.wait();
  test::check_same_image(test::image_in(a), expected);
  BOOST_TEST(std::get<generated_image>(a).steps_run == 60u);
  BOOST_TEST((processes_of(*sut) == before));
  for (const auto& [role, pid] : before)
    BOOST_TEST(test::restarts_of(*sut, role) == 0u);
  check_at_rest(*sut);
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_pauses_test)

BOOST_AUTO_TEST_CASE(a_pause_of_the_control_process_kills_nobody) {
  expect_no_death(false);
}

BOOST_AUTO_TEST_CASE(a_pause_of_all_processes_kills_nobody) {
  expect_no_death(true);
}

BOOST_AUTO_TEST_SUITE_END()
