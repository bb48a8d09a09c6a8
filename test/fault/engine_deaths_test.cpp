// SPDX-License-Identifier: Apache-2.0
// Each case is a row of the table of deaths: the process that is killed, the
// moment in a request's life, and what the client sees. An image after a death
// equals the image without one, bit for bit.
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>
#include <fault/watched.hpp>
#include <process/process_table.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::card;
using test::check_at_rest;
using test::come_to_moment;
using test::eventually;
using test::kill_process;
using test::mode;
using test::quick_restarts;
using test::restarts_of;
using test::undisturbed;
using test::wanted_image;
using test::watched;
using test::with_card;

namespace {

/// Returns an edit that runs `steps` steps of twice as many.
generation wanted_edit(uint32_t steps, uint32_t side = 64) {
  auto x = wanted_image(2 * steps, side);
  x.image = test::image_file(side + 40, side + 8, 1, core::image_format::png);
  x.mask = test::image_file(side, side, 2, core::image_format::jpeg);
  x.strength = 0.5f;
  return x;
}

void come_to_moment(uint64_t us, const watched& x) {
  test::come_to_moment(us, [&] { return x.answers->load() > 0; });
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_deaths_test)

BOOST_AUTO_TEST_CASE(a_device_process_dies_in_a_step) {
  const auto wanted = wanted_image(10);
  const auto expected = undisturbed(wanted);
  auto sut = test::start(mode::split, with_card(card(30)));
  for (uint32_t at : {1u, 4u, 8u}) {
    watched x{*sut, wanted};
    BOOST_TEST_REQUIRE(x.comes_to_step(at));
    kill_process(*sut, "cpu:0", SIGKILL);
    const auto a = x.wait();
    test::check_same_image(test::image_in(a), expected);
    // At most the step in progress and one unreported step are repeated.
    BOOST_TEST(std::get<generated_image>(a).steps_run >= 10u);
    BOOST_TEST(std::get<generated_image>(a).steps_run <= 12u);
    BOOST_TEST(eventually([&] { return x.answers->load() == 1; }));
    check_at_rest(*sut);
  }
  BOOST_TEST(restarts_of(*sut, "cpu:0") == 3u);
}

BOOST_AUTO_TEST_CASE(steps_after_the_last_publication_are_repeated) {
  const auto wanted = wanted_image(12);
  const auto expected = undisturbed(wanted);
  auto sut = test::start(mode::split, with_card(card(20, 5)));
  watched x{*sut, wanted};
  BOOST_TEST_REQUIRE(x.comes_to_step(8));
  kill_process(*sut, "cpu:0", SIGKILL);
  const auto a = x.wait();
  test::check_same_image(test::image_in(a), expected);
  // It resumed from step 5. The later steps ran twice, and the count includes
  // both.
  BOOST_TEST(std::get<generated_image>(a).steps_run >= 12u + 3);
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(a_device_process_dies_in_a_step_of_an_edit) {
  const auto wanted = wanted_edit(10);
  const auto expected = undisturbed(wanted);
  BOOST_TEST(expected.steps_run == 10u);
  auto sut = test::start(mode::split, with_card(card(30)));
  for (uint32_t at : {1u, 5u, 8u}) {
    watched x{*sut, wanted};
    BOOST_TEST_REQUIRE(x.comes_to_step(at));
    kill_process(*sut, "cpu:0", SIGKILL);
    const auto a = x.wait();
    test::check_same_image(test::image_in(a), expected);
    BOOST_TEST(std::get<generated_image>(a).steps_run >= 10u);
    BOOST_TEST(std::get<generated_image>(a).steps_run <= 12u);
    check_at_rest(*sut);
  }
}

BOOST_AUTO_TEST_CASE(processes_die_at_any_moment_of_an_edit) {
  // The phases are decoding, scaling, steps and encoding. No death of a process
  // loses a request. The engine has as few slots as it can run with.
  const auto wanted = wanted_edit(4, 256);
  const auto expected = undisturbed(wanted);
  core::philox random{test::seed(), core::purpose::fault};
  auto sut =
    test::start(mode::split, with_card(card(0), {"arena.image_slots=3"}));
  for (size_t i = 0; i < 20 + test::scaled(1000); ++i) {
    watched x{*sut, wanted};
    come_to_moment(random.below(25'000), x);
    kill_process(*sut, i % 2 == 0 ? "cpu" : "cpu:0", SIGKILL);
    const auto a = x.wait();
    test::check_same_image(test::image_in(a), expected);
    BOOST_TEST(eventually([&] { return x.answers->load() == 1; }));
  }
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(the_cpu_process_dies_while_an_edit_steps) {
  const auto wanted = wanted_edit(8);
  const auto expected = undisturbed(wanted);
  auto sut = test::start(mode::split, with_card(card(20)));
  watched x{*sut, wanted};
  BOOST_TEST_REQUIRE(x.comes_to_step(3));
  // The source slot stays as it is.
  kill_process(*sut, "cpu", SIGKILL);
  const auto a = x.wait();
  test::check_same_image(test::image_in(a), expected);
  BOOST_TEST(std::get<generated_image>(a).steps_run == 8u);
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(a_device_process_dies_at_any_moment) {
  // Publications, copies and decodings take most of the time here.
  const auto wanted = wanted_image(6, 256);
  const auto expected = undisturbed(wanted);
  core::philox random{test::seed(), core::purpose::fault};
  auto sut = test::start(mode::split, with_card(card(0)));
  for (size_t i = 0; i < 10 + test::scaled(500); ++i) {
    watched x{*sut, wanted};
    come_to_moment(random.below(20'000), x);
    kill_process(*sut, "cpu:0", SIGKILL);
    const auto a = x.wait();
    test::check_same_image(test::image_in(a), expected);
    BOOST_TEST(eventually([&] { return x.answers->load() == 1; }));
  }
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(the_cpu_process_dies_at_any_moment) {
  // The deaths hit while preparing, while encoding, before the reply, and after
  // it.
  const auto wanted = wanted_image(2, 256);
  const auto expected = undisturbed(wanted);
  core::philox random{test::seed(), core::purpose::fault};
  auto sut = test::start(mode::split, with_card(card(0)));
  for (size_t i = 0; i < 10 + test::scaled(500); ++i) {
    watched x{*sut, wanted};
    come_to_moment(random.below(20'000), x);
    kill_process(*sut, "cpu", SIGKILL);
    const auto a = x.wait();
    test::check_same_image(test::image_in(a), expected);
    BOOST_TEST(std::get<generated_image>(a).steps_run == 2u);
    BOOST_TEST(eventually([&] { return x.answers->load() == 1; }));
  }
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(the_cpu_process_dies_while_a_device_steps) {
  const auto wanted = wanted_image(8);
  const auto expected = undisturbed(wanted);
  auto sut = test::start(mode::split, with_card(card(20)));
  watched x{*sut, wanted};
  BOOST_TEST_REQUIRE(x.comes_to_step(3));
  kill_process(*sut, "cpu", SIGKILL);
  const auto a = x.wait();
  test::check_same_image(test::image_in(a), expected);
  BOOST_TEST(std::get<generated_image>(a).steps_run == 8u);
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(both_die_in_turn) {
  const auto wanted = wanted_image(12);
  const auto expected = undisturbed(wanted);
  auto sut = test::start(mode::split, with_card(card(20)));
  watched x{*sut, wanted};
  BOOST_TEST_REQUIRE(x.comes_to_step(2));
  kill_process(*sut, "cpu:0", SIGKILL);
  kill_process(*sut, "cpu", SIGKILL);
  BOOST_TEST_REQUIRE(x.comes_to_step(6));
  kill_process(*sut, "cpu", SIGKILL);
  kill_process(*sut, "cpu:0", SIGKILL);
  test::check_same_image(test::image_in(x.wait()), expected);
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(another_device_takes_over) {
  const auto wanted = wanted_image(12);
  const auto expected = undisturbed(wanted);
  // The dead process does not restart in time.
  auto options = with_card(card(20) + ",{name='cpu:1',test_card_step_ms=20}");
  options.emplace_back("processes.restart_most_ms=60000");
  options.emplace_back("processes.restart_first_ms=60000");
  auto sut = test::start(mode::split, options);
  std::vector<std::unique_ptr<watched>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(std::make_unique<watched>(*sut, wanted));
  for (const auto& x : all)
    BOOST_TEST_REQUIRE(x->comes_to_step(3));
  kill_process(*sut, "cpu:0", SIGKILL);
  for (auto& x : all)
    test::check_same_image(test::image_in(x->wait()), expected);
  BOOST_TEST(test::pid_of(*sut, "cpu:0") == 0);
  check_at_rest(*sut);
}

BOOST_AUTO_TEST_CASE(a_stopped_process_is_found_and_replaced) {
  const auto wanted = wanted_image(12);
  const auto expected = undisturbed(wanted);
  auto options = with_card(card(20));
  options.emplace_back("processes.silence_ms=300");
  auto sut = test::start(mode::split, options);
  for (const auto* role : {"cpu:0", "cpu"}) {
    watched x{*sut, wanted};
    BOOST_TEST_REQUIRE(x.comes_to_step(3));
    const auto stopped = test::pid_of(*sut, role);
    kill_process(*sut, role, SIGSTOP);
    test::check_same_image(test::image_in(x.wait()), expected);
    BOOST_TEST(eventually([&] { return !test::is_alive(stopped); }));
    check_at_rest(*sut);
  }
}

BOOST_AUTO_TEST_CASE(a_death_while_starting_is_survived) {
  core::philox random{test::seed(), core::purpose::fault};
  for (size_t i = 0; i < 3 + test::scaled(100); ++i) {
    // Each start has one death. Three in a row would end the engine.
    std::atomic<bool> started{false};
    std::jthread killer{[&started, us = random.below(30'000)] {
      std::vector<pid_t> there;
      if (!eventually([&] {
            there = test::engine_processes_of(getpid());
            return !there.empty();
          }))
        return;
      come_to_moment(us, [&] { return started.load(); });
      kill(there.front(), SIGKILL);
    }};
    auto sut = test::start(mode::split, quick_restarts);
    started = true;
    killer.join();
    test::image_in(test::answers_to(*sut, {wanted_image(3)})[0]);
    check_at_rest(*sut);
  }
}

BOOST_AUTO_TEST_CASE(a_cancel_and_a_death_meet) {
  core::philox random{test::seed(), core::purpose::fault};
  auto sut = test::start(mode::split, with_card(card(2)));
  for (size_t i = 0; i < 5 + test::scaled(300); ++i) {
    std::vector<std::unique_ptr<watched>> all;
    for (int k = 0; k < 6; ++k)
      all.push_back(std::make_unique<watched>(*sut, wanted_image(10)));
    come_to_moment(random.below(20'000), [&] {
      return std::ranges::all_of(
        all, [](const auto& x) { return x->answers->load() > 0; });
    });
    const bool first = random.below(2) == 0;
    if (first)
      kill_process(*sut, random.below(2) == 0 ? "cpu" : "cpu:0", SIGKILL);
    for (size_t k = 0; k < all.size(); k += 2)
      static_cast<void>(sut->cancel(all[k]->accepted.request));
    if (!first)
      kill_process(*sut, random.below(2) == 0 ? "cpu" : "cpu:0", SIGKILL);
    for (size_t k = 0; k < all.size(); ++k) {
      const auto code = test::code_of(all[k]->wait());
      BOOST_TEST((code == "" || (code == "cancelled" && k % 2 == 0)), code);
    }
    check_at_rest(*sut);
    for (const auto& x : all)
      BOOST_TEST(eventually([&] { return x->answers->load() == 1; }));
  }
}

BOOST_AUTO_TEST_SUITE_END()
