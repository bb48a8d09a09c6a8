// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/prompt_syntax.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/prompt_notes.hpp>
#include <atelier/gpu/models/prompt_reader.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace atelier::gpu {

core::result<prompt_reader> prompt_reader::load(const model_files& from) {
  prompt_reader out;
  out.known_ = from.words;
  out.captions_ = from.traits.captions;
  const std::pair<const std::optional<component>&,
                  const std::optional<tokenizer_files>&>
    parts[] = {{from.text_encoder, from.tokenizer},
               {from.text_encoder_2, from.tokenizer_2}};
  for (const auto& [network, files] : parts) {
    if (!network || !files)
      continue;
    auto words = load_words(*files, &*network);
    if (!words)
      return words.why();
    const auto config = read_clip_text_config(*network);
    if (!config)
      return config.why();
    const auto positions =
      static_cast<uint32_t>(config->max_position_embeddings);
    const auto length = std::min((*words)->max_length(), positions);
    out.encoders_.push_back({std::move(*words), length});
  }
  return out;
}

std::string prompt_reader::part_read(const prompt_text& asked) const {
  auto received = received_text(asked, known_, captions_);
  if (received.syntax == core::prompt_grammar::webui) {
    // All words are read, in as many chunks as they need.
    if (received.emphasis == core::emphasis_rule::off)
      return std::move(received.text);
    return core::read_prompt_syntax(received.text,
                                    core::marks_taken::all_but_weights)
      .plain;
  }
  if (encoders_.empty())
    return std::move(received.text);
  std::string out;
  for (const auto& x : encoders_) {
    auto part = x.words->part_kept(received.text, x.length);
    if (part.size() > out.size())
      out = std::move(part);
  }
  return out;
}

} // namespace atelier::gpu
