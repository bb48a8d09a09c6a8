// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace atelier::test {

/// Writes a sentence encoder as transformers does. Words of one group have the
/// same vector, and the vectors of two groups have a right angle between them.
/// Its layer changes nothing, so that a text's vector is the mean of its words'
/// vectors. The special tokens, which are the first five lines of vocab.txt,
/// have no vector.
void write_tiny_bert(const std::filesystem::path& folder,
                     const std::vector<std::vector<std::string>>& groups);

/// The ids of special tokens, and of the first word.
struct tiny_bert {
  static constexpr int32_t padding = 0;
  static constexpr int32_t unknown = 1;
  static constexpr int32_t start = 2;
  static constexpr int32_t end = 3;
  static constexpr int32_t mask = 4;
  static constexpr int32_t first_word = 5;
};

} // namespace atelier::test
