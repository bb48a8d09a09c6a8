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

/// A vocabulary of CLIP's byte-pair encoding in which chosen words are one
/// token each; any other word falls to pieces, down to bytes.
/// Ids: 256 bytes in a word, the same at the end of one, start, end, then what
/// the merges make. Words that are appended leave all ids before theirs.
struct bpe_vocabulary {
  static constexpr int32_t start_id = 512;
  static constexpr int32_t end_id = 513;

  /// By id, as vocab.json writes them.
  std::vector<std::string> tokens;
  /// The first one is applied first.
  std::vector<std::pair<std::string, std::string>> merges;
  /// Ids of the chosen words, and of single bytes that are words.
  std::unordered_map<std::string, int32_t> words;
};

/// Make the vocabulary of `words`, in their order. Each merge comes after all
/// those that the words before needed, hence changes none of these.
/// @pre words are of ASCII letters in lower case, not empty
bpe_vocabulary make_vocabulary(std::span<const std::string_view> words);

/// The vocabulary of caption_words().
const bpe_vocabulary& caption_vocabulary();

/// Encode a caption of known words, commas and single spaces without any file:
/// start, words, end, and end again up to `length`; what does not fit is left
/// out. The same as the tokenizer of an exported model gives.
/// A word that is not known counts as left out.
/// Threads: any.
/// @pre length >= 2
tokens encode_caption(std::string_view caption, uint32_t length);

/// Return the files of a tokenizer's folder by name: vocab.json, merges.txt,
/// tokenizer_config.json and special_tokens_map.json.
/// Texts are padded with the end token to `max_length`.
/// Source: what transformers' CLIPTokenizer writes and reads.
std::map<std::string, std::string> tokenizer_texts(const bpe_vocabulary& of,
                                                   uint32_t max_length);

} // namespace atelier::gpu
