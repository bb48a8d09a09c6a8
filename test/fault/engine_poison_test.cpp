// SPDX-License-Identifier: Apache-2.0
// Requests that kill the process that works on them, whatever it does.
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>
#include <fault/watched.hpp>
#include <process/process_table.hpp>
#include <support/seed.hpp>

#include <sys/wait.h>

#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::card;
using test::check_at_rest;
using test::eventually;
using test::kill_process;
using test::mode;
using test::restarts_of;
using test::undisturbed;
using test::wanted_image;
using test::watched;
using test::with_card;

BOOST_AUTO_TEST_SUITE(engine_poison_test)

BOOST_AUTO_TEST_CASE(a_request_that_dies_again_and_again_is_poison) {
  core::philox random{test::seed(), core::purpose::fault};
  auto sut = test::start(mode::split, with_card(card(10'000)));
  watched x{*sut, wanted_image(3)};
  const auto answered = [&] { return x.answers->load() > 0; };
  // The batch is reported before its step begins, and a death between the
  // report and the step does not count. So there are at least three deaths, and
  // few more.
  uint32_t deaths = 0;
  while (!answered() && deaths < 20) {
    BOOST_TEST_REQUIRE(eventually([&] {
      const auto s = sut->status();
      return answered()
          || (!s.workers.empty() && s.workers[0].running == 1
              && test::pid_of(*sut, "cpu:0") != 0);
    }));
    if (answered())
      break;
    test::come_to_moment(random.below(100'000), answered);
    // The signal stands for a crash of the process itself.
    kill_process(*sut, "cpu:0", SIGSEGV);
    ++deaths;
    BOOST_TEST_REQUIRE(
      eventually([&] { return restarts_of(*sut, "cpu:0") == deaths; }));
  }
  const auto a = x.wait();
  BOOST_TEST_REQUIRE(test::code_of(a) == "poison");
  BOOST_TEST(deaths >= 3u);
  BOOST_TEST(std::get<failure>(a).text.starts_with(
               "its worker died 2 times while running it alone at step 0 "),
             std::get<failure>(a).text);
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(what_an_operator_kills_again_and_again_is_no_poison) {
  const auto wanted = wanted_image(3);
  const auto expected = undisturbed(wanted);
  auto sut = test::start(mode::split, with_card(card(200)));
  watched x{*sut, wanted};
  for (uint32_t deaths = 1; deaths <= 6; ++deaths) {
    BOOST_TEST_REQUIRE(eventually([&] {
      const auto s = sut->status();
      return !s.workers.empty() && s.workers[0].running == 1
          && test::pid_of(*sut, "cpu:0") != 0;
    }));
    kill_process(*sut, "cpu:0", SIGKILL);
    BOOST_TEST_REQUIRE(
      eventually([&] { return restarts_of(*sut, "cpu:0") == deaths; }));
  }
  test::check_same_image(test::image_in(x.wait()), expected);
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(
  a_request_that_kills_the_pools_is_poison_and_harms_no_other) {
  for (const std::string pool : {"preprocess", "postprocess"}) {
    auto sut = test::start(mode::split,
                           with_card(card(0), {pool + ".test_crash_seed=666"}));
    auto poisonous = wanted_image(2);
    poisonous.seed = 666;
    const auto innocent = wanted_image(2);
    std::vector<std::unique_ptr<watched>> all;
    for (int i = 0; i < 3; ++i)
      all.push_back(std::make_unique<watched>(*sut, innocent));
    watched bad{*sut, poisonous};
    for (int i = 0; i < 3; ++i)
      all.push_back(std::make_unique<watched>(*sut, innocent));
    const auto a = bad.wait();
    BOOST_TEST_REQUIRE(test::code_of(a) == "poison");
    BOOST_TEST(
      std::get<failure>(a).text.starts_with(
        "its worker died 2 times while "
        + std::string{pool == "preprocess" ? "preparing it alone"
                                           : "encoding its image alone"}),
      std::get<failure>(a).text);
    for (auto& x : all)
      test::image_in(x->wait());
    // The first death, and the two deaths with a request by itself.
    BOOST_TEST(restarts_of(*sut, "cpu") == 3u);
    check_at_rest(*sut);
  }
}

BOOST_AUTO_TEST_CASE(poison_is_found_whatever_a_host_does_with_its_children) {
  // Both leave no exit status to the engine.
  const auto reap_all = [](int) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  };
  for (const sighandler_t way : {SIG_IGN, sighandler_t{reap_all}}) {
    const auto before = std::signal(SIGCHLD, way);
    {
      auto sut = test::start(
        mode::split, with_card(card(0), {"preprocess.test_crash_seed=666"}));
      auto poisonous = wanted_image(2);
      poisonous.seed = 666;
      watched bad{*sut, poisonous};
      watched good{*sut, wanted_image(2)};
      BOOST_TEST(test::code_of(bad.wait()) == "poison");
      test::image_in(good.wait());
      check_at_rest(*sut);
    }
    std::signal(SIGCHLD, before);
  }
}

BOOST_AUTO_TEST_CASE(a_trial_alone_waits_for_the_client_and_goes_on_later) {
  auto bad = wanted_image(2);
  bad.seed = 666;
  const auto options = with_card(card(0), {"preprocess.test_crash_seed=666"});
  std::vector<suspicion> noted;
  std::mutex mutex;
  callbacks calls;
  calls.suspected = [&](const suspicion& x, const std::function<void()>& then) {
    {
      const std::lock_guard guard{mutex};
      noted.push_back(x);
    }
    then();
  };
  {
    auto sut = test::start(mode::split, options);
    auto got = sut->submit(bad, calls);
    auto& accepted = std::get<submission>(got);
    BOOST_TEST(test::code_of(accepted.result.get()) == "poison");
  }
  BOOST_REQUIRE(noted.size() == 2u);
  BOOST_TEST(noted[0].phase == "preparing");
  BOOST_TEST(noted[0].trials == 1u);
  BOOST_TEST(noted[1].trials == 2u);
  // The state is that of an engine that ended during the first trial.
  bad.suspected = noted[0];
  auto sut = test::start(mode::split, options);
  auto got = sut->submit(bad, calls);
  BOOST_TEST(test::code_of(std::get<submission>(got).result.get()) == "poison");
  BOOST_TEST(restarts_of(*sut, "cpu") == 1u);
  bad.suspected.phase = "nowhere";
  BOOST_TEST(std::get<failure>(sut->submit(bad))
               .text.starts_with("suspected.phase 'nowhere'"));
}

BOOST_AUTO_TEST_SUITE_END()
