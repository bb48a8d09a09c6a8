// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/reply_text.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(reply_text_test)

BOOST_AUTO_TEST_CASE(a_head_has_what_every_reply_has) {
  const auto text = head_text({}, {}, 7);
  BOOST_TEST(text.starts_with("HTTP/1.1 200 OK\r\n"));
  BOOST_TEST(text.ends_with("\r\n\r\n"));
  for (const auto* line :
       {"Server: atelier\r\n", "Content-Type: application/json\r\n",
        "Content-Length: 7\r\n", "X-Content-Type-Options: nosniff\r\n",
        "Cache-Control: no-store\r\n"})
    BOOST_TEST(has(text, line), line);
  BOOST_TEST(!has(text, "Connection"));
  BOOST_TEST(!has(text, "Access-Control"));
}

BOOST_AUTO_TEST_CASE(a_field_cannot_begin_a_line_of_its_own) {
  reply_message x;
  x.headers = {{"Location", "/a\r\nSet-Cookie: b=c"}};
  x.content_type = "text/plain\nX: y";
  const auto text = head_text(x, {}, 0);
  BOOST_TEST(has(text, "Location: /aSet-Cookie: b=c\r\n"));
  BOOST_TEST(has(text, "Content-Type: text/plainX: y\r\n"));
}

BOOST_AUTO_TEST_CASE(connections_end_as_their_version_says) {
  BOOST_TEST(has(head_text({}, {11, false, false, {}, {}, {}}, 0),
                 "Connection: close\r\n"));
  BOOST_TEST(has(head_text({}, {10, true, false, {}, {}, {}}, 0),
                 "Connection: keep-alive\r\n"));
}

BOOST_AUTO_TEST_CASE(a_reply_without_a_body_has_no_length) {
  reply_message x;
  x.status = 204;
  const auto text = head_text(x, {}, 0);
  BOOST_TEST(has(text, "204 No Content"));
  BOOST_TEST(!has(text, "Content-"
                        "Length"));
  BOOST_TEST(!has(text, "Content-Type:"));
}

BOOST_AUTO_TEST_CASE(an_origin_is_let_read) {
  const auto text =
    head_text({}, {11, true, false, "https://a.example", {}, {}}, 0);
  BOOST_TEST(has(text, "Access-Control-Allow-Origin: https://a.example\r\n"));
  BOOST_TEST(has(text, "Vary: Origin\r\n"));
}

BOOST_AUTO_TEST_CASE(events_keep_their_lines) {
  BOOST_TEST(event_text("", "a") == "data: a\n\n");
  BOOST_TEST(event_text("step", "") == "event: step\ndata: \n\n");
  BOOST_TEST(event_text("a\nb", "c\nd\r\ne\rf\n")
             == "event: ab\ndata: c\ndata: d\ndata: e\ndata: f\ndata: \n\n");
}

BOOST_AUTO_TEST_CASE(a_chunk_tells_its_length) {
  BOOST_TEST(chunk_text(std::string(26, 'a'))
             == "1a\r\n" + std::string(26, 'a') + "\r\n");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
