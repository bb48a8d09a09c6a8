// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

namespace {

bool is_space(char32_t c) {
  return class_of(c) == character_class::space;
}

auto find_byte(auto& next, uint8_t byte) {
  return std::lower_bound(next.begin(), next.end(), byte,
                          [](const auto& x, uint8_t y) { return x.first < y; });
}

} // namespace

bool token_finder::add(std::string_view pattern, const added_token& token) {
  if (pattern.empty())
    return true;
  size_t at = 0;
  for (const char c : pattern) {
    const auto byte = static_cast<uint8_t>(c);
    auto& next = nodes_[at].next;
    const auto i = find_byte(next, byte);
    if (i != next.end() && i->first == byte) {
      at = i->second;
    } else {
      next.insert(i, {byte, static_cast<uint32_t>(nodes_.size())});
      at = nodes_.size();
      nodes_.emplace_back();
    }
  }
  if (nodes_[at].token)
    return false;
  nodes_[at].token = static_cast<uint32_t>(tokens_.size());
  tokens_.push_back(token);
  return true;
}

std::vector<token_finder::piece> token_finder::split(
  std::string_view text) const {
  std::vector<piece> out;
  size_t done = 0;
  const auto add_text = [&](size_t end) {
    if (done < end)
      out.push_back({text.substr(done, end - done), std::nullopt});
  };
  for (size_t i = 0; i < text.size();) {
    const added_token* token = nullptr;
    size_t stop = i;
    size_t at = 0;
    for (size_t j = i; j < text.size(); ++j) {
      const auto byte = static_cast<uint8_t>(text[j]);
      const auto& next = nodes_[at].next;
      const auto k = find_byte(next, byte);
      if (k == next.end() || k->first != byte)
        break;
      at = k->second;
      if (nodes_[at].token) {
        token = &tokens_[*nodes_[at].token];
        stop = j + 1;
      }
    }
    if (token == nullptr) {
      ++i;
      continue;
    }
    size_t start = i;
    i = stop;
    if (token->lstrip)
      for (size_t at_code = start;
           start > done && is_space(previous_code(text, at_code));)
        start = at_code;
    if (token->rstrip) {
      // White space absorbed by the previous token need not be scanned again.
      stop = std::max(stop, done);
      for (size_t at_code = stop;
           stop < text.size() && is_space(next_code(text, at_code));)
        stop = at_code;
    }
    add_text(start);
    out.push_back({{}, token->id});
    done = stop;
  }
  add_text(text.size());
  return out;
}

} // namespace atelier::gpu::detail
