// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace atelier::index {

inline constexpr size_t text_dimensions = 256;

/// A text as a unit vector, or all zeros.
using text_vector = std::array<float, text_dimensions>;

/// Returns the vector of a text's words and of the pairs of words that stand at
/// most eight apart, by their distance. Each is counted at places and with
/// signs that its hash chooses. The vector compares words, not meaning: "a cat"
/// and "a kitten" share one word, and "a dog bites a man" is near "a man bites
/// a dog".
///
/// Capital letters count as small ones (Latin, Greek, Cyrillic), wide ones as
/// others, a character that is neither letter nor digit separates words, and a
/// character of a script without spaces (Chinese, Japanese, Thai, Lao, Burmese,
/// Khmer) is a word by itself. A letter and its accent as one character differ
/// from the same as two, because composing them takes Unicode's tables. The
/// vector of a text without words is all zeros. Text after a UTF-8 fault is
/// ignored. The vector is equal on every machine.
text_vector vector_of(std::string_view text);

/// Identifies a sequence of words.
using words_digest = std::array<uint8_t, 16>;

/// Returns the digest of the words that vector_of reads, in their order.
words_digest digest_of_words(std::string_view text);

/// The greatest similarity of texts that are not the same words in the same
/// order.
inline constexpr double most_of_other_texts = 0.999;

/// Returns the similarity of two texts whose vectors have that similarity. It
/// is 1 only for texts of the same words in the same order, however alike the
/// vectors of others are, so that a threshold of 1 lets only those pass.
double similarity_of_texts(double of_vectors, bool same_words);

/// Returns how near two unit vectors of one length are, 0..1: the cosine of the
/// angle between them, or 0 if that is negative or one vector is all zeros.
/// Texts with the same words in the same order have about 1, and texts that
/// share no word have about 0.
double similarity(std::span<const float> a, std::span<const float> b);

} // namespace atelier::index
