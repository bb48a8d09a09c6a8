// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/json_reader.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using atelier::planning::detail::most_keys;
using atelier::planning::detail::most_values;
using atelier::planning::detail::parse_document;

namespace {

void refused(const std::string& text, const std::string& part) {
  const auto read = parse_document(text, "f");
  BOOST_REQUIRE_MESSAGE(!read, text.substr(0, 60));
  BOOST_TEST(read.why().text.starts_with("f:"));
  BOOST_TEST(read.why().text.find(part) != std::string::npos,
             part << " in " << read.why().text);
}

/// Returns {"a": [0, 0, ...]} with n zeros.
std::string of_values(size_t n) {
  std::string text = "{\"a\":[0";
  for (size_t i = 1; i < n; ++i)
    text += ",0";
  return text + "]}";
}

std::string of_keys(size_t n) {
  std::string text = "{";
  for (size_t i = 0; i < n; ++i)
    text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  return text + "}";
}

} // namespace

BOOST_AUTO_TEST_SUITE(json_document_test)

BOOST_AUTO_TEST_CASE(an_object_is_read_whatever_its_texts_hold) {
  const auto read = parse_document(
    "{\"a\": \"[[[{{{\\\"\\\\\", \"b\": {\"a\": 1, \":,\": [{\"a\": 2}, "
    "{\"a\": 3}]}}",
    "f");
  BOOST_REQUIRE(read);
  BOOST_TEST((*read)["a"] == "[[[{{{\"\\");
  BOOST_TEST((*read)["b"][":,"][1]["a"] == 3);
}

BOOST_AUTO_TEST_CASE(what_is_no_json_is_told_with_its_line) {
  refused("", "f:1: is not JSON from here on: \"\"");
  refused("{\n\"a\": 1,\n\"b\": NaN\n}",
          "f:3: is not JSON from here on: \"\\\"b\\\": N\"");
  refused("{\"a\": 1} x", "f:1: is not JSON from here on");
  refused("{\"a\": \"\xFF\"}", "f:1: is not JSON from here on");
  refused("{\"a\": -1e999}", "number overflow parsing '-1e999'");
  refused("[]", "f: is not a JSON object");
  refused(std::string("{\"a\": \"\0\"}", 10), "is not JSON");
  refused("\"\\", "is not JSON");
}

BOOST_AUTO_TEST_CASE(a_key_stands_once_in_an_object) {
  refused("{\"a\": 1,\n \"b\": [{\"a\": 2, \"c\": 1, \"a\": 3}]}",
          "f:2: the key 'a' occurs twice in an object");
}

BOOST_AUTO_TEST_CASE(what_would_take_much_to_build_is_refused) {
  BOOST_TEST(static_cast<bool>(parse_document(of_keys(most_keys), "f")));
  refused(of_keys(most_keys + 1), "more than 1024 keys in an object");
  refused(of_values(most_values), "f:1: more than 8000000 values");
  refused("{\"a\":" + std::string(64, '['), "nested more than 64 deep");
  refused(std::string(10'000'000, '['), "nested more than 64 deep");
  const auto read = parse_document("{\"a\": 1}", "f", 7);
  BOOST_REQUIRE(!read);
  BOOST_TEST(read.why().text == "f: 8 bytes are more than 7");
}

BOOST_AUTO_TEST_SUITE_END()
