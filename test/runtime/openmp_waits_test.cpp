// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/openmp_waits.hpp>

#include <boost/test/unit_test.hpp>

using atelier::runtime::addresses_of;
using atelier::runtime::with_short_waits;
using texts = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(openmp_waits)

BOOST_AUTO_TEST_CASE(an_environment_that_chooses_nothing_gets_short_waits) {
  const char* none[] = {nullptr};
  BOOST_TEST(with_short_waits(none) == texts{"GOMP_SPINCOUNT=1000"});
  BOOST_TEST(with_short_waits(nullptr) == texts{"GOMP_SPINCOUNT=1000"});
  const char* other[] = {"HOME=/root", "XGOMP_SPINCOUNT=4", nullptr};
  BOOST_TEST(
    with_short_waits(other)
    == (texts{"HOME=/root", "XGOMP_SPINCOUNT=4", "GOMP_SPINCOUNT=1000"}));
}

BOOST_AUTO_TEST_CASE(an_environment_that_chooses_keeps_its_choice) {
  for (const char* choice :
       {"GOMP_SPINCOUNT=20000", "GOMP_SPINCOUNT=", "OMP_WAIT_POLICY=active"}) {
    const char* chosen[] = {"HOME=/root", choice, nullptr};
    BOOST_TEST(with_short_waits(chosen) == (texts{"HOME=/root", choice}));
  }
}

BOOST_AUTO_TEST_CASE(addresses_end_with_a_null_pointer) {
  texts words{"a", "b"};
  const auto pointers = addresses_of(words);
  BOOST_REQUIRE(pointers.size() == 3);
  BOOST_TEST(std::string{pointers[1]} == "b");
  BOOST_TEST(pointers[2] == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
