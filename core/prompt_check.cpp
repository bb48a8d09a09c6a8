// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/prompt_check.hpp>
#include <atelier/core/prompt_syntax.hpp>
#include <atelier/core/prompt_weights.hpp>

#include <fmt/format.h>

#include <string>

namespace atelier::core {

namespace {

void note_syntax_in(std::string_view field, const std::string& prompt,
                    request& wanted) {
  const bool plain = wanted.syntax == prompt_grammar::plain;
  const auto read = read_prompt_syntax(
    prompt, plain ? marks_taken::all : marks_taken::all_but_weights);
  for (const auto& x : read.marks)
    if ((!plain || is_deliberate(x)) && wanted.notes.size() < most_notes)
      wanted.notes.push_back(
        {note_code::prompt_syntax,
         fmt::format("{}: {}", field,
                     plain ? told_as_text(x) : told_as_left_out(x))});
}

} // namespace

result<void> check_prompt(std::string_view field, std::string_view prompt) {
  const auto read = read_prompt_syntax(prompt, marks_taken::all_but_weights);
  for (const auto& x : read.marks)
    if (x.mark == prompt_mark::network)
      return fail(ec::invalid_argument,
                  "{}: '{}' names a network, which is not supported", field,
                  x.written);
  const auto weights = read_word_weights(read.plain);
  if (!weights)
    return fail(weights.why().code, "{}: {}", field, weights.why().text);
  return {};
}

result<void> check_prompts(const request& wanted, bool has_rule) {
  if (wanted.syntax == prompt_grammar::plain) {
    if (has_rule)
      return fail(ec::invalid_argument,
                  "emphasis '{}' has no effect with prompt_syntax 'plain'",
                  to_string(wanted.emphasis));
    return {};
  }
  if (wanted.emphasis == emphasis_rule::off)
    return {};
  if (auto good = check_prompt("prompt", wanted.text.positive); !good)
    return good;
  return check_prompt("negative", wanted.text.negative);
}

void note_syntax(request& wanted) {
  if (wanted.emphasis == emphasis_rule::off)
    return;
  note_syntax_in("prompt", wanted.text.positive, wanted);
  note_syntax_in("negative prompt", wanted.text.negative, wanted);
}

} // namespace atelier::core
