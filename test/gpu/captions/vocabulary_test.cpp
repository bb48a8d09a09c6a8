// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/captions/caption_words.hpp>
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/family.hpp>

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

namespace {

// A vocabulary's files on disk, and the tokenizer of the server.
struct fixture {
  std::shared_ptr<const tokenizer> load(const bpe_vocabulary& from,
                                        uint32_t length) const {
    const auto texts = tokenizer_texts(from, length);
    for (const auto& [name, text] : texts)
      folder.write(name, text);
    tokenizer_files files;
    files.vocab = folder.path / "vocab.json";
    files.merges = folder.path / "merges.txt";
    files.config = texts.at("tokenizer_config.json");
    files.special_tokens = texts.at("special_tokens_map.json");
    const auto out = tokenizer::load(files);
    if (!out)
      BOOST_FAIL(core::to_string(out.why()));
    return *out;
  }

  test::scratch_folder folder;
};

// Returns the ids between start and end.
std::vector<int32_t> inner(const tokenizer& sut, std::string_view text) {
  auto ids = sut.encode(text, 100).ids;
  const auto end = std::find(ids.begin(), ids.end(), sut.end_id());
  return {ids.begin() + 1, end};
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(vocabulary_test, fixture)

BOOST_AUTO_TEST_CASE(every_word_of_captions_is_one_token_of_its_own) {
  const auto sut = load(caption_vocabulary(), family_tokens);
  BOOST_TEST(sut->start_id() == bpe_vocabulary::start_id);
  BOOST_TEST(sut->end_id() == bpe_vocabulary::end_id);
  BOOST_TEST(sut->padding_id() == bpe_vocabulary::end_id);
  BOOST_TEST(sut->max_length() == family_tokens);
  BOOST_TEST(sut->vocabulary_size() == caption_vocabulary().tokens.size());
  std::set<int32_t> seen;
  for (const auto word : caption_words()) {
    const auto ids = inner(*sut, word);
    BOOST_TEST_REQUIRE(ids.size() == 1, word);
    BOOST_TEST(seen.insert(ids[0]).second, word);
    BOOST_TEST(ids[0] == caption_vocabulary().words.at(std::string{word}));
  }
  for (const auto* mark : {",", ".", "!", "?", ";", ":", "-"})
    BOOST_TEST(inner(*sut, mark).size() == 1, mark);
}

BOOST_AUTO_TEST_CASE(other_words_fall_to_pieces_and_never_to_the_end_token) {
  const auto sut = load(caption_vocabulary(), family_tokens);
  for (const auto* word :
       {"elephant", "zq", "circles", "\xc3\xa9", "x1", "\xe6\xb0\xb4"}) {
    const auto ids = inner(*sut, word);
    BOOST_TEST(ids.size() > 1, word);
    std::string back;
    for (const auto id : ids)
      back += caption_vocabulary().tokens[static_cast<size_t>(id)];
    BOOST_TEST(back.ends_with("</w>"), word);
  }
}

BOOST_AUTO_TEST_CASE(captions_are_encoded_as_by_the_tokenizer_that_serves) {
  const auto sut = load(caption_vocabulary(), family_tokens);
  const auto count = test::scaled(100'000);
  uint32_t longest = 0;
  for (auto i = size_t{0}; i < count; ++i) {
    core::philox from{test::seed(), core::purpose::test, core::request_id{i}};
    const auto x = draw_caption(draw_scene(from), from);
    const auto ours = encode_caption(x.text, family_tokens);
    const auto served = sut->encode(x.text, family_tokens);
    BOOST_TEST((ours.ids == served.ids), x.text);
    BOOST_TEST(ours.left_out == served.left_out, x.text);
    longest = std::max(longest, ours.left_out);
  }
  BOOST_TEST(longest <= 8);
  for (const auto* text : {"", ",", " , ,", "red circle,", "a  red"}) {
    const auto served = sut->encode(text, 8);
    if (std::string_view{text}.find(", ,") == std::string_view::npos)
      BOOST_TEST((encode_caption(text, 8).ids == served.ids), text);
  }
  const auto cut = encode_caption("a red circle", 4);
  BOOST_TEST((cut.ids
              == std::vector<int32_t>{
                bpe_vocabulary::start_id, caption_vocabulary().words.at("a"),
                caption_vocabulary().words.at("red"), bpe_vocabulary::end_id}));
  BOOST_TEST(cut.left_out == 1);
}

BOOST_AUTO_TEST_CASE(appended_words_leave_the_ids_before_theirs) {
  const std::vector<std::string_view> all{caption_words()};
  for (const auto count : {size_t{1}, size_t{20}, all.size() - 1}) {
    const auto some = make_vocabulary(std::span{all}.first(count));
    const auto& whole = caption_vocabulary();
    BOOST_TEST(
      std::equal(some.tokens.begin(), some.tokens.end(), whole.tokens.begin()));
    BOOST_TEST(
      std::equal(some.merges.begin(), some.merges.end(), whole.merges.begin()));
  }
}

BOOST_AUTO_TEST_CASE(words_that_share_letters_are_still_one_token_each) {
  const auto count = test::scaled(3'000);
  for (auto i = size_t{0}; i < count; ++i) {
    core::philox from{test::seed(), core::purpose::test, core::request_id{i}};
    std::vector<std::string> words;
    for (auto n = 1 + from.below(60); n > 0; --n) {
      std::string word;
      for (auto letters = 1 + from.below(7); letters > 0; --letters)
        word += static_cast<char>('a' + from.below(3));
      words.push_back(word);
    }
    const std::vector<std::string_view> views{words.begin(), words.end()};
    const auto made = make_vocabulary(views);
    BOOST_TEST(
      std::set<std::string>(made.tokens.begin(), made.tokens.end()).size()
      == made.tokens.size());
    const auto sut = load(made, 77);
    for (const auto& word : words)
      BOOST_TEST(
        (inner(*sut, word) == std::vector<int32_t>{made.words.at(word)}), word);
  }
}

BOOST_AUTO_TEST_SUITE_END()
