// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/core/prompt_syntax.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

using namespace atelier;
using namespace atelier::core;

namespace {

void reads(std::string_view prompt, std::string_view plain,
           std::initializer_list<prompt_mark> marks) {
  const auto read = read_prompt_syntax(prompt);
  BOOST_TEST_CONTEXT(prompt) {
    BOOST_TEST(read.plain == plain);
    BOOST_TEST_REQUIRE(read.marks.size() == marks.size());
    BOOST_TEST(read.count == marks.size());
    auto it = marks.begin();
    for (const auto& x : read.marks)
      BOOST_TEST((x.mark == *it++), x.written);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(prompt_syntax_test)

BOOST_AUTO_TEST_CASE(each_mark_of_the_web_ui_is_found_and_taken_out) {
  using enum prompt_mark;
  reads("a red circle, and more (", "a red circle, and more (", {});
  reads("a (red:1.3) circle", "a red circle", {weight});
  reads("a ((red) circle:.5)", "a red circle", {emphasis, weight});
  reads("a [red] circle", "a red circle", {emphasis});
  reads("a [red|blue|green] circle", "a red circle", {alternation});
  reads("a [red:blue:0.5] circle", "a red circle", {schedule});
  reads("a [red:0.5] circle", "a red circle", {schedule});
  reads("a [red::8] circle", "a red circle", {schedule});
  reads("a [:red:0.5] circle", "a red circle", {schedule});
  reads("a circle BREAK on white", "a circle  on white", {chunk});
  reads("a circle AND a star", "a circle AND a star", {composition});
  reads("A CIRCLE AND A STAR", "A CIRCLE AND A STAR", {});
  reads("BREAKING BANDS", "BREAKING BANDS", {});
  reads("a circle<lora:x:1>", "a circle", {network});
  reads("<LyCo:x><hypernet:y:0.4>a", "a", {network, network});
  reads("a < b, <i>", "a < b, <i>", {});
  reads("a \\(red:1.3\\) circle", "a (red:1.3) circle", {});
  reads("(a [red) circle]", "a [red circle]", {emphasis});
  reads("ratio 3:4 | or", "ratio 3:4 | or", {});
}

BOOST_AUTO_TEST_CASE(what_is_told_names_the_mark_and_what_is_left) {
  const auto x = read_prompt_syntax("a (red:1.3) circle").marks.at(0);
  BOOST_TEST(told_as_text(x)
             == "'(red:1.3)' is read as plain text; prompt_syntax 'webui' "
                "reads it as a weight of words");
  BOOST_TEST(told_as_left_out(x)
             == "'(red:1.3)' is read as 'red', because a weight of words is "
                "not supported");
  BOOST_TEST(told_as_text(read_prompt_syntax("a [red|blue] circle").marks.at(0))
             == "'[red|blue]' is read as plain text, because alternation of "
                "words is not supported; write 'red' instead");
  const auto round = read_prompt_syntax("(a) [b]").marks;
  BOOST_TEST(!is_deliberate(round.at(0)));
  BOOST_TEST(is_deliberate(round.at(1)));
}

BOOST_AUTO_TEST_CASE(weights_remain_where_they_are_read_later) {
  const auto left = [](std::string_view prompt, size_t marks) {
    const auto read = read_prompt_syntax(prompt, marks_taken::all_but_weights);
    BOOST_TEST(read.count == marks, prompt);
    return read.plain;
  };
  BOOST_TEST(left("a (red:1.3) [circle] BREAK \\(x\\)", 0)
             == "a (red:1.3) [circle] BREAK \\(x\\)");
  BOOST_TEST(left("([cat|dog]:1.3) [(red:1.2):blue:5]", 2)
             == "(cat:1.3) (red:1.2)");
  BOOST_TEST(left("a <lora:x:1>(cat) AND b", 2) == "a (cat) AND b");
  // Sixteen weights do not hide a mark without effect.
  std::string many;
  for (int i = 0; i < 20; ++i)
    many += "(a)";
  BOOST_TEST(left(many + "[b|c]", 1) == many + "b");
  BOOST_TEST(words_of("(a) [b|c]", prompt_grammar::webui) == "a b");
  BOOST_TEST(words_of("(a)", prompt_grammar::plain) == "(a)");
}

BOOST_AUTO_TEST_CASE(many_marks_are_counted_and_a_network_is_never_lost) {
  std::string prompt;
  for (int i = 0; i < 100; ++i)
    prompt += "[a]";
  const auto read = read_prompt_syntax(prompt + "<lora:x:1>");
  BOOST_TEST(read.count == 101u);
  BOOST_TEST_REQUIRE(read.marks.size() == 17u);
  BOOST_TEST((read.marks.back().mark == prompt_mark::network));
  const std::string deep =
    std::string(50'000, '[') + "a|b" + std::string(50'000, ']');
  BOOST_TEST(read_prompt_syntax(deep).plain == "a");
}

// If the time grew with the square of the length, this would take minutes.
BOOST_AUTO_TEST_CASE(a_megabyte_of_brackets_is_read) {
  constexpr size_t pairs = 350'000;
  for (const auto& [open, close] :
       {std::pair{"(:", ")"}, std::pair{"[:", "]"}, std::pair{"(1", ":2)"},
        std::pair{"[x:", ":]"}}) {
    std::string prompt;
    for (size_t i = 0; i < pairs; ++i)
      prompt += open;
    for (size_t i = 0; i < pairs; ++i)
      prompt += close;
    BOOST_TEST(read_prompt_syntax(prompt).plain.size() <= prompt.size());
  }
}

BOOST_AUTO_TEST_CASE(any_text_is_survived_and_read_the_same_again) {
  constexpr std::string_view signs = "()[]|:<>\\ 1.aB,";
  const auto count = test::scaled(100'000);
  for (size_t i = 0; i < count; ++i) {
    philox from{test::seed(), purpose::test, request_id{i}};
    std::string text;
    for (auto left = from.below(40); left > 0; --left)
      switch (from.below(12)) {
        case 0:
          text += "BREAK";
          break;
        case 1:
          text += " AND ";
          break;
        case 2:
          text += "<lora:";
          break;
        default:
          text += signs[from.below(signs.size())];
      }
    const auto read = read_prompt_syntax(text);
    BOOST_TEST(read.plain.size() <= text.size());
    BOOST_TEST(read.marks.size() <= 17u);
    for (const auto& x : read.marks)
      BOOST_TEST(told_as_text(x).size() < 400u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
