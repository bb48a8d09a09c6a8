// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>

namespace {

using atelier::test::scaled;

// Sets ATELIER_TEST_SCALE for one case.
class with_scale {
public:
  explicit with_scale(const char* value) {
    if (const char* old = std::getenv(name))
      old_ = old;
    if (value == nullptr)
      unsetenv(name);
    else
      setenv(name, value, 1);
  }

  with_scale(const with_scale&) = delete;
  with_scale& operator=(const with_scale&) = delete;

  ~with_scale() {
    if (old_.empty())
      unsetenv(name);
    else
      setenv(name, old_.c_str(), 1);
  }

private:
  static constexpr const char* name = "ATELIER_TEST_SCALE";
  std::string old_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(scale_test)

BOOST_AUTO_TEST_CASE(one_in_a_hundred_is_the_default) {
  with_scale scale{nullptr};
  BOOST_TEST(scaled(10'000) == 100u);
}

BOOST_AUTO_TEST_CASE(scale_one_is_the_full_count) {
  with_scale scale{"1"};
  BOOST_TEST(scaled(10'000) == 10'000u);
}

BOOST_AUTO_TEST_CASE(something_is_always_run) {
  with_scale scale{"0.001"};
  BOOST_TEST(scaled(1) == 1u);
  BOOST_TEST(scaled(5) == 1u);
}

BOOST_AUTO_TEST_CASE(nothing_stays_nothing) {
  with_scale scale{"0.5"};
  BOOST_TEST(scaled(0) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
