// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/gpu/models/files/known_words.hpp>
#include <atelier/gpu/models/files/model_traits.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Which of a request's texts is meant.
enum class prompt_side : uint8_t { positive, negative };

/// Return what a model does not do of a text: words that it does not know, and
/// of the positive one of captions what is no scene. Marks of the web UI's
/// syntax are passed over: core::read_prompt_syntax finds them.
/// Threads: any.
std::vector<core::note> notes_on_text(std::string_view text, prompt_side side,
                                      const known_words& words,
                                      caption_kind captions);

/// Return what a model is given of a text. One that learned captions of scenes
/// gets no phrases between commas of which it knows no word, unless it knows
/// none at all, and of a negative text only those that it knows to the last
/// word. What is left out has its notes.
std::string text_to_encode(std::string_view text, prompt_side side,
                           const known_words& words, caption_kind captions);

/// Return the note on a text of which the last `left_out` tokens did not fit.
core::note note_on_cut(prompt_side side, uint32_t left_out);

/// Return what is said of how a request runs on a model that was made for
/// images of `native`.
/// Source: the shipped family's figures; twice or half a model's pixels are
///         what usual models still draw well.
std::vector<core::note> notes_on_run(const core::recipe& how,
                                     core::extent native,
                                     const model_traits& traits);

} // namespace atelier::gpu
