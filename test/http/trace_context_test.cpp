// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/trace_context.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

namespace {

constexpr auto given =
  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

std::string span_of(std::string text, uint64_t span = 0xab) {
  return own_span({{"traceparent", std::move(text)}}, span);
}

} // namespace

BOOST_AUTO_TEST_SUITE(trace_context_test)

BOOST_AUTO_TEST_CASE(a_span_of_ours_is_in_the_same_trace) {
  BOOST_TEST(span_of(given)
             == "00-4bf92f3577b34da6a3ce929d0e0e4736-00000000000000ab-01");
}

BOOST_AUTO_TEST_CASE(a_span_is_never_zero) {
  BOOST_TEST(span_of(given, 0)
             == "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000001-01");
}

BOOST_AUTO_TEST_CASE(of_the_flags_sampled_alone_is_handed_on) {
  std::string text = given;
  text.replace(53, 2, "fe");
  BOOST_TEST(span_of(text).substr(53) == "00");
  text.replace(53, 2, "0b");
  BOOST_TEST(span_of(text).substr(53) == "01");
}

BOOST_AUTO_TEST_CASE(a_later_version_may_say_more) {
  auto text = "cc" + std::string{given}.substr(2);
  BOOST_TEST(span_of(text).substr(0, 2) == "00");
  BOOST_TEST(span_of(text + "-what").substr(0, 2) == "00");
  BOOST_TEST(span_of(text + "what") == "");
}

BOOST_AUTO_TEST_CASE(what_is_malformed_begins_no_span) {
  const std::string good = given;
  for (size_t i = 0; i < good.size(); ++i) {
    BOOST_TEST(span_of(good.substr(0, i)) == "", "cut at " << i);
    for (const char c : {'A', 'g', ' ', '\0'}) {
      auto text = good;
      text[i] = c;
      BOOST_TEST(span_of(text) == "", "'" << c << "' at " << i);
    }
  }
  BOOST_TEST(span_of(good + "-more") == "");
  BOOST_TEST(span_of("ff" + good.substr(2)) == "");
  BOOST_TEST(span_of("00-" + std::string(32, '0') + good.substr(35)) == "");
  BOOST_TEST(span_of(good.substr(0, 36) + std::string(16, '0') + "-01") == "");
}

BOOST_AUTO_TEST_CASE(two_parents_are_none) {
  BOOST_TEST(own_span({{"traceparent", given}, {"traceparent", given}}, 1)
             == "");
  BOOST_TEST(own_span({}, 1) == "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
