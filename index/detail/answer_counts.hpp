// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/sha256.hpp>
#include <atelier/index/text_vector.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atelier::index::detail {

/// Counts the requests that entries answer: together for all entries of the
/// same words under one key, so that copies of an entry do not answer as often
/// each. Keys and texts are known by their digest, so that long ones need no
/// more memory than short ones. Threads: one at a time.
class answer_counts {
public:
  /// @param most the number of answers with which all entries of a text leave;
  ///        0: no number
  explicit answer_counts(uint64_t most) : most_(most) {}

  /// @pre the entry is new
  void enter(uint64_t entry, std::string_view key, const words_digest& words) {
    const auto text = by_text_.try_emplace(digest_of(key, words)).first;
    text->second.entries.push_back(entry);
    by_entry_.emplace(entry, counted{0, text});
  }

  /// Forgets an entry, which may be unknown.
  void leave(uint64_t entry) {
    const auto at = by_entry_.find(entry);
    if (at == by_entry_.end())
      return;
    const auto text = at->second.text;
    std::erase(text->second.entries, entry);
    if (text->second.entries.empty())
      by_text_.erase(text);
    by_entry_.erase(at);
  }

  /// Counts an answer by an entry, and returns the entries that have to leave.
  std::vector<uint64_t> count(uint64_t entry) {
    const auto at = by_entry_.find(entry);
    if (at == by_entry_.end())
      return {};
    ++at->second.answers;
    auto& text = at->second.text->second;
    return ++text.answers == most_ ? text.entries : std::vector<uint64_t>{};
  }

  /// Returns the answers by an entry.
  uint64_t of(uint64_t entry) const {
    const auto at = by_entry_.find(entry);
    return at == by_entry_.end() ? 0 : at->second.answers;
  }

private:
  struct entries_of_text {
    uint64_t answers = 0;
    std::vector<uint64_t> entries;
  };

  using texts = std::map<core::sha256_digest, entries_of_text>;

  static core::sha256_digest digest_of(std::string_view key,
                                       const words_digest& words) {
    core::sha256_stream out;
    out.update(std::as_bytes(std::span{key}));
    out.update(std::as_bytes(std::span{words}));
    return out.finish();
  }

  struct counted {
    uint64_t answers = 0;
    texts::iterator text;
  };

  uint64_t most_;
  /// By the digest of the key and of the words.
  texts by_text_;
  std::unordered_map<uint64_t, counted> by_entry_;
};

} // namespace atelier::index::detail
