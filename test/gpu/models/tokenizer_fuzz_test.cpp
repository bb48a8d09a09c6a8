// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/small_tokenizer.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>

#include <array>

namespace atelier::gpu {

namespace {

using small = test::small_tokenizer;

constexpr std::array<std::string_view, 40> pieces{
  "[",
  "]",
  "{",
  "}",
  "\"",
  ",",
  ":",
  "\\",
  "\n",
  " ",
  "\r",
  "null",
  "true",
  "-1",
  "0",
  "513",
  "1e9",
  "99999999999",
  "18446744073709551616",
  "1e400",
  "\"\"",
  "[]",
  "{}",
  "\"a\": 1,",
  "#version",
  "a t\n",
  "</w>",
  "!",
  "<|endoftext|>",
  "\"content\"",
  "\"__type\"",
  "\\u0000",
  "\\ud800",
  "\xFF",
  "\xC3",
  "[[[[[[",
  "\"model_max_length\": ",
  "\"519\": {\"content\": \"x\"},",
  "\"normalized\": true,",
  "\"pad_token\": "};

std::string mutated(std::string text, core::philox& random) {
  for (auto n = 1 + random.below(3); n > 0; --n) {
    const auto at = random.below(text.size() + 1);
    const auto span = random.below(random.below(4) == 0 ? 200 : 8);
    switch (random.below(6)) {
      case 0:
        text.erase(at, span);
        break;
      case 1:
        text.insert(at, pieces[random.below(pieces.size())]);
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size() + 1), span));
        break;
      case 3:
        text.replace(at, span, pieces[random.below(pieces.size())]);
        break;
      case 4:
        text.resize(random.below(50) == 0 ? at : text.size());
        break;
      default:
        text.insert(at, 1, static_cast<char>(random.below(256)));
    }
  }
  return text;
}

std::string any_prompt(core::philox& random) {
  std::string out;
  for (auto n = random.below(40); n > 0; --n)
    if (random.below(3) == 0)
      out += pieces[random.below(pieces.size())];
    else
      out.push_back(static_cast<char>(random.below(256)));
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(tokenizer_fuzz_test)

BOOST_AUTO_TEST_CASE(a_damaged_file_is_named_or_makes_a_tokenizer) {
  core::philox random{test::seed(), core::purpose::test};
  small files;
  const small good;
  size_t refused = 0;
  const auto full = R"({"bos_token": {"__type": "AddedToken",
    "content": "<|startoftext|>", "lstrip": false, "normalized": true,
    "rstrip": false, "single_word": false}, "eos_token": "<|endoftext|>",
    "unk_token": "<|endoftext|>", "pad_token": "!", "model_max_length": 77,
    "extra_special_tokens": ["the</w>", "!"], "added_tokens_decoder": {
      "33": {"content": "!", "special": true, "normalized": false},
      "518": {"content": "<|endoftext|>", "special": true},
      "519": {"content": "<dog>", "lstrip": true}}})";
  const auto map = R"({"bos_token": {"content": "<|startoftext|>",
    "lstrip": false, "normalized": true}, "pad_token": "!",
    "additional_special_tokens": ["?"]})";
  for (size_t n = test::scaled(100'000); n > 0; --n) {
    files.vocab = good.vocab;
    files.merges = good.merges;
    files.config = random.below(2) == 0 ? full : good.config;
    files.special_tokens = map;
    const auto kind = random.below(5);
    files.tokenizer_json = good.tokenizer_json;
    auto& target = kind == 0 ? files.vocab
                 : kind == 1 ? files.merges
                 : kind == 2 ? files.tokenizer_json
                 : kind == 3 ? files.config
                             : files.special_tokens;
    target = mutated(target, random);
    const bool one_file = kind == 2 || random.below(3) == 0;
    const auto sut = one_file ? files.load_one_file() : files.load();
    if (!sut) {
      ++refused;
      const auto& why = sut.why();
      BOOST_REQUIRE(why.code == core::ec::bad_payload);
      BOOST_REQUIRE(why.text.find(files.folder.path.string()) == 0);
      BOOST_REQUIRE_LT(why.text.size(), 1000);
      continue;
    }
    const auto length = static_cast<uint32_t>(2 + random.below(100));
    const auto out = (*sut)->encode(any_prompt(random), length);
    BOOST_REQUIRE_EQUAL(out.ids.size(), length);
    for (const auto id : out.ids) {
      BOOST_REQUIRE_GE(id, 0);
      BOOST_REQUIRE_LT(static_cast<uint32_t>(id), (*sut)->vocabulary_size());
    }
  }
  BOOST_CHECK_GT(refused, 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::gpu
