// SPDX-License-Identifier: Apache-2.0
#include "printing.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/config/detail/text.hpp>
#include <atelier/core/philox.hpp>

namespace atelier::config {

namespace {

std::string repeat(std::string_view piece, size_t bytes) {
  std::string text;
  while (text.size() + piece.size() <= bytes)
    text += piece;
  return text;
}

/// Checks the properties of every result: a verdict that can be printed
/// anywhere.
void survives(const outcome& read) {
  BOOST_REQUIRE_LE(read.faults.size(), 1000);
  for (const auto& x : read.faults) {
    BOOST_REQUIRE(!x.text.empty());
    const auto line = to_string(x);
    BOOST_REQUIRE_LE(line.size(), 2000);
    BOOST_REQUIRE(detail::is_plain(line));
  }
  if (read)
    BOOST_REQUIRE(validate(read.values).empty());
}

constexpr std::string_view pieces[] = {
  "[",     "]",    "[[",   "]]",   "{",     "}",    "=",        ",",
  ".",     "\"",   "'",    "\n",   "\r\n",  "#",    "\"\"\"",   "'''",
  "\\",    "\\u",  "nan",  "-inf", "1e999", "0x",   "99999999", "-",
  "+",     "_",    "true", "1979", "T",     ":",    "devices",  "limits",
  "steps", "name", " ",    "\t",   "é",     "\xFF", "\xC2",     "\x7F",
  "\x01",  "\v",   "\f",   "a.b",  "_kib",  "@",    "cpu:",     "😀",
};

std::string mutated(std::string text, core::philox& random) {
  for (auto n = 1 + random.below(4); n > 0; --n) {
    const auto at = random.below(text.size() + 1);
    const auto span = random.below(random.below(4) == 0 ? 200 : 8);
    switch (random.below(5)) {
      case 0:
        text.erase(at, span);
        break;
      case 1:
        text.insert(at, pieces[random.below(std::size(pieces))]);
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size() + 1), span));
        break;
      case 3:
        text.replace(at, span, pieces[random.below(std::size(pieces))]);
        break;
      default:
        text.insert(at, 1, static_cast<char>(random.below(256)));
    }
  }
  return text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(hostile)

BOOST_AUTO_TEST_CASE(huge_texts_are_refused_in_bounded_time_and_stack) {
  constexpr size_t most = 1 << 20;
  const std::string texts[] = {
    repeat("[", most),
    "a = " + repeat("[", most - 4),
    "a = " + repeat("{a=", most - 4),
    "a = " + repeat("[{a=", most - 4),
    repeat("a.", most - 8) + "a = 1",
    "[" + repeat("a.", most - 8) + "a]",
    "a = {" + repeat("a .\t", most - 16) + "a = 1}",
    "a = {b = \"\"\"c\"\"\"\", " + repeat("a.", most - 64) + "a = 1}",
    repeat("\"a\".'b'.", most - 8) + "a = 1",
    repeat("[[devices]]\n", most),
    repeat("[[a]]\n", most),
    "devices = [" + repeat("{},", most - 32) + "]",
    "devices = [{variants = [" + repeat("'a@1',", most - 32) + "]}]",
    repeat("a", most),
    repeat("a", most - 8) + " = 1",
    "limits.steps = " + repeat("9", most - 20),
    "limits.guidance = 0." + repeat("9", most - 20),
    "policy.name = '" + repeat("x", most - 20) + "'",
    "policy.name = \"" + repeat("\\u0000", most - 20) + "\"",
    repeat("#", most),
    repeat("\n", most),
    std::string(most, '\0'),
    repeat("\xFF", most),
    std::string(4 * most, '['),
  };
  for (const auto& text : texts)
    BOOST_TEST_CONTEXT(text.substr(0, 32)) {
      survives(parse(text, "a.toml"));
      const std::string overrides[] = {"devices[0]." + text + "=1"};
      survives(parse({}, "a.toml", overrides));
    }
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_text_are_refused) {
  using namespace std::string_literals;
  for (const auto& text :
       {"limits.steps = 3\0"s, "\0"s, "policy.name = 'a\0b'"s,
        "policy.name = '\xFF'"s, "policy.name = '\xED\xA0\x80'"s,
        "policy.name = '\xC0\x80'"s, "# \xFF"s, "\xFF\xFE[\0"s,
        "policy.name = '\x1B[2J'"s, "policy.name = '\xC2\x9B'"s}) {
    const auto read = parse(text, "a\x1B.toml");
    BOOST_CHECK_EQUAL(read.faults.size(), 1);
    survives(read);
  }
}

BOOST_AUTO_TEST_CASE(every_beginning_of_the_example_gives_a_verdict) {
  const auto example = example_toml();
  for (size_t n = 0; n < example.size(); n += 7)
    survives(parse(std::string_view{example}.substr(0, n), "a.toml"));
}

BOOST_AUTO_TEST_CASE(mutations_of_the_example_give_a_verdict) {
  core::philox random{test::seed(), core::purpose::test};
  const auto whole = example_toml();
  const auto bare = to_toml(settings{});
  for (size_t n = test::scaled(100'000); n > 0; --n)
    survives(parse(mutated(random.below(4) ? bare : whole, random), "a.toml"));
}

BOOST_AUTO_TEST_CASE(mutations_of_overrides_give_a_verdict) {
  core::philox random{test::seed(), core::purpose::test};
  const std::string sound[] = {
    "devices[0].max_batch=4", "devices.0.variants=['base@1', 'tiny@2']",
    "limits.guidance=1.5", "log.level=debug", "devices=[{name='cpu:1'}]"};
  for (size_t n = test::scaled(100'000); n > 0; --n) {
    const std::string overrides[] = {
      mutated(sound[random.below(std::size(sound))], random)};
    survives(parse({}, "a.toml", overrides));
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
