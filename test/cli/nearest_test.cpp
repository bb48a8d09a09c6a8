// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/nearest.hpp>

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace atelier::runtime::cli;

BOOST_AUTO_TEST_SUITE(nearest_test)

BOOST_AUTO_TEST_CASE(distances_count_changes_of_bytes) {
  BOOST_TEST(edit_distance("", "") == 0u);
  BOOST_TEST(edit_distance("", "abc") == 3u);
  BOOST_TEST(edit_distance("abc", "") == 3u);
  BOOST_TEST(edit_distance("kitten", "sitting") == 3u);
  BOOST_TEST(edit_distance("doctor", "doctor") == 0u);
  BOOST_TEST(edit_distance("sede", "seed") == 1u);
  BOOST_TEST(edit_distance("ab", "ba") == 1u);
}

BOOST_AUTO_TEST_CASE(the_nearest_is_the_first_of_the_nearest) {
  const std::vector<std::string> known = {"generate", "doctor", "config"};
  BOOST_TEST(nearest("genrate", known) == "generate");
  BOOST_TEST(nearest("conf", known) == "config");
  BOOST_TEST(nearest("", known) == "doctor");
  BOOST_TEST(nearest("x", {}) == "");
}

BOOST_AUTO_TEST_CASE(what_is_far_away_is_not_near) {
  const std::vector<std::string> known = {"stop", "status"};
  BOOST_TEST(near("stauts", known) == "status");
  BOOST_TEST(near("help", known) == "");
  BOOST_TEST(near("x", {}) == "");
}

BOOST_AUTO_TEST_CASE(every_code_has_its_status) {
  using enum exit_status;
  BOOST_TEST((status_of("invalid_argument") == bad_input));
  BOOST_TEST((status_of("bad_config") == bad_input));
  BOOST_TEST((status_of("not_found") == not_there));
  BOOST_TEST((status_of("overloaded") == refused));
  BOOST_TEST((status_of("deadline_missed") == refused));
  BOOST_TEST((status_of("poison") == failed));
  BOOST_TEST((status_of("a code of tomorrow") == failed));
}

BOOST_AUTO_TEST_SUITE_END()
