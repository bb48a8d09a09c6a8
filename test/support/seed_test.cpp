// SPDX-License-Identifier: Apache-2.0
#include "support/seed.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>

BOOST_AUTO_TEST_SUITE(seed_test)

BOOST_AUTO_TEST_CASE(seed_is_the_same_throughout_a_process) {
  const auto first = atelier::test::seed();
  BOOST_TEST(atelier::test::seed() == first);
}

BOOST_AUTO_TEST_CASE(seed_comes_from_the_environment) {
  if (const char* wanted = std::getenv("ATELIER_TEST_SEED"))
    BOOST_TEST(std::to_string(atelier::test::seed()) == wanted);
  else
    BOOST_TEST_MESSAGE("ATELIER_TEST_SEED is not set");
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_SUITE_END()
