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
  sut.limit(3);
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

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
