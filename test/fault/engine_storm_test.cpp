// SPDX-License-Identifier: Apache-2.0
// Processes die continuously, and every request is answered once.
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/process_table.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

/// Kills or stops a random process of `of` every 200 ms until it is destroyed.
class storm {
public:
  explicit storm(const engine& of)
    : of_(of), thread_([this](std::stop_token stop) { rage(stop); }) {}

  uint64_t deaths() const {
    return deaths_;
  }

private:
  void rage(std::stop_token stop) {
    core::philox random{test::seed(), core::purpose::fault};
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock guard{mutex};
    while (!wake.wait_for(guard, stop, 200ms,
                          [&] { return stop.stop_requested(); })) {
      const auto all = of_.status().processes;
      if (all.empty())
        continue;
      const auto& one = all[random.below(all.size())];
      if (!one.alive)
        continue;
      kill(one.pid, random.below(4) == 0 ? SIGSTOP : SIGKILL);
      ++deaths_;
    }
  }

  const engine& of_;
  std::atomic<uint64_t> deaths_ = 0;
  // The last member: it ends before the members that it uses.
  std::jthread thread_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(engine_storm_test)

BOOST_AUTO_TEST_CASE(every_request_is_answered_once_with_its_own_image) {
  const auto wanted =
    test::mixed_requests(300 + test::scaled(20'000), test::seed());
  std::vector<answer> expected;
  {
    auto calm = test::start(mode::single);
    expected = test::answers_to(*calm, wanted);
  }
  const std::string two_devices =
    "devices=[{name='cpu:0',test_card_step_ms=3,max_batch=4,seats=4},"
    "{name='cpu:1',test_card_step_ms=3,max_batch=4,seats=4}]";
  auto sut = test::start(
    mode::split,
    {two_devices, "processes.heartbeat_ms=20", "processes.silence_ms=500",
     "processes.setup_ms=5000", "processes.restart_first_ms=1",
     "processes.restart_most_ms=10", "scheduler.attempts=1000"});
  std::vector<test::in_flight> all;
  uint64_t deaths = 0;
  std::vector<answer> answers;
  {
    const storm around{*sut};
    for (const auto& x : wanted)
      all.push_back(test::hand_in(*sut, x));
    for (auto& x : all)
      answers.push_back(test::await(x));
    deaths = around.deaths();
  }
  uint64_t repeated = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto& calm = test::image_in(expected[i]);
    const auto& p = test::image_in(answers[i]);
    BOOST_TEST(p.bytes == calm.bytes);
    BOOST_TEST(p.steps_run >= calm.steps_run);
    repeated += p.steps_run - calm.steps_run;
  }
  BOOST_TEST(test::comes_to_rest(*sut));
  const auto s = sut->status();
  BOOST_TEST_MESSAGE(deaths << " deaths, " << repeated << " steps repeated, "
                            << wanted.size() << " requests");
  BOOST_TEST(s.accepted == wanted.size());
  BOOST_TEST(s.answered == wanted.size());
  BOOST_TEST(deaths > 0u);
  BOOST_TEST(sut->stop(10s));
  for (const auto& x : all)
    BOOST_TEST(x.answers->load() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
