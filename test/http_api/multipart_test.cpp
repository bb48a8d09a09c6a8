// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/multipart.hpp>

#include <boost/test/unit_test.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <random>

using namespace atelier;
using namespace atelier::runtime::http;

namespace {

const std::string form_type = "multipart/form-data; boundary=X";

core::result<std::vector<form_part>> parse(std::string_view body) {
  return parse_multipart(form_type, body);
}

std::string part(std::string_view disposition, std::string_view content) {
  return "--X\r\nContent-Disposition: form-data; " + std::string{disposition}
       + "\r\n\r\n" + std::string{content} + "\r\n";
}

} // namespace

BOOST_AUTO_TEST_SUITE(multipart_test)

BOOST_AUTO_TEST_CASE(fields_and_files_are_found) {
  const auto body =
    part("name=\"prompt\"", "a cat")
    + "--X\r\ncontent-type: image/png\r\nCONTENT-DISPOSITION: form-data; "
      "filename=\"c:\\dir\\a.png\"; name=\"image[]\"\r\n\r\n\x89PNG\r\n--\r\n"
    + part("name=empty", "") + "--X--\r\nafterwards";
  const auto got = parse(body);
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST_REQUIRE(got->size() == 3u);
  BOOST_TEST((*got)[0].name == "prompt");
  BOOST_TEST((*got)[0].content == "a cat");
  BOOST_TEST((*got)[1].name == "image[]");
  BOOST_TEST((*got)[1].filename == "c:\\dir\\a.png");
  BOOST_TEST((*got)[1].content_type == "image/png");
  BOOST_TEST((*got)[1].content == "\x89PNG\r\n--");
  BOOST_TEST((*got)[2].name == "empty");
  BOOST_TEST((*got)[2].content.empty());
  // The content is not copied.
  BOOST_TEST(((*got)[0].content.data() >= body.data()
              && (*got)[0].content.data() < body.data() + body.size()));
}

BOOST_AUTO_TEST_CASE(boundaries_may_be_quoted_and_preceded) {
  const auto got =
    parse_multipart("Multipart/Form-Data; charset=utf-8; boundary=\"a b\"",
                    "before\r\n--a b  \r\nContent-Disposition: form-data; "
                    "name=\"x;\\\"y\"\r\n\r\n1\r\n--a b--");
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST(got->front().name == "x;\"y");
}

BOOST_AUTO_TEST_CASE(what_is_no_form_is_refused) {
  for (const auto* type :
       {"", "application/json", "multipart/form-data",
        "multipart/form-data; boundary=", "multipart/mixed; boundary=X",
        "multipart/form-data; boundary=\"X"})
    BOOST_TEST(!parse_multipart(type, part("name=a", "") + "--X--"));
  BOOST_TEST(
    !parse_multipart("multipart/form-data; boundary=" + std::string(71, 'a'),
                     "--" + std::string(71, 'a') + "--"));
  for (const auto& body : std::vector<std::string>{
         "", "--X", "--X\r\n", "--X\r\n\r\n\r\n--X--", "--Y--",
         part("name=a", "1"), part("name=a", "1") + "--X",
         part("name=\"a", "1") + "--X--", part("nam=a", "1") + "--X--",
         part("name=\"\"", "1") + "--X--", part("name=\"\xff\"", "1") + "--X--",
         "--X\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--X--",
         "--X\r\nno colon\r\n\r\n1\r\n--X--",
         "--X\r\nContent-Disposition: form-data; name=a\r\n"
         "Content-Transfer-Encoding: base64\r\n\r\nZg==\r\n--X--"})
    BOOST_TEST(!parse(body), body);
  // The body has only the closing mark.
  const auto none = parse("--X--\r\n");
  BOOST_TEST_REQUIRE(none.operator bool());
  BOOST_TEST(none->empty());
}

BOOST_AUTO_TEST_CASE(parts_and_headers_are_bounded) {
  std::string body;
  for (int i = 0; i < 64; ++i)
    body += part("name=a", "1");
  BOOST_TEST(parse(body + "--X--").operator bool());
  const auto more = parse(body + part("name=a", "1") + "--X--");
  BOOST_TEST_REQUIRE(!more);
  BOOST_TEST(more.why().text == "the form has more than 64 parts");
  const auto wide =
    parse(part("name=\"" + std::string(4096, 'a') + "\"", "1") + "--X--");
  BOOST_TEST_REQUIRE(!wide);
  BOOST_TEST((wide.why().code == core::ec::invalid_argument));
}

BOOST_AUTO_TEST_CASE(random_bodies_are_parsed_or_refused) {
  std::mt19937_64 random{test::seed()};
  const std::vector<std::string> pieces{"--X",
                                        "\r\n",
                                        "--",
                                        "Content-Disposition: form-data",
                                        "; name=\"a\"",
                                        "\"",
                                        "\\",
                                        ";",
                                        "name=",
                                        "a",
                                        "\r\n\r\n",
                                        "\xff",
                                        std::string(1, '\0'),
                                        ":",
                                        "Content-Type: x",
                                        " "};
  size_t fine = 0;
  for (size_t i = 0; i < test::scaled(200'000); ++i) {
    std::string body = random() % 2 ? part("name=a", "b") : "";
    for (auto n = random() % 30; n > 0; --n)
      body += pieces[random() % pieces.size()];
    if (random() % 2)
      body += "\r\n--X--";
    const auto got = parse(body);
    fine += got ? 1u : 0u;
    if (got)
      for (const auto& x : *got)
        BOOST_TEST((x.content.data() >= body.data()
                    && x.content.data() + x.content.size()
                         <= body.data() + body.size()));
  }
  BOOST_TEST(fine > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
