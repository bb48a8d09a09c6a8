// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/prompt_syntax.hpp>
#include <atelier/gpu/models/clip/prompt_chunks.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace atelier::gpu {

namespace {

/// The web UI's default of comma_padding_backtrack.
constexpr size_t comma_reach = 20;

/// Collects tokens in chunks of one size.
class chunk_filler {
public:
  chunk_filler(const tokenizer& words, uint32_t length)
    : words_(words), room_(length - 2), comma_(words.ids_of(",").front()) {}

  void add(int32_t id, double weight) {
    if (id == comma_)
      last_comma_ = open_.ids.size();
    else if (open_.ids.size() == room_ && last_comma_
             && room_ - *last_comma_ <= comma_reach)
      move_behind_comma();
    if (open_.ids.size() == room_)
      close();
    open_.ids.push_back(id);
    open_.weights.push_back(static_cast<float>(weight));
  }

  /// Ends the open chunk, which may be empty.
  void close() {
    prompt_chunk made;
    made.ids.reserve(room_ + 2);
    made.ids.push_back(words_.start_id());
    made.ids.insert(made.ids.end(), open_.ids.begin(), open_.ids.end());
    made.ids.push_back(words_.end_id());
    made.ids.resize(room_ + 2, words_.padding_id());
    made.weights.reserve(room_ + 2);
    made.weights.push_back(1);
    made.weights.insert(made.weights.end(), open_.weights.begin(),
                        open_.weights.end());
    made.weights.resize(room_ + 2, 1);
    done_.push_back(std::move(made));
    open_ = {};
    last_comma_.reset();
  }

  size_t count() const {
    return done_.size();
  }

  std::vector<prompt_chunk> finish() {
    if (!open_.ids.empty() || done_.empty())
      close();
    return std::move(done_);
  }

private:
  void move_behind_comma() {
    const auto from = static_cast<std::ptrdiff_t>(*last_comma_ + 1);
    prompt_chunk moved{{open_.ids.begin() + from, open_.ids.end()},
                       {open_.weights.begin() + from, open_.weights.end()}};
    open_.ids.resize(static_cast<size_t>(from));
    open_.weights.resize(static_cast<size_t>(from));
    close();
    open_ = std::move(moved);
  }

  const tokenizer& words_;
  size_t room_;
  int32_t comma_;
  /// The tokens of the chunk that is being filled, without start and end.
  prompt_chunk open_;
  std::optional<size_t> last_comma_;
  std::vector<prompt_chunk> done_;
};

core::result<std::vector<core::weighted_text>> parts_of(
  const prompt_text& asked) {
  if (asked.emphasis == core::emphasis_rule::off)
    return std::vector<core::weighted_text>{{asked.text}};
  // Marks of the web UI without effect here are taken out first.
  return core::read_word_weights(
    core::read_prompt_syntax(asked.text, core::marks_taken::all_but_weights)
      .plain);
}

} // namespace

core::result<chunked_prompt> chunk_prompt(const tokenizer& words,
                                          const prompt_text& asked,
                                          uint32_t length) {
  ATELIER_EXPECTS(length >= 2, "start and end need a place");
  if (asked.syntax == core::prompt_grammar::plain) {
    auto one = words.encode(asked.text, length);
    std::vector<float> weights(one.ids.size(), 1);
    return chunked_prompt{{{std::move(one.ids), std::move(weights)}},
                          one.left_out};
  }
  const auto parts = parts_of(asked);
  if (!parts)
    return parts.why();
  if (length == 2)
    return core::fail(core::ec::invalid_argument,
                      "the model's text encoder has no place for words");
  const bool weighs = asked.emphasis != core::emphasis_rule::ignore;
  chunk_filler to{words, length};
  for (const auto& part : *parts) {
    if (part.begins_chunk)
      to.close();
    for (const auto id : words.ids_of(part.text)) {
      to.add(id, weighs ? part.weight : 1);
      if (to.count() >= most_chunks)
        break;
    }
    if (to.count() > most_chunks)
      break;
  }
  chunked_prompt out{to.finish(), 0};
  if (out.chunks.size() > most_chunks)
    return core::fail(core::ec::invalid_argument,
                      "it needs more than {} chunks of {} tokens", most_chunks,
                      length - 2);
  return out;
}

} // namespace atelier::gpu
