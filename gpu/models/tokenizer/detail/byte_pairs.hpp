// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/tokenizer/detail/vocabulary_file.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Joins the bytes of a word to tokens: always the pair whose merge is first in
/// the vocabulary, and the leftmost of equal pairs.
/// Threads: any; it does not change.
/// Source: tokenizers, src/models/bpe/word.rs
class byte_pairs {
public:
  /// Memory that one thread reuses for each word.
  struct workspace {
    /// The tokens of the last encoded word.
    std::vector<int32_t> ids;
    /// Where the bytes of each of them end in the word.
    std::vector<uint32_t> ends;
    // For each remaining token: its neighbours, and the rank of its pair with
    // the next one. A token that was joined to another has no rank.
    std::vector<uint32_t> before;
    std::vector<uint32_t> after;
    std::vector<uint32_t> rank;
    // Pending pairs: in a heap, or in one list per rank. Obsolete pairs stay,
    // and are recognized by their rank when their turn comes.
    std::vector<uint64_t> heap;
    std::vector<uint32_t> lists;
    std::vector<std::pair<uint32_t, uint32_t>> places;
    std::vector<uint32_t> turn;
  };

  /// @param unknown the token for a byte that has none
  byte_pairs(const vocabulary& from, int32_t unknown);

  /// Sets `with.ids` to the tokens of one word of n bytes, and `with.ends`.
  /// Takes memory proportional to n. Takes time proportional to n with a
  /// vocabulary such as training produces, otherwise proportional to n log n.
  /// @pre `word` has less than 2^32 - 1 bytes
  void encode(std::string_view word, workspace& with) const;

private:
  struct slot {
    uint64_t pair;
    uint32_t rank;
  };

  uint32_t rank_of(int32_t left, int32_t right) const;
  bool is_ordered() const;
  template <class Push>
  void join(workspace& in, uint32_t at, const Push& push) const;
  void join_by_heap(workspace& in) const;
  void join_by_lists(workspace& in) const;

  std::array<int32_t, 256> bytes_{};
  std::array<int32_t, 256> last_bytes_{};
  std::vector<merge> merges_;
  // The ranks of pairs, in an open-addressing table whose size is a power of
  // two and which is at most half full.
  std::vector<slot> slots_;
  // Whether every merge comes after those that make its tokens: the ranks then
  // only rise while a word is joined.
  bool ordered_;
};

/// Returns the text that represents each byte in vocabularies: the byte itself
/// if it is printable, otherwise a letter from U+0100 on.
/// Source: GPT-2, src/encoder.py
std::array<std::string, 256> byte_letters();

} // namespace atelier::gpu::detail
