// SPDX-License-Identifier: Apache-2.0
// Nothing is left of an engine, however it ends.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/process_table.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;
using test::mode;

namespace {

const auto modes = boost::unit_test::data::make({mode::single, mode::split});

const std::string slow_card =
  "devices=[{name='cpu:0',test_card_step_ms=20,max_batch=2,seats=4}]";

generation small(uint32_t steps) {
  generation x;
  x.prompt = "a";
  x.width = x.height = 64;
  x.steps = steps;
  return x;
}

/// The resources that this process holds outside its own memory.
struct holdings {
  size_t threads = test::count_threads();
  size_t descriptors = test::count_descriptors();
  size_t processes = test::engine_processes_of(getpid()).size();
};

void check_nothing_left(const holdings& before) {
  // A joined thread may still be ending.
  BOOST_TEST(
    eventually([&] { return test::count_threads() <= before.threads; }));
  BOOST_TEST(test::count_descriptors() == before.descriptors);
  BOOST_TEST(test::engine_processes_of(getpid()).size() == before.processes);
}

/// Starts and ends one engine, because the first engine of a process leaves the
/// libraries' permanent resources.
void warm_up() {
  test::start(mode::single);
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_end_test)

BOOST_DATA_TEST_CASE(nothing_is_left_after_an_end, modes, how) {
  warm_up();
  const holdings before;
  for (size_t i = 0; i < 3 + test::scaled(100); ++i) {
    auto sut = test::start(how);
    test::answers_to(*sut, test::mixed_requests(5, test::seed() + i));
    if (i % 2 == 0)
      BOOST_TEST(sut->stop(5s));
    sut.reset();
    check_nothing_left(before);
  }
}

BOOST_DATA_TEST_CASE(an_end_with_open_requests_answers_them, modes, how) {
  warm_up();
  const holdings before;
  std::vector<test::in_flight> all;
  {
    auto sut = test::start(how, {slow_card});
    for (int i = 0; i < 10; ++i)
      all.push_back(test::hand_in(*sut, small(100)));
  }
  for (auto& x : all) {
    BOOST_TEST(test::code_of(test::await(x)) == "stopping");
    BOOST_TEST(x.answers->load() == 1u);
  }
  check_nothing_left(before);
}

BOOST_DATA_TEST_CASE(an_end_at_any_moment_of_the_work_is_clean, modes, how) {
  // Answers, steps and encodings are in progress while everything ends.
  warm_up();
  const holdings before;
  for (size_t i = 0; i < 10 + test::scaled(500); ++i) {
    std::vector<test::in_flight> all;
    auto sut = test::start(how);
    const auto wanted = test::mixed_requests(12, test::seed() + i);
    for (const auto& x : wanted)
      all.push_back(test::hand_in(*sut, x));
    if (all.size() > i % 12)
      static_cast<void>(test::await(all[i % 12]));
    sut.reset();
    for (size_t k = 0; k < all.size(); ++k)
      BOOST_TEST(all[k].answers->load() == 1u);
  }
  check_nothing_left(before);
}

BOOST_DATA_TEST_CASE(stopping_waits_for_what_runs, modes, how) {
  auto sut = test::start(how, {slow_card});
  std::vector<test::in_flight> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(test::hand_in(*sut, small(5)));
  const auto before = sut->status();
  BOOST_TEST(!before.is_stale);
  BOOST_TEST(sut->stop(60s));
  for (auto& x : all)
    test::image_in(test::await(x));
  auto got = sut->submit(small(1));
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(got));
  BOOST_TEST(std::get<failure>(got).code == "stopping");
  BOOST_TEST(!sut->cancel(all[0].accepted.request));
  // The last snapshot stays.
  const auto after = sut->status();
  BOOST_TEST(after.is_stale);
  BOOST_TEST(after.accepted == 4u);
  BOOST_TEST(after.policy == before.policy);
  BOOST_TEST(sut->stop(1s));
}

BOOST_DATA_TEST_CASE(the_longest_grace_is_as_long_as_it_takes, modes, how) {
  auto sut = test::start(how, {slow_card});
  auto x = test::hand_in(*sut, small(5));
  BOOST_TEST(sut->stop(std::chrono::nanoseconds::max()));
  test::image_in(test::await(x));
}

BOOST_DATA_TEST_CASE(a_grace_that_is_too_short_says_so, modes, how) {
  auto sut = test::start(how, {slow_card});
  auto x = test::hand_in(*sut, small(100));
  BOOST_TEST(!sut->stop(50ms));
  BOOST_TEST(test::code_of(test::await(x)) == "stopping");
}

BOOST_DATA_TEST_CASE(calls_from_many_threads_survive_the_end, modes, how) {
  for (size_t round = 0; round < 3 + test::scaled(100); ++round) {
    auto sut = test::start(how);
    std::atomic<bool> over = false;
    std::atomic<uint64_t> accepted = 0;
    std::atomic<uint64_t> answered = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        while (!over) {
          callbacks calls;
          calls.answered = [&](const answer&) { ++answered; };
          auto got = sut->submit(small(1), calls);
          if (auto* s = std::get_if<submission>(&got)) {
            ++accepted;
            static_cast<void>(sut->cancel(s->request));
          }
          sut->status();
        }
      });
    BOOST_TEST(eventually([&] { return answered > 3; }));
    std::jthread second{[&] { static_cast<void>(sut->stop(10ms)); }};
    static_cast<void>(sut->stop(10ms));
    second.join();
    over = true;
    threads.clear();
    BOOST_TEST(answered.load() == accepted.load());
  }
}

BOOST_DATA_TEST_CASE(threads_that_used_it_may_outlive_it, modes, how) {
  // Each of them would hold a resource that the end waits for.
  std::promise<std::unique_ptr<engine>> started;
  std::promise<void> looked;
  std::promise<void> over;
  auto until = over.get_future().share();
  std::jthread starter{[&, until] {
    started.set_value(test::start(how));
    until.wait();
  }};
  auto sut = started.get_future().get();
  std::jthread looker{[&, until] {
    sut->status();
    looked.set_value();
    until.wait();
  }};
  looked.get_future().wait();
  sut.reset();
  BOOST_TEST(!sut);
  over.set_value();
}

BOOST_AUTO_TEST_CASE(two_engines_live_in_one_process) {
  warm_up();
  const holdings before;
  {
    auto first = test::start(mode::split);
    auto second = test::start(mode::split);
    auto third = test::start(mode::single);
    const auto wanted = test::mixed_requests(10, test::seed());
    const auto a = test::answers_to(*first, wanted);
    const auto b = test::answers_to(*second, wanted);
    first.reset();
    const auto c = test::answers_to(*second, wanted);
    const auto d = test::answers_to(*third, wanted);
    for (size_t i = 0; i < wanted.size(); ++i)
      for (const auto* x : {&b, &c, &d})
        test::check_same_image(test::image_in(a[i]), test::image_in((*x)[i]));
  }
  check_nothing_left(before);
}

BOOST_AUTO_TEST_CASE(two_processes_have_an_engine_each) {
  // The fork happens before this process has threads of an engine.
  int ends[2];
  BOOST_TEST_REQUIRE(pipe(ends) == 0);
  const auto other = fork();
  if (other == 0) {
    int status = 1;
    {
      auto started = engine::start(test::options_of(mode::split));
      if (auto* x = std::get_if<std::unique_ptr<engine>>(&started)) {
        auto got = (*x)->submit(small(3));
        const auto a = std::get<submission>(got).result.get();
        status = std::holds_alternative<generated_image>(a) ? 0 : 2;
        const char done = 'x';
        status |= write(ends[1], &done, 1) == 1 ? 0 : 4;
      }
    }
    _exit(status);
  }
  close(ends[1]);
  auto sut = test::start(mode::split);
  for (int i = 0; i < 10; ++i)
    test::image_in(test::answers_to(*sut, {small(3)})[0]);
  char done = 0;
  BOOST_TEST(read(ends[0], &done, 1) == 1);
  int status = 0;
  BOOST_TEST(waitpid(other, &status, 0) == other);
  BOOST_TEST(status == 0);
  test::image_in(test::answers_to(*sut, {small(3)})[0]);
  close(ends[0]);
}

BOOST_AUTO_TEST_CASE(a_host_may_ignore_the_ends_of_children) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const holdings held;
  {
    auto sut = test::start(mode::split, {"processes.restart_first_ms=1"});
    test::image_in(test::answers_to(*sut, {small(3)})[0]);
    kill(test::pid_of(*sut, "cpu"), SIGKILL);
    BOOST_TEST(eventually([&] { return sut->status().processes[0].restarts; }));
    test::image_in(test::answers_to(*sut, {small(3)})[0]);
    BOOST_TEST(sut->stop(1s));
  }
  BOOST_TEST(test::engine_processes_of(getpid()).size() == held.processes);
  std::signal(SIGCHLD, before);
}

BOOST_AUTO_TEST_CASE(an_end_does_not_wait_for_a_stopped_process_for_long) {
  auto sut = test::start(mode::split, {"processes.grace_ms=100"});
  const auto pid = test::pid_of(*sut, "cpu:0");
  kill(pid, SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  sut.reset();
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 5s));
  BOOST_TEST(!test::is_alive(pid));
}

BOOST_AUTO_TEST_SUITE_END()
