// SPDX-License-Identifier: Apache-2.0
// Faults other than deaths, and many deaths at once. Every request is answered
// once, with its own image or a failure that gives the reason.
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

const std::vector<std::string> quick_restarts{
  "processes.heartbeat_ms=20", "processes.silence_ms=60000",
  "processes.setup_ms=5000", "processes.restart_first_ms=1",
  "processes.restart_most_ms=10"};

std::string cards(int count, const std::string& more) {
  std::string all = "devices=[";
  for (int i = 0; i < count; ++i)
    all += (i == 0 ? "" : ",") + std::string{"{name='cpu:"} + std::to_string(i)
         + "',max_batch=4,seats=4" + more + "}";
  return all + "]";
}

size_t requests() {
  return 20 + test::scaled(500);
}

std::vector<answer> calm_answers(const std::vector<generation>& wanted) {
  auto calm = test::start(mode::single);
  return test::answers_to(*calm, wanted);
}

/// Submits all requests while `during` acts on the engine. Checks that each is
/// answered once: with its image, or with one of the codes in `allowed`.
/// Returns the number of failures.
template <class During>
uint64_t run(const std::vector<std::string>& set,
             const std::vector<std::string>& allowed, During during) {
  const auto wanted = test::mixed_requests(requests(), test::seed());
  const auto expected = calm_answers(wanted);
  auto more = quick_restarts;
  more.insert(more.end(), set.begin(), set.end());
  auto sut = test::start(mode::split, more);
  std::vector<test::in_flight> all;
  std::map<std::string, uint64_t> codes;
  {
    [[maybe_unused]] const auto ends = during(*sut);
    for (const auto& x : wanted)
      all.push_back(test::hand_in(*sut, x));
    for (size_t i = 0; i < all.size(); ++i) {
      const auto got = test::await(all[i]);
      const auto code = test::code_of(got);
      if (code.empty())
        BOOST_TEST(test::image_in(got).bytes
                   == test::image_in(expected[i]).bytes);
      else
        BOOST_TEST(
          (std::find(allowed.begin(), allowed.end(), code) != allowed.end()),
          "request " << i << ": " << code << ": "
                     << std::get<failure>(got).text);
      ++codes[code];
    }
  }
  BOOST_TEST(test::comes_to_rest(*sut));
  const auto s = sut->status();
  BOOST_TEST(s.accepted == wanted.size());
  BOOST_TEST(s.accepted == s.answered + s.failed + s.cancelled);
  BOOST_TEST(s.slots_in_use == 0u);
  BOOST_TEST(sut->stop(10s));
  for (const auto& x : all)
    BOOST_TEST(x.answers->load() == 1u);
  for (const auto& [code, n] : codes)
    BOOST_TEST_MESSAGE((code.empty() ? "answered" : code) << ": " << n);
  return wanted.size() - codes[""];
}

/// Repeats `what` until it is destroyed.
class meanwhile {
public:
  template <class What>
  meanwhile(core::timespan pause, What what)
    : thread_([pause, what](std::stop_token stop) mutable {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock guard{mutex};
        do {
          what();
        } while (!wake.wait_for(guard, stop, pause,
                                [&] { return stop.stop_requested(); }));
      }) {}

private:
  std::jthread thread_;
};

/// Lets a process run for a hundredth of the time.
class slow_process {
public:
  explicit slow_process(pid_t pid)
    : pid_(pid), pulses_(std::in_place, 1ms, [pid, n = 0]() mutable {
        kill(pid, ++n % 100 == 0 ? SIGCONT : SIGSTOP);
      }) {}

  ~slow_process() {
    pulses_.reset();
    kill(pid_, SIGCONT);
  }

private:
  pid_t pid_;
  std::optional<meanwhile> pulses_;
};

int nothing(engine&) {
  return 0;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_faults_test)

BOOST_AUTO_TEST_CASE(steps_that_throw_fail_or_repeat_their_own_rows) {
  const auto failed =
    run({cards(2, ",test_card_fault_every=9"), "scheduler.attempts=1000"},
        {"internal"}, nothing);
  BOOST_TEST(failed > 0u);
  BOOST_TEST(failed < requests() / 2);
}

BOOST_AUTO_TEST_CASE(an_arena_of_few_slots_makes_requests_wait) {
  BOOST_TEST(run({cards(2, ""), "arena.state_slots=4", "arena.image_slots=4"},
                 {}, nothing)
             == 0u);
}

BOOST_AUTO_TEST_CASE(a_slow_cpu_process_delays_and_loses_nothing) {
  const auto failed = run({cards(2, "")}, {}, [](engine& sut) {
    return std::make_unique<slow_process>(test::pid_of(sut, "cpu"));
  });
  BOOST_TEST(failed == 0u);
}

BOOST_AUTO_TEST_CASE(half_of_the_devices_die_at_the_same_moment) {
  const auto failed =
    run({cards(4, ",test_card_step_ms=2"), "scheduler.attempts=1000"}, {},
        [](engine& sut) {
          return std::make_unique<meanwhile>(300ms, [&sut] {
            const auto first = test::pid_of(sut, "cpu:0");
            const auto second = test::pid_of(sut, "cpu:2");
            if (first == 0 || second == 0)
              return;
            kill(first, SIGKILL);
            kill(second, SIGKILL);
          });
        });
  BOOST_TEST(failed == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
