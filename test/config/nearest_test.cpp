// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/nearest.hpp>
#include <atelier/config/schema.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::config::detail {

BOOST_AUTO_TEST_SUITE(nearest)

BOOST_AUTO_TEST_CASE(distance_counts_edits) {
  BOOST_CHECK_EQUAL(edit_distance("", ""), 0);
  BOOST_CHECK_EQUAL(edit_distance("", "abc"), 3);
  BOOST_CHECK_EQUAL(edit_distance("abc", ""), 3);
  BOOST_CHECK_EQUAL(edit_distance("abc", "abc"), 0);
  BOOST_CHECK_EQUAL(edit_distance("abc", "axc"), 1);
  BOOST_CHECK_EQUAL(edit_distance("abc", "bc"), 1);
  BOOST_CHECK_EQUAL(edit_distance("abcd", "abdc"), 1);
  BOOST_CHECK_EQUAL(edit_distance("kitten", "sitting"), 3);
}

BOOST_AUTO_TEST_CASE(every_key_is_nearest_to_itself) {
  for (const auto& x : options()) {
    const auto key = std::string{x.section} + "." + std::string{x.name};
    BOOST_CHECK_EQUAL(nearest_key(key), key);
  }
}

BOOST_AUTO_TEST_CASE(slips_lead_to_the_key_meant) {
  BOOST_CHECK_EQUAL(nearest_key("limit.steps"), "limits.steps");
  BOOST_CHECK_EQUAL(nearest_key("log.levle"), "log.level");
  BOOST_CHECK_EQUAL(nearest_key("max_batch"), "devices.max_batch");
  BOOST_CHECK_EQUAL(nearest_key("process.heartbeat"), "");
  BOOST_CHECK_EQUAL(nearest_key("processes.hartbeat_ms"),
                    "processes.heartbeat_ms");
  BOOST_CHECK_EQUAL(nearest_key("schedular"), "scheduler");
  BOOST_CHECK_EQUAL(nearest_key("lgo"), "log");
}

BOOST_AUTO_TEST_CASE(nothing_is_near_to_something_else) {
  BOOST_CHECK_EQUAL(nearest_key("completely.different_thing"), "");
  BOOST_CHECK_EQUAL(nearest_key("foo"), "");
  BOOST_CHECK_EQUAL(nearest_key(std::string(100'000, 'x')), "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config::detail
