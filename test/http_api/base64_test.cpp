// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/base64.hpp>

#include <boost/test/unit_test.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <random>

using namespace atelier;
using namespace atelier::runtime::http;

namespace {

std::vector<uint8_t> bytes(std::string_view x) {
  return {x.begin(), x.end()};
}

std::string fault_of(std::string_view text, uint64_t most = 100) {
  const auto got = from_base64("image", text, most);
  return got ? "" : got.why().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(base64_test)

BOOST_AUTO_TEST_CASE(the_vectors_of_the_rfc_hold) {
  for (const auto& [plain, text] :
       std::vector<std::pair<std::string, std::string>>{
         {"", ""},
         {"f", "Zg=="},
         {"fo", "Zm8="},
         {"foo", "Zm9v"},
         {"foob", "Zm9vYg=="},
         {"fooba", "Zm9vYmE="},
         {"foobar", "Zm9vYmFy"}}) {
    BOOST_TEST(to_base64(bytes(plain)) == text);
    const auto got = from_base64("image", text, 6);
    BOOST_TEST_REQUIRE(got.operator bool());
    BOOST_TEST(*got == bytes(plain));
  }
}

BOOST_AUTO_TEST_CASE(random_bytes_come_back) {
  std::mt19937_64 random{test::seed()};
  for (size_t i = 0; i < test::scaled(20'000); ++i) {
    std::vector<uint8_t> x(random() % 200);
    for (auto& b : x)
      b = static_cast<uint8_t>(random());
    const auto got = from_base64("image", to_base64(x), x.size());
    BOOST_TEST_REQUIRE(got.operator bool());
    BOOST_TEST(*got == x);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_base64_is_refused) {
  BOOST_TEST(fault_of("Zg=") != "");
  BOOST_TEST(fault_of("Z") != "");
  BOOST_TEST(fault_of("Zh==")
             == "image is not base64: bits are left over at "
                "its end");
  BOOST_TEST(fault_of("Zm9=") != "");
  BOOST_TEST(fault_of("====") != "");
  BOOST_TEST(fault_of("Z===") != "");
  BOOST_TEST(fault_of("Zg==Zg==") != "");
  BOOST_TEST(fault_of("Zm9 ") != "");
  BOOST_TEST(fault_of("Zm-_") != "");
  BOOST_TEST(fault_of(std::string_view{"Zm\0v", 4}) != "");
  BOOST_TEST(fault_of("Zm9v\xff\xff\xff\xff") != "");
}

BOOST_AUTO_TEST_CASE(every_character_is_of_the_alphabet_or_refused) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv"
                              "wxyz0123456789+/";
  for (int place = 0; place < 4; ++place)
    for (int c = 0; c < 256; ++c) {
      std::string text = "AAAA";
      text[static_cast<size_t>(place)] = static_cast<char>(c);
      // These characters change the length of the text that counts.
      if (c == '\r' || c == '\n' || c == '=')
        continue;
      const bool fine = letters.find(static_cast<char>(c)) != std::string::npos;
      BOOST_TEST(fault_of(text).empty() == fine);
    }
}

BOOST_AUTO_TEST_CASE(line_breaks_are_skipped) {
  const auto got = from_base64("image", "Zm9v\r\nYmFy\n", 6);
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST(*got == bytes("foobar"));
}

BOOST_AUTO_TEST_CASE(more_than_allowed_is_refused) {
  BOOST_TEST(fault_of("Zm9v", 3).empty());
  BOOST_TEST(fault_of("Zm9v", 2) == "image has 3 bytes, outside 1..2");
  BOOST_TEST(fault_of(std::string(1000, 'A'), 2)
             == "image has 1000 characters of base64, more than 2 bytes need");
  BOOST_TEST(fault_of(std::string(1000, '\n'), 2) != "");
}

BOOST_AUTO_TEST_CASE(images_come_bare_or_as_data_urls) {
  const auto read = [](std::string_view text) {
    return from_image_text("image", text, 100);
  };
  BOOST_TEST(*read("Zm9v") == bytes("foo"));
  BOOST_TEST(*read("data:image/png;base64,Zm9v") == bytes("foo"));
  BOOST_TEST(*read(to_data_url("image/webp", bytes("xy"))) == bytes("xy"));
  BOOST_TEST(!read("data:image/png,Zm9v"));
  BOOST_TEST(!read("data:image/png;base64"));
  BOOST_TEST((read("data:image/png,Zm9v").why().code == core::ec::bad_payload));
  for (const auto* url : {"http://a/b.png", "https://a/b.png", "file:///a"})
    BOOST_TEST(read(url).why().text.find("fetches none") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
