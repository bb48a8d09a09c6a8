// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/note.hpp>
#include <atelier/core/prompt_syntax.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/gpu/models/files/known_words.hpp>
#include <atelier/gpu/models/files/model_traits.hpp>
#include <atelier/gpu/models/tokenizer/prompt_text.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Selects one of a request's two texts.
enum class prompt_side : uint8_t { positive, negative };

/// Returns notes on the parts of a text that a model ignores: unknown words,
/// and for the positive text of caption models also phrases that describe no
/// scene. Skips the syntax of the web UI, which core::read_prompt_syntax reads.
/// Threads: any.
std::vector<core::note> notes_on_text(std::string_view text, prompt_side side,
                                      const known_words& words,
                                      caption_kind captions);

/// Returns notes on the weights of words and the BREAKs of a text, for a model
/// that does not use them. The other marks are noted when a request arrives.
std::vector<core::note> notes_on_weights(const core::unmarked_prompt& read,
                                         prompt_side side);

/// Returns the part of a text that a model receives. A model trained on
/// captions of scenes gets only those comma-separated phrases that have a known
/// word, or the whole text if none has. From a negative text it gets only
/// phrases whose words are all known. Parts left out have notes.
std::string text_to_encode(std::string_view text, prompt_side side,
                           const known_words& words, caption_kind captions);

/// Returns a text as a model's encoder receives it: text_to_encode, and without
/// marks of the web UI's syntax if the model does not use weights of words,
/// which is so if it knows few words.
prompt_text received_text(const prompt_text& asked, const known_words& words,
                          caption_kind captions);

/// Returns the note on a text whose last `left_out` tokens did not fit.
core::note note_on_cut(prompt_side side, uint32_t left_out);

/// Returns notes on how a request runs on a model made for images of `native`.
/// Source: the measurements of the shipped family; common models still draw
///         well at half to twice their number of pixels.
std::vector<core::note> notes_on_run(const core::recipe& how,
                                     core::extent native,
                                     const model_traits& traits);

/// Returns the note on a run by the sampler that replaces a model's own;
/// no note if the model's own ran, or one that was asked for instead.
std::optional<core::note> note_on_sampler(const core::recipe& how,
                                          const scheduler_config& schedule);

} // namespace atelier::gpu
