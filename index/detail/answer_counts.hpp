// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/text_vector.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atelier::index::detail {

/// Counts the requests that entries answer: together for all entries of the
/// same words under one key, so that copies of an entry do not answer as often
/// each. Threads: one at a time.
class answer_counts {
public:
  /// @param most the number of answers with which all entries of a text leave;
  ///        0: no number
  explicit answer_counts(uint64_t most) : most_(most) {}

  /// @pre the entry is new
  void enter(uint64_t entry, std::string_view key, const words_digest& words) {
    std::string name{key};
    name.append(words.begin(), words.end());
    const auto text = by_text_.try_emplace(std::move(name)).first;
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

  using texts = std::map<std::string, entries_of_text>;

  struct counted {
    uint64_t answers = 0;
    texts::iterator text;
  };

  uint64_t most_;
  /// By the key and the digest of the words.
  texts by_text_;
  std::unordered_map<uint64_t, counted> by_entry_;
};

} // namespace atelier::index::detail
