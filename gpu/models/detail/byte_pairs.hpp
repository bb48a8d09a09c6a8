// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/detail/vocabulary_file.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Joins the bytes of a word to tokens: always the pair whose merge comes first
/// in the vocabulary, the leftmost of equals.
/// Threads: any; it does not change.
/// Source: tokenizers, src/models/bpe/word.rs
class byte_pairs {
public:
  /// @param unknown what stands for a byte that has no token
  byte_pairs(const vocabulary& from, int32_t unknown);

  /// Sets `ids` to the tokens of one word. Takes time in proportion to
  /// n log n, and memory to n, for n bytes.
  /// @pre `word` has less than 2^32 bytes
  void encode(std::string_view word, std::vector<int32_t>& ids) const;

private:
  struct slot {
    uint64_t pair;
    uint32_t rank;
    int32_t joined;
  };

  static uint64_t pair_of(int32_t left, int32_t right);

  const slot* find(int32_t left, int32_t right) const;
  void encode_short(std::vector<int32_t>& ids) const;
  void encode_long(std::vector<int32_t>& ids) const;

  std::array<int32_t, 256> bytes_{};
  std::array<int32_t, 256> last_bytes_{};
  // Open addressing; a power of two, at most half full.
  std::vector<slot> slots_;
};

/// Returns the text that stands for a byte in vocabularies: itself where that
/// can be printed, else a letter from U+0100 on.
/// Source: GPT-2, src/encoder.py
std::array<std::string, 256> byte_letters();

} // namespace atelier::gpu::detail
