// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace atelier::index {

inline constexpr size_t text_dimensions = 256;

/// A text as a unit vector, or all zeros.
using text_vector = std::array<float, text_dimensions>;

/// Returns the vector of a text's words and pairs of neighbouring words, each
/// counted in a place and with a sign that its hash chooses. It compares words,
/// not meaning: "a cat" and "a kitten" share one word, and "a dog bites a man"
/// is near to "a man bites a dog".
///
/// Capitals count as small letters (Latin, Greek, Cyrillic), what is neither
/// letter nor digit separates words, and a Chinese or Japanese character is a
/// word by itself. A text without words is all zeros. What follows a fault in
/// the UTF-8 is left out. Equal on every machine.
text_vector vector_of(std::string_view text);

/// Returns how near two unit vectors of one length are, 0..1: the cosine of the
/// angle between them, and 0 where that is negative or one is all zeros. Texts
/// of the same words in the same order have 1, those that share no word about
/// 0.
double similarity(std::span<const float> a, std::span<const float> b);

} // namespace atelier::index
