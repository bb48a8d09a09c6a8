// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/field_reader.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::runtime::http::detail;

namespace {

/// Returns the fault of reading `text` in this way.
template <class Read>
std::string fault_of(std::string_view text, Read read,
                     field_reader::from how = field_reader::from::body) {
  auto object = parse_object(text);
  BOOST_TEST_REQUIRE(object.operator bool());
  field_reader r{*object, how};
  read(r);
  return r.good() ? "" : r.why().field + "|" + r.why().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(field_reader_test)

BOOST_AUTO_TEST_CASE(bodies_are_objects_of_bounded_shape) {
  BOOST_TEST(parse_object("{}").operator bool());
  for (const auto* text : {"", "[]", "1", "{", "{\"a\":}", "{\"a\":\"\xff\"}"})
    BOOST_TEST((parse_object(text).why().code == core::ec::bad_payload));
  const auto deep = [](size_t n) {
    return "{\"a\":" + std::string(n, '[') + std::string(n, ']') + "}";
  };
  BOOST_TEST(parse_object(deep(63)).operator bool());
  BOOST_TEST(!parse_object(deep(64)));
  // Brackets in a prompt do not count as depth.
  BOOST_TEST(parse_object("{\"a\":\"\\\"" + std::string(500, '[') + "\"}")
               .
               operator bool());
  std::string many = "{\"a\":[0";
  for (int i = 0; i < 100'000; ++i)
    many += ",0";
  BOOST_TEST(!parse_object(many + "]}"));
  const auto digits = [](size_t n) {
    return parse_object("{\"a\":0." + std::string(n, '1') + "}");
  };
  BOOST_TEST(digits(1000).operator bool());
  BOOST_TEST((digits(1001).why().text
              == "the body has a number of more than 1000 "
                 "digits"));
}

BOOST_AUTO_TEST_CASE(what_is_no_json_is_told_with_its_place) {
  const auto told = [](const char* text) {
    const auto read = parse_object(text);
    BOOST_TEST_REQUIRE(!read);
    return read.why().text;
  };
  BOOST_TEST(told("{\"a\": 1,\n  \"b\": x}").ends_with("line 2, column 8"));
  BOOST_TEST(told("{a}").ends_with("line 1, column 2"));
  BOOST_TEST(told("{\"a\":\n1").ends_with("line 2, column 2, where it ends"));
  BOOST_TEST(told("{\"a\":\n1e400}")
             == "the body has a number beyond 1.8e308: it ends at line 2, "
                "column 5");
  BOOST_TEST(told("[]") == "the body is not a JSON object");
  BOOST_TEST(told("") == "the body is not a JSON object");
}

BOOST_AUTO_TEST_CASE(bodies_are_read_as_the_library_reads_them) {
  for (const std::string text :
       {R"({})", R"({"a":[1,-2,3.5,true,false,null,"x"],"b":{"c":[[],{}]}})",
        R"({"a":1,"c":{"a":2},"":[{"a":"\u00e9\n"},"\ud83d\ude00"]})",
        R"({"a":18446744073709551615,"b":1e300,"c":-0})"})
    BOOST_TEST((*parse_object(text) == nlohmann::json::parse(text)), text);
  for (const std::string text :
       {R"({"a":1)", R"({"a":1}})", R"({"a":1e400})", R"({"a" 1})",
        R"({"a":"\ud83d"})", R"({"a":1,})", R"("a")"})
    BOOST_TEST(!parse_object(text), text);
}

BOOST_AUTO_TEST_CASE(a_field_that_stands_twice_is_refused_by_name) {
  for (const auto* text :
       {R"({"seed":1,"prompt":"a","seed":2})",
        R"({"list":[{"seed":1,"seed":1}]})", R"({"\u0073eed":1,"seed":2})"})
    BOOST_TEST(parse_object(text).why().text
               == R"(the body has the field "seed" twice)");
  BOOST_TEST(parse_object(R"({"seed":1,"in":{"seed":2},"other":[{"seed":3}]})")
               .
               operator bool());
}

BOOST_AUTO_TEST_CASE(values_are_read_by_their_types) {
  auto object =
    *parse_object(R"({"t":"x","w":3,"f":2.0,"r":0.5,"b":true,"n":null,
                      "s":18446744073709551615,"m":-1})");
  field_reader r{object};
  BOOST_TEST(*r.text("t") == "x");
  BOOST_TEST(*r.whole("w", 3, 3) == 3);
  BOOST_TEST(*r.whole("f", 0, 9) == 2);
  BOOST_TEST(*r.real("r", 0, 1) == 0.5);
  BOOST_TEST(*r.real("w", 0, 9) == 3.0);
  BOOST_TEST(*r.flag("b"));
  BOOST_TEST(!r.text("n").has_value());
  BOOST_TEST(!r.whole("none", 0, 1).has_value());
  BOOST_TEST(*r.seed("s") == UINT64_MAX);
  BOOST_TEST(!r.seed("m").has_value());
  BOOST_TEST(*r.seed("f") == 2u);
  BOOST_TEST(*r.choice("t", {"y", "x"}) == "x");
  BOOST_TEST(r.good());
  r.no_others();
  BOOST_TEST(r.good());
}

BOOST_AUTO_TEST_CASE(faults_name_the_field_the_value_and_the_range) {
  BOOST_TEST(fault_of(R"({"n":11})", [](auto& r) { r.whole("n", 1, 10); })
             == "n|n 11 is not a whole number in 1..10");
  BOOST_TEST(fault_of(R"({"n":1.5})", [](auto& r) { r.whole("n", 1, 10); })
             == "n|n 1.5 is not a whole number in 1..10");
  BOOST_TEST(fault_of(R"({"n":"2"})", [](auto& r) { r.whole("n", 1, 10); })
             == "n|n \"2\" is not a whole number in 1..10");
  BOOST_TEST(fault_of(R"({"n":18446744073709551615})",
                      [](auto& r) { r.whole("n", 1, 10); })
             != "");
  BOOST_TEST(fault_of(R"({"g":-0.5})", [](auto& r) { r.real("g", 0, 50); })
             == "g|g -0.5 is not a number in 0..50");
  BOOST_TEST(fault_of(R"({"p":7})", [](auto& r) { r.text("p"); })
             == "p|p 7 is not a string");
  BOOST_TEST(fault_of(R"({"p":"abc"})", [](auto& r) { r.text("p", 2); })
             == "p|p has 3 bytes, outside 0..2");
  BOOST_TEST(fault_of(R"({"p":"abc"})", [](auto& r) { r.choice("p", {"a"}); })
             == "p|p \"abc\" is not one of a");
  BOOST_TEST(fault_of(R"({"s":-2})", [](auto& r) { r.seed("s"); }) != "");
  BOOST_TEST(fault_of(R"({"b":1})", [](auto& r) { r.flag("b"); })
             == "b|b 1 is neither true nor false");
  BOOST_TEST(fault_of(R"({"x":1})", [](auto& r) { r.no_others(); })
             == "x|x is not a field of this call");
  BOOST_TEST(
    fault_of(R"({"i":"http://a/b"})", [](auto& r) { r.file("i", 100); }) != "");
  // Long values are shortened.
  BOOST_TEST(fault_of("{\"b\":\"" + std::string(10'000, 'x') + "\"}",
                      [](auto& r) { r.flag("b"); })
               .size()
             < 120u);
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_allowed_at_its_default) {
  const auto read = [](auto& r) { r.only("t", {false, ""}); };
  BOOST_TEST(fault_of("{}", read) == "");
  BOOST_TEST(fault_of(R"({"t":false})", read) == "");
  BOOST_TEST(fault_of(R"({"t":""})", read) == "");
  BOOST_TEST(fault_of(R"({"t":null})", read) == "");
  BOOST_TEST(fault_of(R"({"t":true})", read)
             == "t|t true is not supported; it can be false, \"\"");
  BOOST_TEST(fault_of(R"({"t":1})", [](auto& r) { r.only("t", {1.0}); }) == "");
}

BOOST_AUTO_TEST_CASE(what_is_taken_is_no_longer_there) {
  auto object = *parse_object(R"({"image":"Zm9v","list":["x"],"n":null})");
  field_reader r{object};
  const auto file = r.file("image", 3);
  BOOST_TEST(std::string(file.begin(), file.end()) == "foo");
  BOOST_TEST(object["image"].is_null());
  BOOST_TEST(r.file("image", 3).empty());
  BOOST_TEST((r.take("list") == json{"x"}));
  BOOST_TEST(r.find("list") == nullptr);
  BOOST_TEST(r.take("n").is_null());
  BOOST_TEST(r.take("nothing").is_null());
  // A field whose text was taken still counts as known.
  r.no_others();
  BOOST_TEST(r.good());
}

BOOST_AUTO_TEST_CASE(forms_hold_texts) {
  constexpr auto form = field_reader::from::form;
  const auto read = [](field_reader& r) {
    BOOST_TEST(*r.whole("n", 1, 10) == 2);
    BOOST_TEST(*r.real("g", 0, 10) == 7.5);
    BOOST_TEST(*r.flag("b"));
    BOOST_TEST(!*r.flag("c"));
    BOOST_TEST(*r.text("p") == "12");
    BOOST_TEST(*r.seed("s") == 9u);
    r.only("o", {0});
  };
  BOOST_TEST(
    fault_of(
      R"({"n":"2","g":"7.5","b":"true","c":"False","p":"12","s":"9","o":"0"})",
      read, form)
    == "");
}

BOOST_AUTO_TEST_SUITE_END()
