// SPDX-License-Identifier: Apache-2.0
// Callbacks that block, stop or destroy the engine, in both modes.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/process_table.hpp>
#include <support/eventually.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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

submission hand_in(engine& to, const generation& wanted, callbacks calls) {
  auto got = to.submit(wanted, std::move(calls));
  BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
  return std::get<submission>(std::move(got));
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_callbacks_test)

BOOST_DATA_TEST_CASE(a_stop_in_a_callback_only_closes_the_door, modes, how) {
  auto sut = test::start(how);
  std::promise<bool> stopped;
  callbacks calls;
  calls.answered = [&](const answer&) { stopped.set_value(sut->stop(60s)); };
  const auto first = hand_in(*sut, small(2), calls);
  BOOST_TEST(!stopped.get_future().get());
  const auto refused = sut->submit(small(1));
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(refused));
  BOOST_TEST(std::get<failure>(refused).code == "stopping");
  BOOST_TEST(sut->stop(60s));
}

BOOST_DATA_TEST_CASE(a_callback_finds_its_future_ready, modes, how) {
  auto sut = test::start(how);
  std::promise<std::future<answer>> handed;
  std::promise<bool> was_ready;
  callbacks calls;
  calls.answered = [&](const answer&) {
    auto own = handed.get_future().get();
    was_ready.set_value(own.wait_for(0s) == std::future_status::ready);
  };
  handed.set_value(hand_in(*sut, small(2), calls).result);
  BOOST_TEST(was_ready.get_future().get());
}

BOOST_DATA_TEST_CASE(a_callback_may_hold_the_last_owner, modes, how) {
  const auto before = test::engine_processes_of(getpid()).size();
  std::promise<void> release;
  auto released = release.get_future().share();
  auto sut = std::shared_ptr<engine>{test::start(how, {slow_card})};
  callbacks calls;
  calls.answered = [keep = sut, released](const answer&) { released.wait(); };
  auto first = hand_in(*sut, small(2), std::move(calls));
  auto second = hand_in(*sut, small(100), {});
  const std::weak_ptr<engine> seen = sut;
  sut.reset();
  release.set_value();
  test::image_in(first.result.get());
  BOOST_TEST(test::code_of(second.result.get()) == "stopping");
  BOOST_TEST(seen.expired());
  BOOST_TEST(eventually(
    [&] { return test::engine_processes_of(getpid()).size() == before; }));
}

BOOST_DATA_TEST_CASE(a_callback_may_destroy_the_engine, modes, how) {
  const auto before = test::count_threads();
  auto sut = test::start(how, {slow_card});
  std::atomic<uint32_t> answers = 0;
  callbacks calls;
  calls.answered = [&](const answer&) {
    ++answers;
    sut.reset();
  };
  auto* const engine = sut.get();
  callbacks others;
  others.answered = [&](const answer&) { ++answers; };
  auto second = hand_in(*engine, small(100), others);
  auto first = hand_in(*engine, small(2), calls);
  test::image_in(first.result.get());
  BOOST_TEST(test::code_of(second.result.get()) == "stopping");
  BOOST_TEST(eventually([&] { return answers == 2u; }));
  BOOST_TEST(eventually([&] { return test::count_threads() <= before; }));
}

BOOST_DATA_TEST_CASE(a_stop_delivers_images_on_the_callback_thread, modes,
                     how) {
  auto sut = test::start(how);
  std::mutex mutex;
  std::vector<std::string> codes;
  std::vector<std::thread::id> where;
  callbacks calls;
  calls.answered = [&](const answer& a) {
    const std::lock_guard guard{mutex};
    codes.push_back(test::code_of(a));
    where.push_back(std::this_thread::get_id());
  };
  std::vector<submission> all;
  {
    // No callback returns before the engine has stopped.
    const std::lock_guard guard{mutex};
    for (int i = 0; i < 6; ++i)
      all.push_back(hand_in(*sut, small(2), calls));
    BOOST_TEST(eventually([&] { return sut->status().answered == 6; }));
    BOOST_TEST(!sut->stop(0s));
  }
  sut.reset();
  BOOST_TEST((codes == std::vector<std::string>(6)));
  BOOST_TEST((std::count(where.begin(), where.end(), where[0]) == 6));
  BOOST_TEST((where[0] != std::this_thread::get_id()));
  for (auto& x : all)
    test::image_in(x.result.get());
}

BOOST_DATA_TEST_CASE(a_slow_callback_delays_no_other_request, modes, how) {
  auto sut = test::start(how, {"arena.image_slots=3"});
  std::promise<void> called;
  std::promise<void> release;
  auto released = release.get_future().share();
  callbacks slow;
  slow.progressed = [&, once = false](const progress&) mutable {
    if (!std::exchange(once, true))
      called.set_value();
    released.wait();
  };
  std::vector<submission> all;
  all.push_back(hand_in(*sut, small(50), slow));
  called.get_future().wait();
  for (int i = 0; i < 12; ++i)
    all.push_back(hand_in(*sut, small(2), {}));
  // Their images have left their slots although the callback has not returned.
  BOOST_TEST(eventually([&] { return sut->status().answered == 13; }));
  BOOST_TEST(test::comes_to_rest(*sut));
  release.set_value();
  for (auto& x : all)
    test::image_in(x.result.get());
}

BOOST_DATA_TEST_CASE(a_failure_names_its_request, modes, how) {
  auto sut = test::start(how, {slow_card});
  std::promise<uint64_t> told;
  callbacks calls;
  calls.answered = [&](const answer& a) {
    told.set_value(std::get<failure>(a).request);
  };
  auto x = hand_in(*sut, small(100), calls);
  BOOST_TEST(sut->cancel(x.request));
  BOOST_TEST(told.get_future().get() == x.request);
  BOOST_TEST(test::code_of(x.result.get()) == "cancelled");
}

BOOST_AUTO_TEST_SUITE_END()
