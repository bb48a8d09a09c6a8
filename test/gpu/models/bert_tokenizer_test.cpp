// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include "gpu/models/mutate.hpp"
#include "gpu/models/small_tokenizer.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/models/tokenizer/bert_tokenizer.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace atelier;
using test::with;

namespace {

using ids = std::vector<int32_t>;

/// A tokenizer's files, made by hand.
struct word_files {
  std::string vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ncat\n##s\na\n!\n";
  std::string config = R"({"tokenizer_class": "BertTokenizer",
    "do_lower_case": true, "model_max_length": 12})";
  std::string one_file = R"({"version": "1.0", "truncation": null,
    "padding": null, "added_tokens": [
      {"id": 0, "content": "[PAD]", "special": true, "normalized": false},
      {"id": 1, "content": "[UNK]", "special": true, "normalized": false},
      {"id": 2, "content": "[CLS]", "special": true, "normalized": false},
      {"id": 3, "content": "[SEP]", "special": true, "normalized": false},
      {"id": 4, "content": "[MASK]", "special": true, "normalized": false}],
    "normalizer": {"type": "BertNormalizer", "clean_text": true,
      "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
      "pair": [],
      "special_tokens": {
        "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
        "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
    "model": {"type": "WordPiece", "unk_token": "[UNK]",
      "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
      "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4,
                "cat": 5, "##s": 6, "a": 7, "!": 8}}})";

  using loaded = core::result<std::shared_ptr<const gpu::bert_tokenizer>>;

  loaded load() const {
    folder.write("vocab.txt", vocab);
    gpu::tokenizer_files files;
    files.vocab = folder.path / "vocab.txt";
    files.config = config;
    return gpu::bert_tokenizer::load(files);
  }

  loaded load_one_file() const {
    folder.write("tokenizer.json", one_file);
    gpu::tokenizer_files files;
    files.tokenizer_json = folder.path / "tokenizer.json";
    files.config = config;
    return gpu::bert_tokenizer::load(files);
  }

  static void check_refused(const loaded& sut, const std::string& reason) {
    BOOST_TEST_REQUIRE(!sut);
    BOOST_TEST((sut.why().code == core::ec::bad_payload));
    BOOST_TEST(sut.why().text.find(reason) != std::string::npos,
               sut.why().text << " without " << reason);
  }

  test::scratch_folder folder;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(bert_tokenizer_test, word_files)

BOOST_AUTO_TEST_CASE(both_forms_of_a_folder_give_the_same_ids) {
  for (const auto& sut : {load(), load_one_file()}) {
    BOOST_TEST_REQUIRE(bool{sut}, (sut ? "" : sut.why().text));
    const auto check = [&](std::string_view text, const ids& wanted) {
      BOOST_TEST((*sut)->encode(text, 12) == wanted,
                 boost::test_tools::per_element());
    };
    check("", {2, 3});
    check("A cat, cats!", {2, 7, 5, 1, 5, 6, 8, 3});
    // Special tokens in a client's text count, too.
    check("a [SEP] [sep]", {2, 7, 3, 1, 1, 1, 3});
    // Invalid bytes and control characters are removed.
    check("c\xFF"
          "a\x01t",
          {2, 5, 3});
    BOOST_TEST((*sut)->padding_id() == 0);
    BOOST_TEST((*sut)->vocabulary_size() == 9u);
    BOOST_TEST((*sut)->max_length() == 12u);
  }
}

BOOST_AUTO_TEST_CASE(tokens_that_do_not_fit_are_left_out) {
  const auto sut = load();
  BOOST_TEST_REQUIRE(bool{sut});
  BOOST_TEST((*sut)->encode("a cats", 4) == (ids{2, 7, 5, 3}),
             boost::test_tools::per_element());
  BOOST_TEST((*sut)->encode("a", 2) == (ids{2, 3}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_settings_decide_on_the_form_of_texts) {
  config = with(config, "true", "false");
  // The result does not depend on tokenizer.json.
  for (const auto& sut : {load(), load_one_file()}) {
    BOOST_TEST_REQUIRE(bool{sut});
    BOOST_TEST((*sut)->encode("A cat", 9) == (ids{2, 1, 5, 3}),
               boost::test_tools::per_element());
  }
  config = with(config, "\"do_lower_case\": false", "\"do_lower_case\": 1");
  check_refused(load(), "do_lower_case: 1 is not true or false");
}

BOOST_AUTO_TEST_CASE(an_unsupported_file_is_refused_by_key_and_value) {
  const std::pair<const char*, const char*> changes[] = {
    {"\"WordPiece\", \"unk", "model.type: \"Unigram\" is not supported"},
    {"\"BertNormalizer\"", "normalizer.type: \"Unigram\" is not supported"},
    {"\"BertPreTokenizer\"", "pre_tokenizer.type: \"Unigram\" is not"},
    {"\"A\"", "post_processor.single[1].Sequence.id: \"Unigram\" is not"},
  };
  const auto whole = one_file;
  for (const auto& [from, reason] : changes) {
    one_file = with(whole, from,
                    std::string{from}.find(", ") == std::string::npos
                      ? "\"Unigram\""
                      : "\"Unigram\", \"unk");
    check_refused(load_one_file(), reason);
  }
  one_file = with(whole, "\"clean_text\": true", "\"clean_text\": false");
  check_refused(load_one_file(), "normalizer.clean_text: false");
  one_file = with(whole, "100", "50");
  check_refused(load_one_file(), "model.max_input_chars_per_word: 50");
  one_file = with(whole, "[2]", "[4]");
  check_refused(load_one_file(), "special_tokens.[CLS].ids[0]: 4");
  one_file = with(whole, "\"truncation\": null",
                  "\"truncation\": {\"direction\": \"Left\"}");
  check_refused(load_one_file(), "truncation.direction: \"Left\"");
  config = with(config, "BertTokenizer", "RobertaTokenizer");
  check_refused(load(), "tokenizer_class: \"RobertaTokenizer\" is not "
                        "supported, only \"BertTokenizer\"");
}

BOOST_AUTO_TEST_CASE(a_vocabulary_without_a_special_token_is_refused) {
  vocab = with(vocab, "[MASK]", "[mask]");
  check_refused(load(), "mask_token: \"[MASK]\" is not in the vocabulary");
  vocab.clear();
  check_refused(load(), "no tokens");
  vocab = "[PAD]\n\xFF\n";
  check_refused(load(), "byte 6 is not UTF-8");
}

BOOST_AUTO_TEST_CASE(mutated_files_are_read_or_refused) {
  test::mutator mutate{test::seed() + 17};
  const word_files whole;
  size_t read = 0;
  for (size_t i = test::scaled(20'000); i > 0; --i) {
    auto& changed = mutate.below(3) == 0 ? config
                  : i % 2 == 0           ? one_file
                                         : vocab;
    changed = mutate(changed);
    const auto sut = i % 2 == 0 ? load_one_file() : load();
    if (sut) {
      ++read;
      for (const auto* const text : {"", "A cats! [SEP] \xC3", "\u6C34e\u0301"})
        BOOST_TEST_REQUIRE((*sut)->encode(text, 5).size() <= 5u);
    } else {
      BOOST_TEST_REQUIRE((sut.why().code == core::ec::bad_payload));
      BOOST_TEST_REQUIRE(sut.why().text.starts_with(folder.path.string()),
                         sut.why().text);
    }
    config = whole.config;
    one_file = whole.one_file;
    vocab = whole.vocab;
  }
  BOOST_TEST_MESSAGE(read << " were read");
}

BOOST_AUTO_TEST_SUITE_END()
