// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/own_thread.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <stdexcept>

using namespace atelier;

BOOST_AUTO_TEST_SUITE(own_thread_test)

BOOST_AUTO_TEST_CASE(what_the_work_throws_is_an_error) {
  BOOST_TEST(runtime::on_own_thread([] { return core::result<void>{}; })
               .
               operator bool());
  const auto failed = runtime::on_own_thread(
    []() -> core::result<void> { throw std::runtime_error{"no"}; });
  BOOST_REQUIRE(!failed);
  BOOST_TEST((failed.why().code == core::ec::internal));
  BOOST_TEST(failed.why().text == "no");
}

BOOST_AUTO_TEST_CASE(threads_that_can_start_are_enough) {
  for (const size_t count : {0u, 1u, 20u})
    BOOST_TEST(runtime::check_threads(count).operator bool());
}

BOOST_AUTO_TEST_CASE(no_thread_starts_without_memory_for_the_record_of_all) {
  // A thread that has started would be waited for while it waits itself.
  const auto none =
    runtime::check_threads(std::numeric_limits<size_t>::max() / 2);
  BOOST_REQUIRE(!none);
  BOOST_TEST((none.why().code == core::ec::out_of_resources));
  BOOST_TEST(none.why().text.starts_with("only 0 of "), none.why().text);
}

BOOST_AUTO_TEST_SUITE_END()
