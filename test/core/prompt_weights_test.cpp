// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/core/prompt_weights.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <initializer_list>
#include <string>

using namespace atelier;
using namespace atelier::core;

namespace {

void reads(std::string_view prompt,
           std::initializer_list<weighted_text> expected) {
  const auto read = read_word_weights(prompt);
  BOOST_TEST_CONTEXT(prompt) {
    BOOST_TEST_REQUIRE(bool{read});
    BOOST_TEST_REQUIRE(read->size() == expected.size());
    auto it = expected.begin();
    for (const auto& x : *read) {
      BOOST_TEST(x.text == it->text);
      BOOST_TEST(std::abs(x.weight - it->weight) < 1e-12, x.weight);
      BOOST_TEST(x.begins_chunk == it->begins_chunk);
      ++it;
    }
  }
}

void refuses(std::string_view prompt, std::string_view why) {
  const auto read = read_word_weights(prompt);
  BOOST_TEST_CONTEXT(prompt) {
    BOOST_TEST_REQUIRE(!read);
    BOOST_TEST((read.why().code == ec::invalid_argument));
    BOOST_TEST(read.why().text == why);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(prompt_weights_test)

// The cases of the web UI's own documentation of its parser.
BOOST_AUTO_TEST_CASE(the_web_uis_own_cases_are_read_alike) {
  reads("normal text", {{"normal text", 1.0}});
  reads("an (important) word",
        {{"an ", 1.0}, {"important", 1.1}, {" word", 1.0}});
  reads("(unbalanced", {{"unbalanced", 1.1}});
  reads("\\(literal\\]", {{"(literal]", 1.0}});
  reads("(unnecessary)(parens)", {{"unnecessaryparens", 1.1}});
  reads("a (((house:1.3)) [on] a (hill:0.5), sun, (((sky))).",
        {{"a ", 1.0},
         {"house", 1.573},
         {" ", 1.1},
         {"on", 1.0},
         {" a ", 1.1},
         {"hill", 0.55},
         {", sun, ", 1.1},
         {"sky", 1.4641},
         {".", 1.1}});
}

BOOST_AUTO_TEST_CASE(brackets_weights_and_escapes) {
  reads("", {{"", 1.0}});
  reads("()", {{"", 1.0}});
  reads("[x]", {{"x", 1 / 1.1}});
  reads("[[x", {{"x", 1 / 1.21}});
  reads("(x: +.5 )", {{"x", 0.5}});
  reads("(x:-1)", {{"x", -1.0}});
  reads("(x:0)y", {{"x", 0.0}, {"y", 1.0}});
  reads("((x:2) y:3)", {{"x", 6.0}, {" y", 3.0}});
  // The two kinds of brackets do not close each other.
  reads("(a [b) c]", {{"a ", 1.1}, {"b", 1.0}, {" c", 1 / 1.1}});
  // Without a bracket that it closes, a weight is text.
  reads("a:1.3) b]", {{"a:1.3) b]", 1.0}});
  reads("[a:1.3]", {{"a:1.3", 1 / 1.1}});
  reads("(a:b)", {{"a:b", 1.1}});
  reads("(a:1.3 b)", {{"a:1.3 b", 1.1}});
  reads("\\\\(a\\)\\b", {{"\\", 1.0}, {"a)b", 1.1}});
  reads("a\\", {{"a", 1.0}});
}

BOOST_AUTO_TEST_CASE(a_break_begins_a_chunk) {
  reads("a BREAK b", {{"a", 1.0}, {"b", 1.0, true}});
  reads("BREAK a BREAK", {{"", 1.0}, {"a", 1.0, true}, {"", 1.0, true}});
  reads("BREAKING, a_BREAK", {{"BREAKING, a_BREAK", 1.0}});
  reads("(a\nBREAK b:2)", {{"a", 2.0}, {"b", 2.0, true}});
}

BOOST_AUTO_TEST_CASE(weights_outside_the_range_are_refused) {
  reads("(x:100)", {{"x", 100.0}});
  reads("(x BREAK:100)(:111)", {{"x", 100.0}, {"", 1.0, true}});
  refuses("(red:101) fox", "the weight 101 of 'red' is outside -100..100");
  refuses("((a:50) b:-3)", "the weight -150 of 'a' is outside -100..100");
  refuses("(x:1.1.1)", "the weight '1.1.1' is not a number from -100 to 100");
  refuses("(x:.)", "the weight '.' is not a number from -100 to 100");
  refuses("(x:" + std::string(400, '9') + ")",
          "the weight '" + std::string(40, '9')
            + "' is not a number from -100 to 100");
  refuses(std::string(10'000, '(') + "x",
          "the weight inf of 'x' is outside -100..100");
  // A cut between characters keeps the message UTF-8.
  std::string umlauts = "a";
  for (int i = 0; i < 40; ++i)
    umlauts += "\xC3\xBC";
  const auto why = read_word_weights("(" + umlauts + ":200)").why().text;
  BOOST_TEST(why.find(umlauts.substr(0, 39) + "' is") != why.npos, why);
}

BOOST_AUTO_TEST_CASE(the_work_grows_with_the_length_alone) {
  constexpr size_t bytes = 128 * 1024;
  for (const std::string part :
       {"(", "[", "((x", "[[x", "(x:", "(:1 ", "((x:1)", "[(x])", ": 1.5 ",
        "BREAK ", "(BREAK", "(x:1)", "\\", ":11111", ")", "([x:1.0)]", "x"}) {
    std::string prompt;
    while (prompt.size() < bytes)
      prompt += part;
    for (const auto& text : {prompt, prompt + std::string(bytes, ')'),
                             prompt + std::string(bytes, ']')}) {
      uint64_t visits = 0;
      const auto read = read_word_weights(text, &visits);
      if (read)
        BOOST_TEST(visits <= 12 * text.size(), part);
      else
        BOOST_TEST((read.why().code == ec::invalid_argument), part);
    }
  }
}

BOOST_AUTO_TEST_CASE(any_text_is_survived) {
  constexpr std::string_view signs = "()[]:\\ .1a-+,";
  const auto count = test::scaled(1'000'000);
  for (size_t i = 0; i < count; ++i) {
    philox from{test::seed(), purpose::test, request_id{i}};
    std::string text;
    for (auto left = from.below(40); left > 0; --left) {
      const auto at = from.below(signs.size() + 1);
      text += at < signs.size() ? std::string(1, signs[at]) : "BREAK";
    }
    uint64_t visits = 0;
    const auto read = read_word_weights(text, &visits);
    if (!read) {
      BOOST_TEST((read.why().code == ec::invalid_argument));
      continue;
    }
    BOOST_TEST_REQUIRE(!read->empty());
    BOOST_TEST(visits <= 12 * text.size() + 4, text);
    size_t bytes = 0;
    for (const auto& x : *read) {
      BOOST_TEST(std::abs(x.weight) <= most_word_weight, text);
      bytes += x.text.size();
    }
    BOOST_TEST(bytes <= text.size(), text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
