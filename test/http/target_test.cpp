// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/target.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

namespace {

std::string path_of(std::string_view text) {
  const auto x = parse_target(text);
  BOOST_TEST_REQUIRE(x.operator bool(), text);
  return x->path;
}

} // namespace

BOOST_AUTO_TEST_SUITE(target_test)

BOOST_AUTO_TEST_CASE(paths_are_decoded) {
  BOOST_TEST(path_of("/") == "/");
  BOOST_TEST(path_of("/a/b.png") == "/a/b.png");
  BOOST_TEST(path_of("/a%20b") == "/a b");
  BOOST_TEST(path_of("/a+b") == "/a+b");
  BOOST_TEST(path_of("/%c3%A9") == "/\u00e9");
  BOOST_TEST(path_of("/a//b") == "/a//b");
  BOOST_TEST(path_of("/...") == "/...");
  BOOST_TEST(path_of("/..a") == "/..a");
  BOOST_TEST(path_of("*") == "*");
}

BOOST_AUTO_TEST_CASE(a_query_is_decoded_in_order) {
  const auto x = parse_target("/a?b=1&c=%26+%3d&b=2&&d&=e");
  BOOST_TEST_REQUIRE(x.operator bool());
  BOOST_TEST(x->path == "/a");
  const fields wanted{
    {"b", "1"}, {"c", "& ="}, {"b", "2"}, {"d", ""}, {"", "e"}};
  BOOST_TEST((x->query == wanted));
}

BOOST_AUTO_TEST_CASE(a_question_mark_alone_is_an_empty_query) {
  BOOST_TEST(path_of("/a?") == "/a");
  BOOST_TEST(parse_target("/a?b=?")->query[0].second == "?");
}

BOOST_AUTO_TEST_CASE(an_absolute_form_tells_its_host) {
  const auto x = parse_target("http://localhost:7860/a?b=1");
  BOOST_TEST_REQUIRE(x.operator bool());
  BOOST_TEST(x->authority == "localhost:7860");
  BOOST_TEST(x->path == "/a");
  BOOST_TEST(parse_target("http://host")->path == "/");
}

BOOST_AUTO_TEST_CASE(what_climbs_is_refused_however_it_is_written) {
  for (const auto* text :
       {"/..", "/../etc/passwd", "/a/../b", "/a/..", "/./a", "/%2e%2e/a",
        "/a/%2E./b", "/a%2f..%2fb", "/a\\..\\b", "/a%5c..%5cb", "/..%2f"})
    BOOST_TEST(!parse_target(text), text);
}

BOOST_AUTO_TEST_CASE(bad_escapes_and_bytes_are_refused) {
  for (const auto* text :
       {"",         "a",    "/%",      "/%2",        "/%zz",
        "/%4",      "/%-1", "/a%",     "/%00",       "/a?b=%00",
        "/%ff",     "/%c3", "/%c0%af", "/%ed%a0%80", "/a?b=%ff",
        "/a?%fe=1", "/a#b", "/%0a",    "/%7f",       "/a?b=%g0"})
    BOOST_TEST(!parse_target(text), text);
  BOOST_TEST(!parse_target(std::string_view{"/\0", 2}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
