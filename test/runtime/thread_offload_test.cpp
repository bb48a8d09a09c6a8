// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/thread_offload.hpp>

#include <boost/test/unit_test.hpp>
#include <support/eventually.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>

using namespace atelier;
using runtime::thread_offload;
using test::eventually;

BOOST_AUTO_TEST_SUITE(thread_offload_test)

BOOST_AUTO_TEST_CASE(work_runs_in_order_on_one_other_thread) {
  std::vector<int> ran;
  std::promise<std::thread::id> where;
  {
    thread_offload sut{1, 8};
    for (int i = 0; i < 4; ++i)
      BOOST_TEST(sut.run({}, [&ran, i] { ran.push_back(i); }));
    BOOST_TEST(
      sut.run({}, [&where] { where.set_value(std::this_thread::get_id()); }));
    BOOST_TEST((where.get_future().get() != std::this_thread::get_id()));
  }
  BOOST_TEST((ran == std::vector{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(background_work_yields_and_other_work_does_not) {
  const auto nice_in = [](runtime::thread_share share) {
    std::promise<int> found;
    thread_offload sut{1, 1, share};
    BOOST_TEST(
      sut.run({}, [&] { found.set_value(getpriority(PRIO_PROCESS, 0)); }));
    return found.get_future().get();
  };
  const int own = getpriority(PRIO_PROCESS, 0);
  BOOST_TEST(nice_in(runtime::thread_share::equal) == own);
  BOOST_TEST(nice_in(runtime::thread_share::background) == std::max(own, 10));
  // The thread that asked keeps its own.
  BOOST_TEST(getpriority(PRIO_PROCESS, 0) == own);
}

BOOST_AUTO_TEST_CASE(what_is_too_much_is_refused) {
  std::promise<void> begun;
  std::promise<void> open;
  auto opened = open.get_future().share();
  thread_offload sut{1, 2};
  BOOST_TEST(sut.run({}, [&] {
    begun.set_value();
    opened.wait();
  }));
  begun.get_future().wait();
  BOOST_TEST(sut.run({}, [] {}));
  BOOST_TEST(sut.run({}, [] {}));
  BOOST_TEST(!sut.run({}, [] {}));
  open.set_value();
  BOOST_TEST(eventually([&] { return sut.run({}, [] {}); }));
}

BOOST_AUTO_TEST_CASE(the_end_waits_for_what_runs_and_drops_the_rest) {
  std::promise<void> begun;
  std::promise<void> open;
  auto opened = open.get_future().share();
  std::atomic<bool> ran_first = false;
  std::atomic<bool> ran_second = false;
  std::optional<thread_offload> sut;
  sut.emplace(1u, size_t{8});
  sut->run({}, [&] {
    begun.set_value();
    opened.wait();
    ran_first = true;
  });
  begun.get_future().wait();
  sut->run({}, [&] { ran_second = true; });
  std::jthread end{[&] { sut.reset(); }};
  // It refuses work as soon as its end begins.
  open.set_value();
  end.join();
  BOOST_TEST(ran_first.load());
}

BOOST_AUTO_TEST_CASE(a_work_that_throws_ends_alone) {
  thread_offload sut{1, 8};
  std::promise<void> after;
  BOOST_TEST(sut.run({}, [] { throw std::runtime_error{"work"}; }));
  BOOST_TEST(sut.run({}, [&] { after.set_value(); }));
  BOOST_TEST((after.get_future().wait_for(std::chrono::seconds{30})
              == std::future_status::ready));
}

BOOST_AUTO_TEST_SUITE_END()
