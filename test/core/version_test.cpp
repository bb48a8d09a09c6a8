// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/version.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cctype>

BOOST_AUTO_TEST_SUITE(version_test)

BOOST_AUTO_TEST_CASE(version_has_three_numbers) {
  const auto sut = atelier::core::version();
  BOOST_TEST(std::count(sut.begin(), sut.end(), '.') == 2);
  for (char c : sut)
    BOOST_TEST((c == '.' || std::isdigit(static_cast<unsigned char>(c)) != 0));
}

BOOST_AUTO_TEST_SUITE_END()
