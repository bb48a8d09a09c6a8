// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/input_buffer.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

/// Simulates a read that returns this text.
std::string_view read(input_buffer& to, std::string_view text) {
  const auto block = to.begin_read(8);
  std::copy(text.begin(), text.end(), block.begin());
  to.end_read();
  return to.last_read(text.size());
}

} // namespace

BOOST_AUTO_TEST_SUITE(input_buffer_test)

BOOST_AUTO_TEST_CASE(one_read_at_a_time_and_none_after_the_end) {
  input_buffer sut;
  BOOST_TEST(sut.may_read());
  BOOST_TEST(sut.begin_read(16).size() == 16u);
  BOOST_TEST(sut.reading());
  BOOST_TEST(!sut.may_read());
  sut.end_read();
  BOOST_TEST(sut.may_read());
  sut.end();
  BOOST_TEST(sut.ended());
  BOOST_TEST(!sut.may_read());
}

BOOST_AUTO_TEST_CASE(rest_that_was_not_used_comes_before_the_next_read) {
  input_buffer sut;
  std::string seen;
  const auto use_two = [&](std::string_view x) {
    seen += std::string{x} + "|";
    return x.substr(std::min<size_t>(2, x.size()));
  };
  sut.offer(read(sut, "abcd"), use_two);
  sut.offer(read(sut, "ef"), use_two);
  BOOST_TEST(seen == "abcd|cdef|");
  BOOST_TEST(sut.take() == "ef");
  BOOST_TEST(sut.take() == "");
}

BOOST_AUTO_TEST_CASE(what_is_kept_outlives_the_block) {
  input_buffer sut;
  BOOST_TEST(sut.keep(read(sut, "ab")) == 2u);
  BOOST_TEST(sut.keep(read(sut, "cde")) == 5u);
  BOOST_TEST(sut.take() == "abcde");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
