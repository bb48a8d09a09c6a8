// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/small_tokenizer.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <numeric>
#include <thread>

namespace atelier::gpu {

namespace {

using test::with;
using small = test::small_tokenizer;
using ids = std::vector<int32_t>;
using loaded = core::result<std::shared_ptr<const tokenizer>>;

// Returns the ids between start and end.
ids inner(const loaded& sut, std::string_view prompt) {
  BOOST_REQUIRE_MESSAGE(sut, (sut ? "" : sut.why().text));
  auto out = (*sut)->encode(prompt, 200).ids;
  BOOST_REQUIRE_EQUAL(out.size(), 200);
  BOOST_REQUIRE_EQUAL(out.front(), (*sut)->start_id());
  out.erase(out.begin());
  const auto end = std::find(out.rbegin(), out.rend(), (*sut)->end_id());
  BOOST_REQUIRE(end != out.rend());
  // The padding may have the end's id. Then the text ends at the first of the
  // last run.
  auto n = static_cast<size_t>(out.rend() - end);
  while (n > 1 && out[n - 2] == (*sut)->end_id())
    --n;
  out.resize(n - 1);
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(tokenizer_test)

BOOST_AUTO_TEST_CASE(a_prompt_stands_between_start_end_and_padding) {
  const small files;
  const auto sut = files.load();
  BOOST_REQUIRE(sut);
  const auto out = (*sut)->encode("The cat", 6);
  const ids wanted{small::start, small::the_end, small::cat_end,
                   small::end,   small::end,     small::end};
  BOOST_TEST(out.ids == wanted);
  BOOST_CHECK_EQUAL(out.left_out, 0);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_counted) {
  const small files;
  const auto sut = files.load();
  BOOST_REQUIRE(sut);
  const auto out = (*sut)->encode("the cat the cat the", 5);
  const ids wanted{small::start, small::the_end, small::cat_end, small::the_end,
                   small::end};
  BOOST_TEST(out.ids == wanted);
  BOOST_CHECK_EQUAL(out.left_out, 2);
  const auto least = (*sut)->encode("the cat", 2);
  BOOST_TEST(least.ids == (ids{small::start, small::end}));
  BOOST_CHECK_EQUAL(least.left_out, 2);
  BOOST_CHECK_EQUAL((*sut)->encode("the cat the", 5).left_out, 0);
  BOOST_CHECK_EQUAL((*sut)->encode("").left_out, 0);
  BOOST_CHECK_EQUAL((*sut)->encode("").ids.size(), 77);
}

BOOST_AUTO_TEST_CASE(the_part_that_fits_ends_with_a_token) {
  const small files;
  const auto sut = files.load();
  BOOST_REQUIRE(sut);
  const auto kept = [&](std::string_view prompt, uint32_t length) {
    return (*sut)->part_kept(prompt, length);
  };
  // A text that fits stays as it is written.
  BOOST_TEST(kept("The  Cat the", 5) == "The  Cat the");
  BOOST_TEST(kept("The  Cat the cat", 5) == "the cat the");
  BOOST_TEST(kept("The cat", 2).empty());
  BOOST_TEST(kept("", 2).empty());
  // The tokens of a word are its letters, and a letter of two bytes needs two.
  BOOST_TEST(kept("the dogs", 5) == "the do");
  BOOST_TEST(kept("the d\xC3\xA9gs", 5) == "the d");
  BOOST_TEST(kept("the d\xC3\xA9gs", 6) == "the d\xC3\xA9");
  BOOST_TEST(kept("a<|endoftext|>the cat the", 5) == "a<|endoftext|>the");
  // Text behind the part that fits changes nothing.
  core::philox random{test::seed(), core::purpose::test, core::request_id{1}};
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    std::string text;
    for (auto n = random.below(40); n > 0; --n)
      text += std::array{
        "the", "cat", "cart", " ", ", ", "\xC3\xA9", "7"}[random.below(7)];
    const auto length = static_cast<uint32_t>(2 + random.below(20));
    const auto part = kept(text, length);
    const auto whole = (*sut)->encode(text, length);
    if (whole.left_out == 0)
      BOOST_REQUIRE(part == text);
    else
      BOOST_REQUIRE(part == kept(text + " cat", length));
  }
}

BOOST_AUTO_TEST_CASE(one_file_and_two_files_give_the_same) {
  const small files;
  const auto two = files.load();
  const auto one = files.load_one_file();
  for (const char* prompt :
       {"the cat sat on a mat", "cats' 12 cats, the \xC3\xA9t\xC3\xA9!", "",
        "<|endoftext|>the<|startoftext|>"})
    BOOST_TEST(inner(one, prompt) == inner(two, prompt));
}

BOOST_AUTO_TEST_CASE(an_older_file_lacks_special_tokens_in_its_pattern) {
  small files;
  files.tokenizer_json =
    with(files.tokenizer_json, R"(<\\|startoftext\\|>|<\\|endoftext\\|>|)", "");
  files.tokenizer_json = with(files.tokenizer_json, R"(,
       "use_regex": true)",
                              "");
  BOOST_TEST(inner(files.load_one_file(), "the") == ids{small::the_end});
}

BOOST_AUTO_TEST_CASE(special_tokens_in_a_prompt_are_tokens) {
  const small files;
  BOOST_TEST(inner(files.load(), "the<|startoftext|>cat")
             == (ids{small::the_end, small::start, small::cat_end}));
}

BOOST_AUTO_TEST_CASE(special_tokens_match_their_case_unless_normalized) {
  small files;
  BOOST_CHECK_GT(inner(files.load(), "<|StartOfText|>").size(), 1);
  files.config.clear();
  files.special_tokens = R"({"bos_token": {"content": "<|startoftext|>",
    "normalized": true, "lstrip": false, "rstrip": false,
    "single_word": false}})";
  BOOST_TEST(inner(files.load(), "<|StartOfText|>") == ids{small::start});
  files.special_tokens = R"({"bos_token": {"content": "<|startoftext|>"}})";
  BOOST_CHECK_GT(inner(files.load(), "<|StartOfText|>").size(), 1);
}

BOOST_AUTO_TEST_CASE(padding_is_what_the_config_says) {
  small files;
  files.config = with(files.config, R"("pad_token": "<|endoftext|>")",
                      R"("pad_token": "!")");
  const auto sut = files.load();
  BOOST_REQUIRE(sut);
  BOOST_CHECK_EQUAL((*sut)->padding_id(), small::byte('!'));
  const auto out = (*sut)->encode("the", 5);
  BOOST_TEST(out.ids
             == (ids{small::start, small::the_end, small::end, small::byte('!'),
                     small::byte('!')}));
  // A special token counts at every place, unlike a "!" that ends a word.
  BOOST_TEST(inner(sut, "the! ! cat")
             == (ids{small::the_end, small::byte('!'), small::byte('!'),
                     small::cat_end}));
}

BOOST_AUTO_TEST_CASE(the_special_tokens_map_wins_unless_tokens_are_listed) {
  small files;
  files.special_tokens = R"({"pad_token": "!"})";
  const auto sut = files.load();
  BOOST_REQUIRE(sut);
  BOOST_CHECK_EQUAL((*sut)->padding_id(), small::byte('!'));
  files.config = with(files.config, "{", R"({"added_tokens_decoder": {
    "518": {"content": "<|endoftext|>", "special": true}},)");
  const auto other = files.load();
  BOOST_REQUIRE(other);
  BOOST_CHECK_EQUAL((*other)->padding_id(), small::end);
}

BOOST_AUTO_TEST_CASE(without_settings_clip_s_own_hold) {
  small files;
  files.config.clear();
  const auto sut = files.load();
  BOOST_REQUIRE(sut);
  BOOST_CHECK_EQUAL((*sut)->start_id(), small::start);
  BOOST_CHECK_EQUAL((*sut)->end_id(), small::end);
  BOOST_CHECK_EQUAL((*sut)->padding_id(), small::end);
  BOOST_CHECK_EQUAL((*sut)->vocabulary_size(), 519);
  BOOST_CHECK_EQUAL((*sut)->max_length(), 77);
}

BOOST_AUTO_TEST_CASE(the_longest_length_is_the_config_s) {
  small files;
  const auto length = [&](const char* value) {
    auto changed = small{};
    changed.config = with(files.config, "77", value);
    const auto sut = changed.load();
    return sut ? (*sut)->max_length() : 0;
  };
  BOOST_CHECK_EQUAL(length("64"), 64);
  // transformers writes these if a tokenizer has no maximum.
  BOOST_CHECK_EQUAL(length("1000000000000000019884624838656"), 77);
  BOOST_CHECK_EQUAL(length("null"), 77);
}

BOOST_AUTO_TEST_CASE(added_tokens_follow_the_vocabulary) {
  small files;
  files.config = with(files.config, "{", R"({"added_tokens_decoder": {
    "520": {"content": "<Dog>", "special": false},
    "519": {"content": "<dog's>", "special": true, "lstrip": true},
    "518": {"content": "<|endoftext|>", "special": true}},)");
  const auto sut = files.load();
  BOOST_TEST(inner(sut, "the <DOG>cat <dog's> <Dog's>")
             == (ids{small::the_end, 520, small::cat_end, 519, small::last('<'),
                     small::byte('d'), small::byte('o'), small::last('g'),
                     small::byte('\''), small::last('s'), small::last('>')}));
  BOOST_CHECK_EQUAL((*sut)->vocabulary_size(), 521);
}

BOOST_AUTO_TEST_CASE(an_older_list_of_added_tokens_is_read) {
  const small files;
  files.folder.write("added_tokens.json", R"({"<dog>": 519})");
  BOOST_TEST(inner(files.load(), "the <DOG>") == (ids{small::the_end, 519}));
}

BOOST_AUTO_TEST_CASE(merges_may_have_other_line_ends) {
  small files;
  files.merges = "#version: 0.2\r\na t</w>\r\nc at</w>";
  BOOST_TEST(inner(files.load(), "cat") == ids{small::cat_end});
}

BOOST_AUTO_TEST_CASE(a_byte_without_a_token_is_unknown) {
  small files;
  files.vocab = with(files.vocab, "\"x</w>\"", "\"xyz\"");
  BOOST_TEST(
    inner(files.load(), "x xx the")
    == (ids{small::end, small::byte('x'), small::end, small::the_end}));
}

BOOST_AUTO_TEST_CASE(text_that_is_not_utf_8_counts_as_replaced) {
  const small files;
  const auto sut = files.load();
  BOOST_TEST(inner(sut, "the \xE2\x82 cat\xFF")
             == inner(sut, "the \xEF\xBF\xBD cat\xEF\xBF\xBD"));
}

BOOST_AUTO_TEST_CASE(many_threads_encode_with_one_tokenizer) {
  const small files;
  const auto sut = files.load();
  BOOST_REQUIRE(sut);
  const auto wanted = (*sut)->encode("the cat that caught the cat").ids;
  std::vector<size_t> wrong(4, 0);
  std::vector<std::thread> threads;
  for (auto& count : wrong)
    threads.emplace_back([&sut, &wanted, &count] {
      for (int i = 0; i < 200; ++i)
        count += (*sut)->encode("the cat that caught the cat").ids != wanted;
    });
  for (auto& x : threads)
    x.join();
  BOOST_CHECK_EQUAL(std::accumulate(wrong.begin(), wrong.end(), size_t{0}), 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::gpu
