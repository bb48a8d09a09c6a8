// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/caption_words.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atelier::gpu {

/// A vocabulary of CLIP's byte-pair encoding in which each chosen word is one
/// token. Any other word is split into pieces, down to bytes.
/// The ids are, in order: 256 bytes within a word, the same at the end of a
/// word, start, end, and the results of the merges. Appending words does not
/// change the ids of earlier ones.
struct bpe_vocabulary {
  static constexpr int32_t start_id = 512;
  static constexpr int32_t end_id = 513;

  /// Tokens by id, spelt as in vocab.json.
  std::vector<std::string> tokens;
  /// Merges in the order of their priority, the highest first.
  std::vector<std::pair<std::string, std::string>> merges;
  /// Ids of the chosen words, and of single bytes that are words.
  std::unordered_map<std::string, int32_t> words;
};

/// Returns the vocabulary of `words`, in their order. Each merge follows all
/// merges that the words before it need, so it does not change the encoding of
/// those words.
/// @pre words consist of lower-case ASCII letters and are not empty
bpe_vocabulary make_vocabulary(std::span<const std::string_view> words);

/// Returns the vocabulary of caption_words().
const bpe_vocabulary& caption_vocabulary();

/// Encodes a caption of known words, commas and single spaces without any file:
/// start, words, end, then end tokens up to `length`. Words that do not fit are
/// left out. The result equals that of an exported model's tokenizer. Unknown
/// words count as left out.
/// Threads: any.
/// @pre length >= 2
tokens encode_caption(std::string_view caption, uint32_t length);

/// Returns the files of a tokenizer's folder by name: vocab.json, merges.txt,
/// tokenizer_config.json and special_tokens_map.json. Texts are padded to
/// `max_length` with the end token.
/// Source: the format that transformers' CLIPTokenizer writes and reads.
std::map<std::string, std::string> tokenizer_texts(const bpe_vocabulary& of,
                                                   uint32_t max_length);

} // namespace atelier::gpu
