// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/scratch_folder.hpp"
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <string>
#include <vector>

namespace atelier::test {

/// A tokenizer's files, made by hand: every byte, "cat</w>", "at", "the</w>"
/// and the special tokens.
struct small_tokenizer {
  /// The ids. First come the bytes as letters, then the bytes at the end of a
  /// word, then these.
  static constexpr int32_t at = 512;
  static constexpr int32_t at_end = 513;
  static constexpr int32_t cat_end = 514;
  static constexpr int32_t th = 515;
  static constexpr int32_t the_end = 516;
  static constexpr int32_t start = 517;
  static constexpr int32_t end = 518;

  small_tokenizer();

  /// Returns the id of a byte in a word, and of the last byte.
  static int32_t byte(char c);
  static int32_t last(char c);

  /// JSON texts of the files, which tests change.
  std::string vocab;
  std::string merges;
  std::string tokenizer_json;
  std::string config;
  std::string special_tokens;

  /// Writes the files and loads them.
  core::result<std::shared_ptr<const gpu::tokenizer>> load() const;
  core::result<std::shared_ptr<const gpu::tokenizer>> load_one_file() const;

  scratch_folder folder;
};

/// Replaces one occurrence of `from` in a text.
std::string with(std::string text, const std::string& from,
                 const std::string& to);

} // namespace atelier::test
