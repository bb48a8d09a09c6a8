// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

using namespace std::chrono_literals;

inline const std::vector<std::string> quick_restarts{
  "processes.heartbeat_ms=20",    "processes.silence_ms=1000",
  "processes.setup_ms=5000",      "processes.restart_first_ms=1",
  "processes.restart_most_ms=10", "scheduler.attempts=1000"};

inline std::vector<std::string> with_card(const std::string& card,
                                          std::vector<std::string> more = {}) {
  auto all = quick_restarts;
  all.push_back("devices=[" + card + "]");
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Returns the settings of one device whose step takes `step_ms`.
inline std::string card(int step_ms, int publish_every = 1) {
  return "{name='cpu:0',max_batch=4,seats=4,test_card_step_ms="
       + std::to_string(step_ms)
       + ",publish_every=" + std::to_string(publish_every) + "}";
}

inline generation wanted_image(uint32_t steps, uint32_t side = 64) {
  generation x;
  x.prompt = "a death";
  x.width = x.height = side;
  x.steps = steps;
  x.seed = 99;
  return x;
}

inline generated_image undisturbed(const generation& wanted) {
  auto sut = start(mode::single);
  return image_in(answers_to(*sut, {wanted})[0]);
}

/// A request in flight whose steps can be observed.
struct watched {
  std::shared_ptr<std::atomic<uint32_t>> steps =
    std::make_shared<std::atomic<uint32_t>>(0);
  std::shared_ptr<std::atomic<uint32_t>> answers =
    std::make_shared<std::atomic<uint32_t>>(0);
  submission accepted;

  watched(engine& to, const generation& wanted) {
    callbacks calls;
    calls.progressed = [s = steps](const progress& p) { *s = p.steps_done; };
    calls.answered = [n = answers](const answer&) { ++*n; };
    auto got = to.submit(wanted, std::move(calls));
    BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
    accepted = std::get<submission>(std::move(got));
  }

  bool comes_to_step(uint32_t n) const {
    return eventually([&] { return *steps >= n; });
  }

  answer wait() {
    BOOST_TEST_REQUIRE(
      (accepted.result.wait_for(120s) == std::future_status::ready));
    return accepted.result.get();
  }
};

inline void kill_process(const engine& of, const std::string& role,
                         int signal) {
  pid_t pid = 0;
  BOOST_TEST_REQUIRE(eventually([&] { return (pid = pid_of(of, role)) != 0; }));
  kill(pid, signal);
}

inline uint32_t restarts_of(const engine& of, const std::string& role) {
  for (const auto& p : of.status().processes)
    if (p.role == role)
      return p.restarts;
  return 0;
}

inline void check_at_rest(engine& sut) {
  BOOST_TEST(comes_to_rest(sut));
  const auto s = sut.status();
  BOOST_TEST(s.slots_in_use == 0u);
  BOOST_TEST(s.accepted == s.answered + s.failed + s.cancelled);
}

} // namespace atelier::test
