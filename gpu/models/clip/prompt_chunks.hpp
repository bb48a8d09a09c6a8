// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/prompt_weights.hpp>
#include <atelier/core/result.hpp>
#include <atelier/gpu/models/tokenizer/prompt_text.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu {

/// The most chunks of one text: each makes a step's cross-attention longer.
inline constexpr uint32_t most_chunks = 8;

/// The tokens that a text encoder reads at once, with their weights. Start, end
/// and padding weigh 1.
struct prompt_chunk {
  std::vector<int32_t> ids;
  std::vector<float> weights;
};

/// A text as input of a text encoder.
struct chunked_prompt {
  /// At least one.
  std::vector<prompt_chunk> chunks;
  /// Tokens of the text that did not fit.
  uint32_t left_out = 0;
};

/// Splits a text into chunks. A plain text is one chunk, and what does not fit
/// is left out. In the web UI's syntax all words are kept: where a chunk is
/// full and one of its last 20 tokens is a comma, the words behind the comma
/// move to the next chunk.
/// @param length tokens of a chunk, with start and end
/// @pre length >= 2
/// Errors: ec::invalid_argument: those of read_word_weights; more than
///         most_chunks chunks; a chunk without a place for words.
/// Threads: any.
/// Source: modules/sd_hijack_clip.py of the web UI 1.9.
core::result<chunked_prompt> chunk_prompt(const tokenizer& words,
                                          const prompt_text& asked,
                                          uint32_t length);

} // namespace atelier::gpu
