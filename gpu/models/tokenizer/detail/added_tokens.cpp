// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/foreign_json.hpp>
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

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

core::result<token_finders> make_finders(
  const std::unordered_map<std::string, int32_t>& ids,
  const std::vector<added_token>& added,
  const std::function<std::string(std::string_view)>& normal_form,
  std::string_view file) {
  token_finders out;
  int32_t largest = 0;
  for (const auto& [token, id] : ids)
    largest = std::max(largest, id);
  std::map<int32_t, added_token> by_id;
  for (const auto& x : added)
    by_id[x.id] = x;
  for (const auto& [id, x] : by_id) {
    largest = std::max(largest, id);
    const bool is_new = x.normalized
                        ? out.in_normal_form.add(normal_form(x.content), x)
                        : out.in_text.add(x.content, x);
    if (!is_new)
      return core::fail(core::ec::bad_payload,
                        "{}: the normal form of the added token {} is that of "
                        "another one",
                        file, in_quotes(x.content));
  }
  out.vocabulary_size = static_cast<uint32_t>(largest) + 1;
  return out;
}

core::result<int32_t> parse_id(std::string_view file, std::string_view key,
                               const json& value) {
  if (!value.is_number_unsigned()
      || value.get<uint64_t>() > static_cast<uint64_t>(most_token_id))
    return bad_key(file, key,
                   fmt::format("the id {} is not a whole number of 0..{}",
                               shown(value), most_token_id));
  return value.get<int32_t>();
}

core::result<added_token_fields> parse_added_token(std::string_view file,
                                                   std::string_view key,
                                                   const json& value) {
  if (!value.is_object())
    return bad_key(file, key, "not an object");
  const auto* content = member(value, "content");
  if (content == nullptr || !content->is_string())
    return bad_key(file, key, "content is missing or not a string");
  added_token_fields out;
  out.token.content = content->get<std::string>();
  bool normalized = false;
  bool single_word = false;
  const std::array<std::pair<std::string_view, bool*>, 5> flags{{
    {"single_word", &single_word},
    {"lstrip", &out.token.lstrip},
    {"rstrip", &out.token.rstrip},
    {"special", &out.token.special},
    {"normalized", &normalized},
  }};
  for (const auto& [name, to] : flags) {
    const auto i = value.find(name);
    if (i == value.end())
      continue;
    if (!i->is_boolean())
      return bad_key(file, fmt::format("{}.{}", key, name),
                     fmt::format("{} is not true or false", shown(*i)));
    *to = i->get<bool>();
    if (to == &normalized)
      out.normalized = normalized;
  }
  if (single_word)
    return bad_key(file, fmt::format("{}.single_word", key),
                   "true is not supported, only false");
  return out;
}

} // namespace atelier::gpu::detail
