// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>
#include <atelier/gpu/models/tokenizer/detail/clip_normal_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::gpu::detail {

namespace {

std::string utf8(std::u32string_view text) {
  std::string out;
  for (const auto c : text)
    append_code(out, c);
  return out;
}

void check(std::u32string_view text, std::u32string_view wanted) {
  BOOST_CHECK_EQUAL(clip_normal_form(utf8(text)), utf8(wanted));
}

} // namespace

BOOST_AUTO_TEST_SUITE(clip_normal_form_test)

BOOST_AUTO_TEST_CASE(white_space_becomes_one_space) {
  check(U"", U"");
  check(U" \t\n\r a\v\fb  ", U" a b ");
  check(U"a\u00A0\u2003\u3000\u0085\u2028b", U"a b");
  // Neither of these is white space.
  check(U"a\u200B\uFEFF\u001Cb", U"a\u200B\uFEFF\u001Cb");
}

BOOST_AUTO_TEST_CASE(each_character_is_put_in_lower_case_alone) {
  check(U"AZ az \u00C4 \u0416", U"az az \u00E4 \u0436");
  check(U"\u0130", U"i\u0307");
  check(U"\u039F\u03A3", U"\u03BF\u03C3");
  check(U"\u1E9E \u00DF \u01C5", U"\u00DF \u00DF \u01C6");
}

BOOST_AUTO_TEST_CASE(later_capitals_are_known) {
  check(U"\uA7DC\uA7CB\U00010D50\U00016EA0",
        U"\u019B\u0264\U00010D70\U00016EBB");
}

BOOST_AUTO_TEST_CASE(marks_are_composed) {
  check(U"e\u0301", U"\u00E9");
  check(U"E\u0301", U"\u00E9");
  check(U"e\u0327\u0301", U"\u0229\u0301");
  check(U"e\u0301\u0327", U"\u0229\u0301");
  check(U"a\u0301\u0301", U"\u00E1\u0301");
  check(U"\u0301a", U"\u0301a");
  check(U"\u212B", U"\u00E5");
  check(U"\u0958", U"\u0915\u093C");
  check(U"\u1100\u1161\u11A8 \uAC00\u11A8", U"\uAC01 \uAC01");
  check(U"\uAC01\u11A8", U"\uAC01\u11A8");
}

BOOST_AUTO_TEST_CASE(marks_since_unicode_10_are_no_marks) {
  // The marks are from Unicode 14.0: the characters before and after them are
  // not joined.
  check(U"a\u0898\u0301", U"a\u0898\u0301");
  check(U"a\u0301\u1AC1\u0316", U"\u00E1\u1AC1\u0316");
  // This mark is from Unicode 9.0.
  check(U"a\u0301\u1DFB\u0316", U"\u00E1\u0316\u1DFB");
}

BOOST_AUTO_TEST_CASE(long_runs_of_marks_take_little_time) {
  std::u32string marks = U"a";
  for (int i = 0; i < 50'000; ++i)
    marks += U"\u0301\u0316";
  // Moving each mark by itself would take seconds.
  const auto out = clip_normal_form(utf8(marks));
  BOOST_CHECK_EQUAL(out.size(), 2 + 2 * (100'000 - 1));
  BOOST_CHECK_EQUAL(out.substr(0, 4), utf8(U"\u00E1\u0316"));
  BOOST_CHECK_EQUAL(out.substr(out.size() - 2), utf8(U"\u0301"));
}

BOOST_AUTO_TEST_CASE(codes_come_back_as_they_went) {
  core::philox random{test::seed(), core::purpose::test};
  for (size_t n = test::scaled(100'000); n > 0; --n) {
    auto c = static_cast<char32_t>(random.below(0x110000));
    if (c >= 0xD800 && c < 0xE000)
      c = 'x';
    std::string text = "a";
    append_code(text, c);
    BOOST_REQUIRE_EQUAL(text.substr(1), core::to_utf8(c));
    size_t i = 1;
    BOOST_REQUIRE(next_code(text, i) == c);
    BOOST_REQUIRE_EQUAL(i, text.size());
    BOOST_REQUIRE(previous_code(text, i) == c);
    BOOST_REQUIRE_EQUAL(i, 1);
  }
}

BOOST_AUTO_TEST_CASE(faulty_text_is_replaced_by_maximal_parts) {
  const auto repaired = [](std::string_view text) {
    auto out = repaired_utf8(text);
    for (size_t i; (i = out.find("\xEF\xBF\xBD")) != std::string::npos;)
      out.replace(i, 3, "?");
    return out;
  };
  BOOST_CHECK_EQUAL(repaired("a\x80z"), "a?z");
  BOOST_CHECK_EQUAL(repaired("\xC3"), "?");
  BOOST_CHECK_EQUAL(repaired("\xC3\xC3\xA9"), "?\xC3\xA9");
  BOOST_CHECK_EQUAL(repaired("\xE2\x82"), "?");
  BOOST_CHECK_EQUAL(repaired("\xE2\x82z"), "?z");
  BOOST_CHECK_EQUAL(repaired("\xF0\x9F\x98"), "?");
  BOOST_CHECK_EQUAL(repaired("\xF0\x9F\x98z"), "?z");
  BOOST_CHECK_EQUAL(repaired("\xED\xA0\x80"), "???");
  BOOST_CHECK_EQUAL(repaired("\xC0\xAF"), "??");
  BOOST_CHECK_EQUAL(repaired("\xF4\x90\x80\x80"), "????");
  BOOST_CHECK_EQUAL(repaired("\xFF\xFE"), "??");
}

BOOST_AUTO_TEST_CASE(repaired_text_is_utf_8) {
  core::philox random{test::seed(), core::purpose::test};
  for (size_t n = test::scaled(100'000); n > 0; --n) {
    std::string text;
    for (auto i = random.below(20); i > 0; --i)
      text.push_back(static_cast<char>(random.below(256)));
    const auto out = repaired_utf8(text);
    BOOST_REQUIRE(!core::find_utf8_fault(out));
    if (!core::find_utf8_fault(text))
      BOOST_REQUIRE_EQUAL(out, text);
  }
}

BOOST_AUTO_TEST_CASE(classes_are_those_of_unicode_16) {
  using enum character_class;
  BOOST_CHECK(class_of('a') == letter);
  BOOST_CHECK(class_of('7') == number);
  BOOST_CHECK(class_of('\t') == space);
  BOOST_CHECK(class_of(0x1C) == other);
  BOOST_CHECK(class_of('_') == other);
  BOOST_CHECK(class_of(0xBD) == number);
  BOOST_CHECK(class_of(0x2167) == number);
  BOOST_CHECK(class_of(0x2003) == space);
  BOOST_CHECK(class_of(0x301) == other);
  BOOST_CHECK(class_of(0x10D4A) == letter);
  BOOST_CHECK(class_of(0x16D70) == number);
  // The first is a letter since Unicode 17.0, and the second is not assigned
  // yet.
  BOOST_CHECK(class_of(0xA7CE) == other);
  BOOST_CHECK(class_of(0x10FFFF) == other);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::gpu::detail
