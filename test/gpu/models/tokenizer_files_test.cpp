// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/small_tokenizer.hpp"

#include <boost/test/unit_test.hpp>

namespace atelier::gpu {

namespace {

using test::with;
using small = test::small_tokenizer;
using loaded = core::result<std::shared_ptr<const tokenizer>>;

void check_refused(const loaded& sut, std::string_view file,
                   std::string_view key,
                   core::ec code = core::ec::bad_payload) {
  BOOST_REQUIRE_MESSAGE(!sut, "not refused: " << file << ": " << key);
  const auto& why = sut.why();
  BOOST_TEST_INFO(why.text);
  BOOST_CHECK(why.code == code);
  BOOST_CHECK(why.text.find(file) != std::string::npos);
  BOOST_CHECK(why.text.find(key) != std::string::npos);
}

} // namespace

BOOST_AUTO_TEST_SUITE(tokenizer_files_test)

BOOST_AUTO_TEST_CASE(missing_files_are_named) {
  const small files;
  BOOST_REQUIRE(files.load());
  tokenizer_files from;
  check_refused(tokenizer::load(from), "vocab.json", "tokenizer.json",
                core::ec::not_found);
  from.vocab = files.folder.path / "vocab.json";
  from.merges = files.folder.path / "none.txt";
  check_refused(tokenizer::load(from), "none.txt", "no such file",
                core::ec::not_found);
  from.merges = files.folder.path;
  check_refused(tokenizer::load(from), files.folder.path.string(), "regular",
                core::ec::bad_payload);
  from.tokenizer_json = files.folder.path / "none.json";
  check_refused(tokenizer::load(from), "none.json", "no such file",
                core::ec::not_found);
}

BOOST_AUTO_TEST_CASE(a_vocabulary_without_merges_is_refused) {
  for (const auto* text : {"", "#version: 0.2\n"}) {
    small files;
    files.merges = text;
    check_refused(files.load(), "merges.txt",
                  "no merges, though the vocabulary has tokens of several "
                  "characters, such as \"at\"");
  }
}

BOOST_AUTO_TEST_CASE(a_faulty_vocabulary_is_named_with_its_key) {
  const auto refused = [](const std::string& vocab, const char* key) {
    small files;
    files.vocab = vocab;
    check_refused(files.load(), "vocab.json", key);
  };
  const auto good = small{}.vocab;
  refused("", "not a JSON object");
  refused("[]", "not a JSON object");
  refused("{}", "no tokens");
  refused("{\"a\": 0", "not a JSON object");
  refused("{\"a\xFF\": 0}", "UTF-8");
  refused(with(good, "\"cat</w>\": 514", "\"cat</w>\": 513"), "cat</w>");
  refused(with(good, "\"cat</w>\": 514", "\"cat</w>\": -1"), "cat</w>");
  refused(with(good, "\"cat</w>\": 514", "\"cat</w>\": 16777216"), "cat</w>");
  refused(with(good, "\"cat</w>\": 514", "\"cat</w>\": 1e3"), "cat</w>");
  refused(with(good, "\"cat</w>\": 514", "\"cat</w>\": 18446744073709551616"),
          "cat</w>");
  refused(with(good, "\"cat</w>\": 514", "\"cat</w>\": [514]"), "cat</w>");
  refused("{\"a\": [514]}", "\"a\"");
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_refused_before_a_tree_is_built) {
  constexpr size_t levels = 1'000'000;
  const auto refused = [](const std::string& deep) {
    small vocabulary;
    vocabulary.vocab = deep;
    check_refused(vocabulary.load(), "vocab.json", "nested deeper than 16");
    small whole;
    whole.tokenizer_json = deep;
    check_refused(whole.load_one_file(), "tokenizer.json",
                  "nested deeper than 16");
    small config;
    config.config = deep;
    check_refused(config.load(), "tokenizer_config", "nested deeper than 16");
  };
  refused(std::string(levels, '['));
  refused("{\"a\":" + std::string(levels, '[') + std::string(levels, ']')
          + "}");
  // Brackets within strings do not count.
  small files;
  files.config = with(files.config, "{",
                      R"({"name_or_path": "[[[[[[[[[[[[[[[[[[[[\"[[[[",)");
  BOOST_TEST(!!files.load());
}

BOOST_AUTO_TEST_CASE(a_faulty_merge_is_named_with_its_line) {
  const auto refused = [](const std::string& merges, const char* key) {
    small files;
    files.merges = merges;
    check_refused(files.load(), "merges.txt", key);
  };
  refused("#version: 0.2\na t\nat\n", "line 3");
  refused("a t\n\nx t\n", "line 2");
  refused("a t x\n", "line 1");
  refused("a  t\n", "line 1");
  refused("a t\nq q\n", "line 2: \"qq\"");
  refused("a t\nxyz q\n", "line 2: \"xyz\"");
  refused("a t\nq xyz\n", "line 2: \"xyz\"");
  refused("a \xC3\n", "UTF-8");
}

BOOST_AUTO_TEST_CASE(blank_lines_after_the_last_merge_are_skipped) {
  small files;
  files.merges += "\r\n \n\n";
  BOOST_TEST(!!files.load());
}

BOOST_AUTO_TEST_CASE(missing_special_tokens_are_named) {
  small without_start;
  without_start.vocab = with(without_start.vocab, "<|startoftext|>", "<start>");
  check_refused(without_start.load(), "tokenizer_config.json", "bos_token");
  const auto refused = [](const char* key, const char* from, const char* to) {
    small files;
    const auto entry = "\"" + std::string{key} + "\": ";
    files.config = with(files.config, entry + from, entry + to);
    check_refused(files.load(), "tokenizer_config.json", key);
  };
  refused("pad_token", R"("<|endoftext|>")", R"("[PAD]")");
  refused("eos_token", R"("<|endoftext|>")", "null");
  refused("eos_token", R"("<|endoftext|>")", "\"\"");
  small files;
  files.special_tokens = R"({"unk_token": "[UNK]"})";
  check_refused(files.load(), "special_tokens_map.json", "unk_token");
}

BOOST_AUTO_TEST_CASE(unsupported_settings_are_named) {
  const auto refused = [](const std::string& entry, const char* key) {
    small files;
    // If two entries have the same name, the later one counts.
    files.config.pop_back();
    files.config += ", " + entry + "}";
    check_refused(files.load(), "tokenizer_config.json", key);
  };
  refused(R"("tokenizer_class": "T5Tokenizer")", "tokenizer_class");
  refused(R"("padding_side": "left")", "padding_side");
  refused(R"("truncation_side": "left")", "truncation_side");
  refused(R"("split_special_tokens": true)", "split_special_tokens");
  refused(R"("image_token": "<image>")", "image_token");
  refused(R"("model_specific_special_tokens": {"a": "b"})",
          "model_specific_special_tokens");
  refused(R"("extra_special_tokens": {"a": "b"})", "extra_special_tokens");
  refused(R"("extra_special_tokens": ["<none>"])", "extra_special_tokens");
  refused(R"("mask_token": 7)", "mask_token");
  refused(R"("mask_token": {"content": "a"})", "mask_token");
  refused(R"("added_tokens_decoder": [])", "added_tokens_decoder");
  refused(R"("added_tokens_decoder": {"x": {"content": "<a>"}})",
          "added_tokens_decoder.\"x\"");
  refused(R"("added_tokens_decoder": {"-1": {"content": "<a>"}})",
          "added_tokens_decoder.\"-1\"");
  refused(R"("added_tokens_decoder": {"99999999999": {"content": "<a>"}})",
          "added_tokens_decoder.\"99999999999\"");
  refused(R"("added_tokens_decoder": {"600": {"content": "<a>"}})",
          "added_tokens_decoder.\"600\"");
  refused(R"("added_tokens_decoder": {"519": {"content": "the</w>"}})",
          "added_tokens_decoder.\"519\"");
  refused(R"("added_tokens_decoder": {"519": {}})", "content");
  refused(R"("added_tokens_decoder": {"519": {"content": 1}})", "content");
  refused(R"("added_tokens_decoder": {"519": {"content": "<a>",
    "normalized": 1}})",
          "normalized");
  refused(R"("added_tokens_decoder": {"519": {"content": "<a>",
    "single_word": true}})",
          "single_word");
  refused(R"("added_tokens_decoder": {"519": {"content": "<a>"},
    "520": {"content": "<A>"}})",
          "<A>");
}

BOOST_AUTO_TEST_CASE(a_faulty_longest_length_is_named) {
  for (const char* bad : {"1", "0", "-77", "7.5", "\"77\"", "1048577"}) {
    small files;
    files.config = with(files.config, "77", bad);
    check_refused(files.load(), "tokenizer_config.json", "model_max_length");
  }
}

BOOST_AUTO_TEST_CASE(a_faulty_older_list_is_named) {
  const small files;
  for (const char* id : {"530", "-1", "\"519\""}) {
    files.folder.write("added_tokens.json",
                       "{\"<dog>\": " + std::string{id} + "}");
    check_refused(files.load(), "added_tokens.json", "<dog>");
  }
}

BOOST_AUTO_TEST_CASE(faulty_settings_are_named) {
  small files;
  files.config = "[]";
  check_refused(files.load(), "tokenizer_config.json", "not a JSON object");
  files.config = "{}";
  files.special_tokens = "{";
  check_refused(files.load(), "special_tokens_map.json", "not a JSON object");
  files.special_tokens = R"({"bos_token": 1})";
  check_refused(files.load(), "special_tokens_map.json", "bos_token");
}

BOOST_AUTO_TEST_CASE(a_faulty_single_file_is_named_with_its_key) {
  const auto refused = [](const std::string& from, const std::string& to,
                          const char* key) {
    small files;
    files.tokenizer_json = with(files.tokenizer_json, from, to);
    check_refused(files.load_one_file(), "tokenizer.json", key);
  };
  refused("\"NFC\"", "\"NFKC\"", "normalizer.normalizers[0].type");
  refused("{\"type\": \"Lowercase\"}", "", "not a JSON object");
  refused("\"normalizer\"", "\"normaliser\"", "normalizer: missing");
  refused("\"type\": \"Lowercase\"", "\"type\": \"Lowercase\", \"x\": 1",
          "normalizer.normalizers[2].\"x\"");
  refused("[\\\\p{L}]+", "[a-z]+", "pre_tokenizer.pretokenizers[0].pattern");
  refused("\"Removed\"", "\"Isolated\"", "pretokenizers[0].behavior");
  refused("\"use_regex\": true", "\"use_regex\": false", "use_regex");
  refused("\"add_prefix_space\": false", "\"add_prefix_space\": true",
          "add_prefix_space");
  refused("\"truncation\": null", "\"truncation\": {\"direction\": \"Left\"}",
          "truncation.direction");
  refused("\"padding\": null", "\"padding\": []", "padding");
  refused("\"model\"", "\"modell\"", "model");
  refused("\"BPE\"", "\"Unigram\"", "model.type");
  refused("\"</w>\",", "\"\",", "model.end_of_word_suffix");
  refused("\"dropout\": null", "\"dropout\": 0.1", "model.dropout");
  refused("\"byte_fallback\": false", "\"byte_fallback\": true",
          "model.byte_fallback");
  refused("\"ignore_merges\"", "\"ignore\"", "model.\"ignore\"");
  refused("\"vocab\":", "\"words\":", "model.\"words\"");
  refused("\"cat</w>\": 514", "\"cat</w>\": 513", "model.vocab.\"cat</w>\"");
  refused("[\"c\", \"at</w>\"]", "[\"c\"]", "model.merges[2]");
  refused("[\"c\", \"at</w>\"]", "7", "model.merges[2]");
  refused("[\"c\", \"at</w>\"]", "\"c  at</w>\"", "model.merges[2]");
  refused("[\"c\", \"at</w>\"]", "[\"c\", \"at\"]", "model.merges[2]");
  refused("\"id\": 517", "\"id\": 7", "<|startoftext|>");
  refused("\"id\": 517", "\"id\": -7", "added_tokens[0].id");
  refused("\"id\": 517, ", "", "added_tokens[0].id");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::gpu
