// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/own_thread_calls.hpp>

#include <boost/test/unit_test.hpp>
#include <support/eventually.hpp>

#include <pthread.h>

#include <future>
#include <stdexcept>
#include <string>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using runtime::own_thread_calls;
using test::eventually;

namespace {

/// Returns why a call failed; empty if it did not.
std::string failure_of(own_thread_calls& sut, std::function<void()> work,
                       core::timespan patience = 1h) {
  try {
    sut.run(std::move(work), patience);
    return {};
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(own_thread_calls_test)

BOOST_AUTO_TEST_CASE(a_call_runs_on_another_thread_and_is_waited_for) {
  own_thread_calls sut;
  std::thread::id where;
  BOOST_TEST(failure_of(sut, [&] { where = std::this_thread::get_id(); })
             == "");
  BOOST_TEST((where != std::this_thread::get_id()));
  BOOST_TEST((where != std::thread::id{}));
}

BOOST_AUTO_TEST_CASE(a_failure_is_the_callers) {
  own_thread_calls sut;
  BOOST_TEST(failure_of(sut, [] { throw std::logic_error{"no"}; }) == "no");
  BOOST_TEST(failure_of(sut, [] { throw 7; })
             == "an exception that is not a std::exception");
  BOOST_TEST(failure_of(sut, [] { pthread_exit(nullptr); })
             == "it ended its thread");
  BOOST_TEST(failure_of(sut, [] {}) == "");
}

BOOST_AUTO_TEST_CASE(a_call_that_does_not_return_is_given_up) {
  own_thread_calls sut;
  std::promise<void> release;
  auto released = release.get_future().share();
  const auto block = [released] { released.wait(); };
  BOOST_TEST(failure_of(sut, block, 0s) == "it has not returned after 0 s");
  BOOST_TEST(failure_of(sut, [] {}) == "its last call has not returned yet");
  release.set_value();
  BOOST_TEST(eventually([&] { return failure_of(sut, [] {}) == ""; }));
}

BOOST_AUTO_TEST_CASE(an_end_lets_the_waiting_caller_go) {
  own_thread_calls sut;
  std::promise<void> begun;
  std::promise<void> release;
  auto released = release.get_future().share();
  auto caller = std::async(std::launch::async, [&] {
    return failure_of(sut, [&begun, released] {
      begun.set_value();
      released.wait();
    });
  });
  begun.get_future().wait();
  sut.abandon();
  BOOST_TEST(caller.get() == "the engine ends");
  BOOST_TEST(failure_of(sut, [] {}) == "the engine ends");
  release.set_value();
}

BOOST_AUTO_TEST_SUITE_END()
