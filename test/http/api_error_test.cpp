// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

namespace atelier::runtime::http {

namespace {

std::string message_of(const failure& why) {
  const auto reply = error_reply(error_shape::openai, why);
  return nlohmann::json::parse(reply.body)["error"]["message"];
}

} // namespace

BOOST_AUTO_TEST_SUITE(api_error_test)

BOOST_AUTO_TEST_CASE(what_describes_a_call_is_told) {
  const failure why{"invalid_argument", "steps: 0 is not in 1..150", {}};
  BOOST_TEST(message_of(why) == why.text);
  BOOST_TEST(detail::failure_json(why)["message"] == why.text);
}

BOOST_AUTO_TEST_CASE(what_only_operators_can_mend_stays_in_the_log) {
  const failure why{"unavailable", "/srv/secret: no such file", {}};
  BOOST_TEST(message_of(why).starts_with(
    "the server could not do this (unavailable); its log says why, as error "));
  BOOST_TEST(detail::failure_json(why)["message"]
             == "the server could not do this (unavailable); its log says why");
}

BOOST_AUTO_TEST_CASE(which_variant_cannot_be_loaded_is_told_without_its_files) {
  const failure why{
    "unavailable", "frail@2 cannot be loaded: /srv/secret: no such file", {}};
  const auto text = message_of(why);
  BOOST_TEST(text.starts_with("frail@2 cannot be loaded; the server's log says "
                              "why, as error "));
  BOOST_TEST(text.find("/srv") == std::string::npos, text);
  BOOST_TEST(detail::failure_json(why)["message"]
             == "frail@2 cannot be loaded; the server's log says why");
}

BOOST_AUTO_TEST_CASE(clients_are_told_not_to_repeat_what_fails_again) {
  const auto should_retry = [](const reply_message& x) {
    return find_field(x.headers, "x-should-retry");
  };
  const auto shape = error_shape::openai;
  for (const auto* code : {"poison", "deadline_missed"})
    BOOST_TEST(
      should_retry(error_reply(shape, failure{code, "", {}})) == "false", code);
  for (const auto* code : {"overloaded", "unavailable", "stopping", "internal"})
    BOOST_TEST(should_retry(error_reply(shape, failure{code, "", {}})).empty(),
               code);
  for (const unsigned status : {409u, 501u, 505u})
    BOOST_TEST(should_retry(error_reply(shape, status, "x", "y")) == "false");
  for (const unsigned status : {408u, 429u, 503u})
    BOOST_TEST(should_retry(error_reply(shape, status, "x", "y")).empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
