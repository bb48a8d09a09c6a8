// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/server_caller.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::cli {

BOOST_AUTO_TEST_SUITE(console_test)

BOOST_AUTO_TEST_CASE(texts_of_others_control_no_terminal) {
  BOOST_TEST(without_controls("a caf\xc3\xa9 \xe4\xb8\x96")
             == "a caf\xc3\xa9 \xe4\xb8\x96");
  BOOST_TEST(without_controls("a\x1b[2J\r\nb\x7f")
             == R"(a\x1b[2J\x0d\x0ab\x7f)");
  // U+009B begins a control sequence, like ESC and '['.
  BOOST_TEST(without_controls("a\xc2\x9b 2J\xc2") == "a\\x9b 2J\xc2");
  http::client_reply reply;
  reply.status = 400;
  reply.body = R"({"error": {"code": "a\u001b", "message": "b\u001b[31m\n"}})";
  const auto why = failure_in(reply);
  BOOST_TEST(why.code == R"(a\x1b)");
  BOOST_TEST(why.text == R"(b\x1b[31m\x0a)");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::cli
