// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Unicode as used by the tokenizers of transformers, which combine three
/// versions: 9.0 for canonical composition (Rust's crate
/// unicode-normalization-alignments), 16.0 for the classes of characters
/// (Oniguruma) and 17.0 for lower case (Rust's standard library). From 15.0 on,
/// ICU's version makes no difference here.
namespace atelier::gpu::detail {

/// The classes used by the pattern that splits a prompt into words.
enum class character_class : uint8_t {
  letter,
  number,
  space,
  other,
};

/// Returns the class of a code point.
character_class class_of(char32_t c);

/// Returns the lower-case form of one code point, if it is a single code point.
/// Only U+0130 has a form of two: U+0069 is returned, and U+0307 follows it.
char32_t lower_case(char32_t c);

/// Returns whether canonical decomposition and composition know the code point.
/// An unknown code point is a starter that composes with nothing.
bool known_to_composition(char32_t c);

} // namespace atelier::gpu::detail
