// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/tokenizer/detail/byte_pairs.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

using json = nlohmann::ordered_json;
using merge_ranks = std::map<std::pair<std::string, std::string>, size_t>;

constexpr std::string_view start_text = "<|startoftext|>";
constexpr std::string_view end_text = "<|endoftext|>";

// CLIP's order of the bytes: printable ones first.
std::vector<std::string> letters_in_order() {
  const auto letters = detail::byte_letters();
  std::vector<std::string> out;
  for (const auto printable : {true, false})
    for (size_t i = 0; i < letters.size(); ++i) {
      const auto itself = (i >= 33 && i <= 126) || (i >= 161 && i != 173);
      if (itself == printable)
        out.push_back(letters[i]);
    }
  return out;
}

// Joins the pieces of a word by the existing merges.
void join(std::vector<std::string>& pieces, const merge_ranks& ranks) {
  for (;;) {
    auto best = ranks.end();
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto found = ranks.find({pieces[i], pieces[i + 1]});
      if (found != ranks.end()
          && (best == ranks.end() || found->second < best->second))
        best = found;
    }
    if (best == ranks.end())
      return;
    std::vector<std::string> joined;
    for (auto& piece : pieces)
      if (!joined.empty() && joined.back() == best->first.first
          && piece == best->first.second)
        joined.back() += piece;
      else
        joined.push_back(std::move(piece));
    pieces = std::move(joined);
  }
}

std::vector<std::string> letters_of(std::string_view word) {
  std::vector<std::string> out;
  for (const auto c : word)
    out.emplace_back(1, c);
  out.back() += detail::end_of_word;
  return out;
}

} // namespace

bpe_vocabulary make_vocabulary(std::span<const std::string_view> words) {
  bpe_vocabulary out;
  const auto letters = letters_in_order();
  out.tokens = letters;
  for (const auto& x : letters)
    out.tokens.push_back(x + std::string{detail::end_of_word});
  out.tokens.emplace_back(start_text);
  out.tokens.emplace_back(end_text);
  std::unordered_map<std::string, int32_t> ids;
  for (size_t i = 0; i < out.tokens.size(); ++i)
    ids.emplace(out.tokens[i], static_cast<int32_t>(i));
  merge_ranks ranks;
  for (const auto word : words) {
    auto pieces = letters_of(word);
    for (join(pieces, ranks); pieces.size() > 1; join(pieces, ranks)) {
      ranks.emplace(std::pair{pieces[0], pieces[1]}, ranks.size());
      out.merges.emplace_back(pieces[0], pieces[1]);
      const auto made = pieces[0] + pieces[1];
      if (ids.emplace(made, static_cast<int32_t>(out.tokens.size())).second)
        out.tokens.push_back(made);
    }
    out.words.emplace(word, ids.at(pieces.front()));
  }
  for (size_t i = 0; i < letters.size(); ++i)
    if (letters[i].size() == 1)
      out.words.emplace(letters[i], static_cast<int32_t>(256 + i));
  return out;
}

const bpe_vocabulary& caption_vocabulary() {
  static const auto& all = *new auto(make_vocabulary(caption_words()));
  return all;
}

tokens encode_caption(std::string_view caption, uint32_t length) {
  const auto& all = caption_vocabulary();
  tokens out;
  out.ids.reserve(length);
  out.ids.push_back(bpe_vocabulary::start_id);
  const auto add = [&](std::string_view word) {
    if (word.empty())
      return;
    const auto found = all.words.find(std::string{word});
    if (found != all.words.end() && out.ids.size() + 1 < length)
      out.ids.push_back(found->second);
    else
      ++out.left_out;
  };
  while (!caption.empty()) {
    const auto at = std::min(caption.find_first_of(" ,"), caption.size());
    add(caption.substr(0, at));
    if (at < caption.size() && caption[at] == ',')
      add(",");
    caption.remove_prefix(std::min(at + 1, caption.size()));
  }
  out.ids.resize(length, bpe_vocabulary::end_id);
  return out;
}

std::map<std::string, std::string> tokenizer_texts(const bpe_vocabulary& of,
                                                   uint32_t max_length) {
  auto ids = json::object();
  for (size_t i = 0; i < of.tokens.size(); ++i)
    ids[of.tokens[i]] = i;
  std::string merges = "#version: 0.2\n";
  for (const auto& [left, right] : of.merges)
    merges += fmt::format("{} {}\n", left, right);
  const json special = {{"bos_token", start_text},
                        {"eos_token", end_text},
                        {"pad_token", end_text},
                        {"unk_token", end_text}};
  json config = {{"tokenizer_class", "CLIPTokenizer"},
                 {"model_max_length", max_length},
                 {"add_prefix_space", false},
                 {"do_lower_case", true}};
  config.update(special);
  return {{"vocab.json", ids.dump(0) + "\n"},
          {"merges.txt", merges},
          {"tokenizer_config.json", config.dump(2) + "\n"},
          {"special_tokens_map.json", special.dump(2) + "\n"}};
}

} // namespace atelier::gpu
