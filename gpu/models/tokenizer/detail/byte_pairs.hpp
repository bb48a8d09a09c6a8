// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/tokenizer/detail/vocabulary_file.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Joins the bytes of a word to tokens: always the pair whose merge comes first
/// in the vocabulary, the leftmost of equals.
/// Threads: any; it does not change.
/// Source: tokenizers, src/models/bpe/word.rs
class byte_pairs {
public:
  /// Memory that one thread uses for word after word.
  struct workspace {
    /// The tokens of the word that was encoded last.
    std::vector<int32_t> ids;
    // For each token that is left: its neighbours, and the rank of its pair
    // with the next one. A token that went into another has no rank.
    std::vector<uint32_t> before;
    std::vector<uint32_t> after;
    std::vector<uint32_t> rank;
    // Pairs to come: in a heap, or in one list for each rank. Those that are no
    // more stay; they are told by their rank when their turn comes.
    std::vector<uint64_t> heap;
    std::vector<uint32_t> lists;
    std::vector<std::pair<uint32_t, uint32_t>> places;
    std::vector<uint32_t> turn;
  };

  /// @param unknown what stands for a byte that has no token
  byte_pairs(const vocabulary& from, int32_t unknown);

  /// Sets `with.ids` to the tokens of one word of n bytes. Takes memory in
  /// proportion to n, and time in proportion to n with a vocabulary such as
  /// training makes it, else to n log n.
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
  // The ranks of pairs, by open addressing: a power of two, at most half full.
  std::vector<slot> slots_;
  // No merge comes before one that makes a token it joins: while a word is
  // joined, ranks only rise.
  bool ordered_;
};

/// Returns the text that stands for a byte in vocabularies: itself where that
/// can be printed, else a letter from U+0100 on.
/// Source: GPT-2, src/encoder.py
std::array<std::string, 256> byte_letters();

} // namespace atelier::gpu::detail
