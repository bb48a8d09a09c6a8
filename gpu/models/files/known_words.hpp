// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/note.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// The words that a model was trained on, where it says so.
/// Threads: any; it does not change.
class known_words {
public:
  /// Knows every word.
  known_words() = default;

  /// `text`: words with white space between, in lower case. Without any, every
  /// word is known.
  explicit known_words(std::string_view text);

  bool empty() const {
    return words_.empty();
  }

  /// Return the words of a prompt that are not known, each once, as they are
  /// written. A word is a run of letters, digits and bytes beyond ASCII; case
  /// does not matter.
  std::vector<std::string> unknown_in(std::string_view prompt) const;

  /// Return a note for each unknown word of a prompt with the nearest known
  /// one, or with all that are known; of more than six one for the rest.
  std::vector<core::note> notes_on(std::string_view prompt) const;

  /// Which phrases of a prompt stay.
  enum class with : uint8_t {
    /// Those with a known word.
    any_known,
    /// Those without an unknown one.
    all_known
  };

  /// Return a prompt without the phrases between commas of which too little is
  /// known. A small model takes such phrases, which clients put before each
  /// prompt ("best quality, ..."), for anything.
  std::string known_phrases_of(std::string_view prompt, with words) const;

  /// Return the words, a line each, as the constructor takes them.
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
