// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/small_tokenizer.hpp"
#include <atelier/gpu/models/clip/prompt_chunks.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;
using small = test::small_tokenizer;

namespace {

constexpr uint32_t length = 77;

struct fixture {
  fixture() {
    auto loaded = small{}.load();
    BOOST_REQUIRE(loaded);
    words = *loaded;
  }

  core::result<chunked_prompt> split(
    std::string text, uint32_t of = length,
    core::emphasis_rule emphasis = core::emphasis_rule::original) const {
    prompt_text asked;
    asked.text = std::move(text);
    asked.syntax = core::prompt_grammar::webui;
    asked.emphasis = emphasis;
    return chunk_prompt(*words, asked, of);
  }

  std::vector<prompt_chunk> chunks(std::string text) const {
    const auto got = split(std::move(text));
    BOOST_REQUIRE_MESSAGE(got, (got ? "" : got.why().text));
    BOOST_TEST(got->left_out == 0u);
    for (const auto& x : got->chunks) {
      BOOST_TEST(x.ids.size() == length);
      BOOST_TEST(x.weights.size() == length);
      BOOST_TEST(x.ids.front() == small::start);
      BOOST_TEST(x.weights.front() == 1);
    }
    return got->chunks;
  }

  std::shared_ptr<const tokenizer> words;
};

std::string repeated(std::string_view word, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += word;
  return out;
}

// Returns the number of tokens before the chunk's end.
size_t words_in(const prompt_chunk& x) {
  size_t n = 1;
  while (n < x.ids.size() && x.ids[n] != small::end)
    ++n;
  return n - 1;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(prompt_chunks, fixture)

BOOST_AUTO_TEST_CASE(tokens_have_the_weights_of_their_words) {
  const auto x = chunks("the (cat:1.5) [the]").at(0);
  const std::vector<int32_t> ids(x.ids.begin(), x.ids.begin() + 5);
  const std::vector<int32_t> expected{
    small::start, small::the_end, small::cat_end, small::the_end, small::end};
  BOOST_TEST(ids == expected);
  BOOST_TEST(x.weights[1] == 1);
  BOOST_TEST(x.weights[2] == 1.5f);
  BOOST_TEST(x.weights[3] == static_cast<float>(1 / 1.1));
  BOOST_TEST(x.weights[4] == 1);
}

BOOST_AUTO_TEST_CASE(a_long_prompt_has_several_chunks) {
  BOOST_TEST(chunks("").size() == 1u);
  BOOST_TEST(chunks(repeated("cat ", 75)).size() == 1u);
  const auto two = chunks(repeated("cat ", 76));
  BOOST_TEST_REQUIRE(two.size() == 2u);
  BOOST_TEST(words_in(two[0]) == 75u);
  BOOST_TEST(two[0].ids.back() == small::end);
  BOOST_TEST(words_in(two[1]) == 1u);
  BOOST_TEST(chunks(repeated("cat ", 600)).size() == most_chunks);
}

BOOST_AUTO_TEST_CASE(words_behind_a_near_comma_move_together) {
  // The comma is the 56th token, so 19 words follow it in the first chunk.
  auto x = chunks(repeated("cat ", 55) + ", " + repeated("the ", 20));
  BOOST_TEST_REQUIRE(x.size() == 2u);
  BOOST_TEST(words_in(x[0]) == 56u);
  BOOST_TEST(words_in(x[1]) == 20u);
  BOOST_TEST(x[1].ids[1] == small::the_end);
  // One word earlier it is too far.
  x = chunks(repeated("cat ", 54) + ", " + repeated("the ", 21));
  BOOST_TEST(words_in(x[0]) == 75u);
  BOOST_TEST(words_in(x[1]) == 1u);
  // A comma in the first place of a chunk moves nothing by itself.
  x = chunks(repeated("cat ", 75) + ", the");
  BOOST_TEST(words_in(x[0]) == 75u);
  BOOST_TEST(x[1].ids[1] == small::last(','));
}

BOOST_AUTO_TEST_CASE(a_break_ends_a_chunk) {
  const auto x = chunks("cat BREAK the cat BREAK");
  BOOST_TEST_REQUIRE(x.size() == 2u);
  BOOST_TEST(words_in(x[0]) == 1u);
  BOOST_TEST(words_in(x[1]) == 2u);
  BOOST_TEST(words_in(chunks("BREAK cat").at(0)) == 0u);
}

BOOST_AUTO_TEST_CASE(rules_read_weights_or_do_not) {
  const auto ignored =
    split("(cat:1.5) BREAK the", length, core::emphasis_rule::ignore);
  BOOST_TEST_REQUIRE(bool{ignored});
  BOOST_TEST(ignored->chunks.size() == 2u);
  BOOST_TEST(ignored->chunks[0].weights[1] == 1);
  const auto literal =
    split("(cat:1.5) BREAK", length, core::emphasis_rule::off);
  BOOST_TEST_REQUIRE(bool{literal});
  BOOST_TEST(literal->chunks.size() == 1u);
  BOOST_TEST(words_in(literal->chunks[0]) > 6u);
}

BOOST_AUTO_TEST_CASE(marks_without_effect_are_no_words) {
  BOOST_TEST(words_in(chunks("[cat|the]").at(0)) == 1u);
  BOOST_TEST(words_in(chunks("[cat:the:0.5]").at(0)) == 1u);
}

BOOST_AUTO_TEST_CASE(too_many_chunks_are_refused) {
  for (const auto& text :
       {repeated("cat ", 601), repeated("BREAK ", 20'000),
        repeated("cat ", 30'000), repeated("cat BREAK ", 8) + "cat"}) {
    const auto got = split(text);
    BOOST_TEST_REQUIRE(!got);
    BOOST_TEST((got.why().code == core::ec::invalid_argument));
    BOOST_TEST(got.why().text == "it needs more than 8 chunks of 75 tokens");
  }
  BOOST_TEST(!split("cat", 2));
}

BOOST_AUTO_TEST_CASE(a_plain_text_is_cut) {
  prompt_text asked;
  asked.text = "(cat:1.5) " + repeated("cat ", 80);
  const auto got = chunk_prompt(*words, asked, length);
  BOOST_TEST_REQUIRE(bool{got});
  BOOST_TEST(got->chunks.size() == 1u);
  BOOST_TEST(got->left_out > 0u);
  BOOST_TEST(got->chunks[0].ids == words->encode(asked.text, length).ids);
  for (const auto weight : got->chunks[0].weights)
    BOOST_TEST(weight == 1);
}

BOOST_AUTO_TEST_SUITE_END()
