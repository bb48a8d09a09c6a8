// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/note.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// The words that a model was trained on, if it lists them.
/// Threads: any; it does not change.
class known_words {
public:
  /// Creates a list that knows every word.
  known_words() = default;

  /// @param text words in lower case, separated by white space; if it has no
  ///        words, every word is known
  explicit known_words(std::string_view text);

  bool empty() const {
    return words_.empty();
  }

  /// Returns the unknown words of a prompt, each once, as written. A word is a
  /// run of letters, digits and non-ASCII bytes; case is ignored.
  std::vector<std::string> unknown_in(std::string_view prompt) const;

  /// Returns a note for each of the first six unknown words of a prompt, with
  /// the nearest known word or, if none is near, the first known ones; and one
  /// note for the others.
  std::vector<core::note> notes_on(std::string_view prompt) const;

  /// The phrases of a prompt that are kept.
  enum class with : uint8_t {
    /// Phrases with a known word.
    any_known,
    /// Phrases without an unknown word.
    all_known
  };

  /// Returns a prompt without the comma-separated phrases that have too few
  /// known words. Clients put phrases such as "best quality" before each
  /// prompt, and a small model misreads them.
  std::string known_phrases_of(std::string_view prompt, with words) const;

  /// Returns the words, one per line, as the constructor reads them.
  std::string text() const;

private:
  bool knows(std::string_view word) const;
  std::string nearest_to(std::string_view word) const;

  /// In the order of the file.
  std::vector<std::string> words_;
  /// Sorted.
  std::vector<std::string> sorted_;
};

} // namespace atelier::gpu
