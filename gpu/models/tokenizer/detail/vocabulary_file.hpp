// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace atelier::gpu::detail {

/// The suffix of a word's last byte in vocabularies.
inline constexpr std::string_view end_of_word = "</w>";

/// Two tokens that are joined to one.
struct merge {
  int32_t left;
  int32_t right;
  int32_t joined;
};

/// Tokens and merges of byte-pair encoding, as stored in a model's files.
struct vocabulary {
  std::unordered_map<std::string, int32_t> ids;
  /// Merges in the order of their priority, the highest first.
  std::vector<merge> merges;
  /// Added tokens that the file itself lists, with their ids.
  std::vector<added_token> added;
};

/// Reads vocab.json and merges.txt.
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload; the text names the
///         file, and the key or line.
core::result<vocabulary> read_vocabulary(const std::filesystem::path& vocab,
                                         const std::filesystem::path& merges);

/// Reads tokenizer.json, which must describe CLIP's normalisation and
/// splitting.
/// Errors: as read_vocabulary
core::result<vocabulary> read_tokenizer_json(const std::filesystem::path& file);

/// Reads added_tokens.json, which older tokenizers have; returns nothing if the
/// file does not exist. The tokens are ordinary ones, found in the normal form.
/// Errors: as read_vocabulary
core::result<std::vector<added_token>> read_added_tokens(
  const std::filesystem::path& file);

} // namespace atelier::gpu::detail
