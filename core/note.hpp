// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::core {

/// The reason for a note on an image: the image was made, but not exactly as
/// its request may suggest.
enum class note_code : uint8_t {
  /// The prompt has words that the model does not know.
  unknown_word,
  /// The prompt wants an object in a colour that the model draws only behind
  /// objects.
  background_colour_only,
  /// The prompt wants a background in a colour that the model draws only on
  /// objects.
  object_colour_only,
  /// The prompt's known words describe no image that the model draws.
  not_drawable,
  /// The prompt was longer than the model reads.
  prompt_cut,
  /// The prompt has syntax of the web UI that has no effect here.
  prompt_syntax,
  /// The mask was scaled to the image's size.
  mask_scaled,
  /// The image was drawn at the model's own size and scaled.
  image_scaled,
  /// The image was drawn at a size that the model was not made for.
  size_not_native,
  /// The guidance is outside the range that the model was made for.
  guidance,
  /// A field that has no effect here was accepted.
  field_ignored,
  /// The image started from earlier work in the cache.
  from_cache,
  /// The model names a sampler that does not exist here; a similar one ran.
  sampler_replaced,
};

/// Information for a client about an image, in addition to its pixels.
struct note {
  note_code code = note_code::field_ignored;
  /// One sentence in UTF-8.
  std::string text;

  friend bool operator==(const note&, const note&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, note& x) {
    return f(x.code, x.text);
  }
};

/// Maximum size of a note's text in bytes, and maximum number of an image's
/// notes.
inline constexpr size_t most_note_bytes = 512;
inline constexpr size_t most_notes = 16;

/// Returns the stable name of a code that replies use.
std::string_view to_string(note_code x);

/// Returns the code with that name, if any.
std::optional<note_code> parse_note_code(std::string_view name);

} // namespace atelier::core
