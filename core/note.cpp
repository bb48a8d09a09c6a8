// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/note.hpp>

#include <array>

namespace atelier::core {

namespace {

// The names are in the order of the enumeration.
constexpr std::array<std::string_view, 13> names{
  "unknown_word",       "background_colour_only",
  "object_colour_only", "not_drawable",
  "prompt_cut",         "prompt_syntax",
  "mask_scaled",        "image_scaled",
  "size_not_native",    "guidance",
  "field_ignored",      "from_cache",
  "sampler_replaced"};

} // namespace

std::string_view to_string(note_code x) {
  return names[static_cast<size_t>(x)];
}

std::optional<note_code> parse_note_code(std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name)
      return static_cast<note_code>(i);
  return std::nullopt;
}

} // namespace atelier::core
