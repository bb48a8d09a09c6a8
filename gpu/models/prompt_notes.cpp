// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/native_fit.hpp>
#include <atelier/gpu/captions/caption_notes.hpp>
#include <atelier/gpu/models/prompt_notes.hpp>

#include <fmt/format.h>

#include <utility>

namespace atelier::gpu {

namespace {

using core::note;
using core::note_code;

std::string_view name_of(prompt_side x) {
  return x == prompt_side::positive ? "prompt" : "negative prompt";
}

// Truncates a text between UTF-8 characters, since known words may be long.
std::string shorten(std::string text) {
  if (text.size() <= core::most_note_bytes)
    return text;
  auto end = core::most_note_bytes - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  text.resize(end);
  return text + "...";
}

bool is_far_from(core::extent px, core::extent native) {
  return px.pixels() > 2 * native.pixels() || 2 * px.pixels() < native.pixels();
}

} // namespace

std::vector<note> notes_on_text(std::string_view text, prompt_side side,
                                const known_words& words,
                                caption_kind captions) {
  const auto plain = core::read_prompt_syntax(text).plain;
  auto found = captions == caption_kind::scenes && side == prompt_side::positive
               ? caption_notes(plain)
               : words.notes_on(plain);
  // Clients do not write negative prompts in the words that a model knows.
  if (side == prompt_side::negative && !found.empty())
    found = {{note_code::unknown_word,
              fmt::format("the model does not know {} of its words, which "
                          "have no effect",
                          words.unknown_in(plain).size())}};
  for (auto& x : found)
    x.text = shorten(fmt::format("{}: {}", name_of(side), x.text));
  return found;
}

std::vector<note> notes_on_weights(const core::unmarked_prompt& read,
                                   prompt_side side) {
  std::vector<note> out;
  for (const auto& x : read.marks)
    if (core::is_weight(x.mark))
      out.push_back({note_code::prompt_syntax,
                     shorten(fmt::format("{}: {}", name_of(side),
                                         core::told_as_left_out(x)))});
  return out;
}

std::string text_to_encode(std::string_view text, prompt_side side,
                           const known_words& words, caption_kind captions) {
  if (captions != caption_kind::scenes)
    return std::string{text};
  if (side == prompt_side::negative)
    return words.known_phrases_of(text, known_words::with::all_known);
  auto said = words.known_phrases_of(text, known_words::with::any_known);
  return said.empty() ? std::string{text} : said;
}

prompt_text received_text(const prompt_text& asked, const known_words& words,
                          caption_kind captions) {
  auto out = asked;
  const bool lists_words = !words.empty() || captions != caption_kind::free;
  if (lists_words) {
    out.text = core::words_of(asked.text, asked.syntax);
    out.syntax = core::prompt_grammar::plain;
  }
  const auto side =
    asked.negative ? prompt_side::negative : prompt_side::positive;
  out.text = text_to_encode(out.text, side, words, captions);
  return out;
}

note note_on_cut(prompt_side side, uint32_t left_out) {
  return {note_code::prompt_cut,
          fmt::format("{}: its last {} tokens did not fit the model and were "
                      "left out",
                      name_of(side), left_out)};
}

namespace {

// Returns what an image that covers another size loses at its edges, as words
// to follow that size. A run from an image loses nothing of that image: its
// edges were repeated around it to reach the native shape.
std::string cut_off(core::extent native, core::extent asked, bool from_image) {
  const auto whole = image::covering_of(native, asked).scaled;
  const auto lost = [&](uint32_t of, uint32_t kept, std::string_view side) {
    const auto percent = (100 * uint64_t{of - kept} + of / 2) / of;
    return percent == 0
           ? std::string{}
           : fmt::format(", with {} % of its {} cut off{}", percent, side,
                         from_image ? ", which had been added around the image "
                                      "that it began with"
                                    : "");
  };
  return lost(whole.width, asked.width, "width")
       + lost(whole.height, asked.height, "height");
}

} // namespace

std::vector<note> notes_on_run(const core::recipe& how, core::extent native,
                               const model_traits& traits) {
  std::vector<note> out;
  const auto& px = how.px;
  if (const auto& to = how.scaled_to; to != core::extent{})
    out.push_back(
      {note_code::image_scaled,
       fmt::format(
         "drawn at {}x{}, the model's own size, and "
         "scaled to {}x{}{}; native_only=off draws at the requested size",
         px.width, px.height, to.width, to.height,
         cut_off(px, to, how.from_image))});
  const bool off = traits.native_only ? px != native : is_far_from(px, native);
  if (off)
    out.push_back(
      {note_code::size_not_native,
       fmt::format("drawn at {}x{}; the model was made for {}x{}", px.width,
                   px.height, native.width, native.height)});
  if (traits.most_guidance && how.guidance > *traits.most_guidance)
    out.push_back({note_code::guidance,
                   fmt::format("guidance {} is more than the {} up to which "
                               "the model draws well",
                               how.guidance, *traits.most_guidance)});
  return out;
}

std::optional<note> note_on_sampler(const core::recipe& how,
                                    const scheduler_config& schedule) {
  if (schedule.stands_in_for.empty() || how.sampler != schedule.sampler)
    return std::nullopt;
  return note{note_code::sampler_replaced,
              fmt::format("drawn with {}: the model's own {} does not exist "
                          "here",
                          to_string(how.sampler), schedule.stands_in_for)};
}

} // namespace atelier::gpu
