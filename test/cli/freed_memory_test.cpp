// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/freed_memory.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::cli;
using namespace std::chrono_literals;

namespace {

constexpr uint64_t mib = 1 << 20;
constexpr core::time_point start{};

} // namespace

BOOST_AUTO_TEST_SUITE(freed_memory_test)

BOOST_AUTO_TEST_CASE(what_the_start_freed_is_returned_once) {
  freed_memory sut;
  BOOST_TEST(!sut.due(start, 60 * mib, false));
  BOOST_TEST(sut.due(start + 2s, 60 * mib, false));
  sut.returned(start + 2s, 60 * mib);
  BOOST_TEST(!sut.due(start + 10s, 60 * mib, false));
  BOOST_TEST(!sut.due(start + 1h, 64 * mib - 1, false));
}

BOOST_AUTO_TEST_CASE(memory_is_returned_once_work_is_over_for_a_while) {
  freed_memory sut;
  sut.returned(start, 60 * mib);
  BOOST_TEST(!sut.due(start + 1s, 61 * mib, true));
  BOOST_TEST(!sut.due(start + 2s, 61 * mib, false));
  BOOST_TEST(!sut.due(start + 3s, 61 * mib, false));
  BOOST_TEST(sut.due(start + 4s, 61 * mib, false));
}

BOOST_AUTO_TEST_CASE(work_begins_the_quiet_time_anew) {
  freed_memory sut;
  sut.returned(start, 60 * mib);
  BOOST_TEST(!sut.due(start + 1s, 80 * mib, false));
  BOOST_TEST(!sut.due(start + 2s, 80 * mib, true));
  BOOST_TEST(!sut.due(start + 3s, 80 * mib, false));
  BOOST_TEST(!sut.due(start + 4s, 80 * mib, false));
  BOOST_TEST(sut.due(start + 5s, 80 * mib, false));
}

BOOST_AUTO_TEST_CASE(
  a_change_in_either_direction_tells_of_work_that_was_not_seen) {
  freed_memory sut;
  sut.due(start, 60 * mib, false);
  sut.returned(start, 60 * mib);
  BOOST_TEST(sut.due(start + 2s, 64 * mib, false));
  BOOST_TEST(sut.due(start + 3s, 56 * mib, false));
}

BOOST_AUTO_TEST_CASE(beside_work_only_much_is_returned_and_seldom) {
  freed_memory sut;
  sut.due(start, 60 * mib, true);
  BOOST_TEST(!sut.due(start + 1h, 124 * mib - 1, true));
  BOOST_TEST(sut.due(start + 1h, 124 * mib, true));
  // What lived then may be free a minute later, also if nothing grows.
  sut.returned(start + 1h, 124 * mib);
  BOOST_TEST(!sut.due(start + 1h + 59s, 124 * mib, true));
  BOOST_TEST(sut.due(start + 1h + 60s, 124 * mib, true));
}

BOOST_AUTO_TEST_CASE(the_process_has_memory_of_its_own) {
  const auto bytes = own_resident_bytes();
  BOOST_TEST_REQUIRE(bytes.has_value());
  BOOST_TEST(*bytes > 0u);
  return_freed_memory();
}

BOOST_AUTO_TEST_SUITE_END()
