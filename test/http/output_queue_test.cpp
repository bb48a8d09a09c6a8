// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/output_queue.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

BOOST_AUTO_TEST_SUITE(output_queue_test)

BOOST_AUTO_TEST_CASE(texts_are_written_in_order_one_write_at_a_time) {
  output_queue sut;
  sut.push("ab");
  sut.push("c");
  BOOST_TEST(sut.begin_write().value() == "ab");
  BOOST_TEST(!sut.begin_write());
  sut.end_write();
  sut.written(2);
  BOOST_TEST(!sut.empty());
  BOOST_TEST(sut.begin_write().value() == "c");
  sut.end_write();
  sut.written(1);
  BOOST_TEST(sut.empty());
  BOOST_TEST(!sut.begin_write());
}

BOOST_AUTO_TEST_CASE(rest_of_a_text_is_written_next) {
  output_queue sut;
  sut.push("abc");
  sut.begin_write();
  sut.end_write();
  sut.written(1);
  BOOST_TEST(sut.begin_write().value() == "bc");
}

BOOST_AUTO_TEST_CASE(who_announces_too_much_is_told_until_it_is_written) {
  output_queue sut;
  sut.limit(3, {});
  BOOST_TEST(sut.announce(3));
  sut.push("abc");
  BOOST_TEST(!sut.announce(1));
  sut.withdraw(1);
  sut.begin_write();
  sut.end_write();
  sut.written(2);
  BOOST_TEST(sut.announce(2));
  BOOST_TEST(!sut.announce(1));
}

BOOST_AUTO_TEST_CASE(what_waits_counts_among_that_of_all) {
  const auto all = std::make_shared<byte_shares>();
  const auto within = byte_shares::limits_of(800, 0);
  output_queue sut;
  sut.limit(10'000, {all, "a", within});
  output_queue other;
  other.limit(10'000, {all, "a", within});
  BOOST_TEST(other.reserve(500));
  BOOST_TEST(!sut.reserve(200));
  // The client of a stream that has read everything gets its event.
  BOOST_TEST(sut.announce(200));
  sut.push(std::string(200, 'x'));
  BOOST_TEST(!sut.announce(200));
  sut.withdraw(200);
  BOOST_TEST(all->held() == 700u);
  sut.begin_write();
  sut.end_write();
  sut.written(199);
  BOOST_TEST(all->held() == 700u);
  sut.written(1);
  BOOST_TEST(all->held() == 500u);
}

BOOST_AUTO_TEST_CASE(a_client_has_more_time_by_its_pace) {
  output_queue sut;
  sut.push(std::string(100, 'x'));
  sut.push("y");
  sut.begin_write();
  sut.end_write();
  BOOST_TEST(!sut.written(30, 50));
  BOOST_TEST(sut.written(20, 50));
  BOOST_TEST(!sut.written(49, 50));
  BOOST_TEST(sut.written(1, 50));
  BOOST_TEST(sut.written(1, 50));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
