// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/byte_shares.hpp>

#include <boost/test/unit_test.hpp>

#include <utility>

namespace atelier::runtime::http::detail {

namespace {

struct callers {
  byte_shares::part part(const char* caller) const {
    return {sut, caller, byte_shares::limits_of(800, 0)};
  }

  std::shared_ptr<byte_shares> sut = std::make_shared<byte_shares>();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(byte_shares_test, callers)

BOOST_AUTO_TEST_CASE(who_is_above_the_share_leaves_the_last_quarter) {
  auto a = part("a");
  BOOST_TEST(a.grow(600));
  BOOST_TEST(!a.grow(1));
  // All parts of a caller count together.
  auto again = part("a");
  BOOST_TEST(!again.grow(1));
  auto b = part("b");
  BOOST_TEST(b.grow(100));
  BOOST_TEST(!b.grow(1));
  auto c = part("c");
  BOOST_TEST(c.grow(100));
  BOOST_TEST(sut->held() == 800u);
  auto d = part("d");
  BOOST_TEST(!d.grow(1));
  a.shrink(500);
  BOOST_TEST(d.grow(1));
  BOOST_TEST(b.grow(99));
}

BOOST_AUTO_TEST_CASE(what_is_released_is_free_and_its_caller_forgotten) {
  {
    auto a = part("a");
    BOOST_TEST(a.grow(500));
    const auto moved = std::move(a);
    BOOST_TEST(moved.bytes() == 500u);
    BOOST_TEST(sut->callers() == 1u);
  }
  BOOST_TEST(sut->held() == 0u);
  BOOST_TEST(sut->callers() == 0u);
  auto b = part("b");
  b.must_grow(900);
  BOOST_TEST(sut->held() == 900u);
  b.clear();
  BOOST_TEST(sut->held() == 0u);
}

BOOST_AUTO_TEST_CASE(one_text_above_the_limit_goes_alone) {
  auto a = part("a");
  BOOST_TEST(a.grow(5000));
  auto b = part("b");
  BOOST_TEST(!b.grow(1));
}

BOOST_AUTO_TEST_CASE(a_share_is_an_eighth_or_the_largest_text) {
  BOOST_TEST(byte_shares::limits_of(800, 10).share == 100u);
  BOOST_TEST(byte_shares::limits_of(800, 700).share == 700u);
}

BOOST_AUTO_TEST_CASE(a_part_of_nobody_counts_nothing) {
  byte_shares::part x;
  BOOST_TEST(x.grow(1));
  x.shrink(1);
  BOOST_TEST(x.bytes() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
