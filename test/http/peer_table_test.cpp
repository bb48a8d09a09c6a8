// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/peer_table.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace atelier::runtime::http::detail {

namespace {

struct peers {
  explicit peers(uint32_t most) : sut(std::make_shared<peer_table>(most)) {}

  /// Returns whether one more connection of that address is accepted; it stays
  /// open.
  bool enter(const std::string& address) {
    auto seat = sut->enter(boost::asio::ip::make_address(address));
    if (!seat)
      return false;
    seats.push_back(std::move(*seat));
    return true;
  }

  std::shared_ptr<peer_table> sut;
  std::vector<peer_table::seat> seats;
};

} // namespace

BOOST_AUTO_TEST_SUITE(peer_table_test)

BOOST_AUTO_TEST_CASE(each_address_has_its_own_places) {
  peers x{2};
  BOOST_TEST(x.enter("10.0.0.1"));
  BOOST_TEST(x.enter("10.0.0.1"));
  BOOST_TEST(!x.enter("10.0.0.1"));
  BOOST_TEST(x.enter("10.0.0.2"));
  x.seats.erase(x.seats.begin());
  BOOST_TEST(x.enter("10.0.0.1"));
}

BOOST_AUTO_TEST_CASE(an_address_within_ipv6_is_the_same_one) {
  peers x{1};
  BOOST_TEST(x.enter("10.0.0.1"));
  BOOST_TEST(!x.enter("::ffff:10.0.0.1"));
}

BOOST_AUTO_TEST_CASE(of_ipv6_a_network_counts) {
  peers x{1};
  BOOST_TEST(x.enter("2001:db8:0:1::1"));
  BOOST_TEST(!x.enter("2001:db8:0:1:ffff::2"));
  BOOST_TEST(x.enter("2001:db8:0:2::1"));
}

BOOST_AUTO_TEST_CASE(a_network_has_one_name) {
  const auto name = [](const char* x) { return peer_table::network_of(x); };
  BOOST_TEST(name("2001:db8:0:1::1") == name("2001:db8:0:1:ffff::2"));
  BOOST_TEST(name("2001:db8:0:1::1") != name("2001:db8:0:2::1"));
  BOOST_TEST(name("::ffff:10.0.0.1") == "10.0.0.1");
  BOOST_TEST(name("") == "");
}

BOOST_AUTO_TEST_CASE(by_default_this_machine_has_no_limit) {
  peers x{0};
  for (uint32_t i = 0; i < peer_table::default_most; ++i) {
    BOOST_REQUIRE(x.enter("127.0.0.1"));
    BOOST_REQUIRE(x.enter("::1"));
    BOOST_REQUIRE(x.enter("192.0.2.1"));
  }
  BOOST_TEST(x.enter("127.0.0.1"));
  BOOST_TEST(x.enter("::1"));
  BOOST_TEST(x.enter("::ffff:127.0.0.2"));
  BOOST_TEST(!x.enter("192.0.2.1"));
}

BOOST_AUTO_TEST_CASE(a_limit_that_is_set_holds_for_this_machine_too) {
  peers x{1};
  BOOST_TEST(x.enter("127.0.0.1"));
  BOOST_TEST(!x.enter("127.0.0.1"));
}

BOOST_AUTO_TEST_CASE(who_went_is_not_remembered) {
  peers x{5};
  for (int i = 0; i < 100; ++i)
    BOOST_REQUIRE(x.enter("10.0.0." + std::to_string(i)));
  BOOST_TEST(x.sut->peers() == 100u);
  x.seats.clear();
  BOOST_TEST(x.sut->peers() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
