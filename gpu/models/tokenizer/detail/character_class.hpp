// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Unicode as the tokenizers of transformers know it. That is three editions
/// at once: 9.0 for canonical composition (Rust's crate
/// unicode-normalization-alignments), 16.0 for the classes of characters
/// (Oniguruma) and 17.0 for lower case (Rust's standard library). Which edition
/// ICU has makes no difference here, from 15.0 on.
namespace atelier::gpu::detail {

/// What the pattern that splits a prompt into words tells apart.
enum class character_class : uint8_t {
  letter,
  number,
  space,
  other,
};

/// Returns the class of a code point.
character_class class_of(char32_t c);

/// Returns the lower-case form of one code point, where that is one.
/// U+0130 alone has two: U+0069 is returned, U+0307 follows it.
char32_t lower_case(char32_t c);

/// Whether canonical decomposition and composition know the code point; what
/// they do not know is a starter that composes with nothing.
bool known_to_composition(char32_t c);

} // namespace atelier::gpu::detail
