// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::core {

/// Says why a note stands with an image: the image was made, but not quite as
/// its request may suggest.
enum class note_code : uint8_t {
  /// Words that the model does not know.
  unknown_word,
  /// A colour that the model draws behind objects was asked for on one.
  background_colour_only,
  /// A colour that the model draws on objects was asked for behind them.
  object_colour_only,
  /// Known words that make no image that the model draws.
  not_drawable,
  /// The prompt was longer than the model reads.
  prompt_cut,
  /// Syntax of the web UI that has no effect here.
  prompt_syntax,
  /// The mask was scaled to the image's size.
  mask_scaled,
  /// The image was drawn at the model's own size and scaled.
  image_scaled,
  /// The image was drawn at a size that the model was not made for.
  size_not_native,
  /// The guidance is beyond what the model was made for.
  guidance,
  /// A field that has no effect here was accepted.
  field_ignored,
};

/// What a client should know of an image beside its pixels.
struct note {
  note_code code = note_code::field_ignored;
  /// One sentence, in UTF-8.
  std::string text;

  friend bool operator==(const note&, const note&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, note& x) {
    return f(x.code, x.text);
  }
};

/// Most bytes of a note's text, and most notes of an image.
inline constexpr size_t most_note_bytes = 512;
inline constexpr size_t most_notes = 16;

/// Returns the stable name of a code, as it stands in replies.
std::string_view to_string(note_code x);

/// Returns the code of that name, if there is one.
std::optional<note_code> parse_note_code(std::string_view name);

} // namespace atelier::core
