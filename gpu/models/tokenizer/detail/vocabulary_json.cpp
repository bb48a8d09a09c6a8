// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/tokenizer/detail/vocabulary_file.hpp>
#include <atelier/gpu/models/tokenizer/detail/vocabulary_json.hpp>

#include <utility>

namespace atelier::gpu::detail {

namespace {

core::result<void> check_direction(std::string_view file, const json& from,
                                   const char* section) {
  const auto* x = member(from, section);
  if (x == nullptr)
    return {};
  const auto key = fmt::format("{}.direction", section);
  if (!x->is_object())
    return bad_key(file, section, "not an object");
  const auto* direction = member(*x, "direction");
  if (direction != nullptr && *direction != json("Right"))
    return bad_key(
      file, key,
      fmt::format("{} is not supported, only \"Right\"", shown(*direction)));
  return {};
}

} // namespace

core::result<std::unordered_map<std::string, int32_t>> parse_token_ids(
  std::string_view file, std::string_view prefix, const json& from) {
  std::unordered_map<std::string, int32_t> out;
  out.reserve(from.size());
  std::unordered_map<int32_t, std::string_view> tokens;
  tokens.reserve(from.size());
  for (const auto& [token, value] : from.items()) {
    const auto key = [&, &name = token] {
      return fmt::format("{}{}", prefix, in_quotes(name));
    };
    if (!value.is_number_unsigned()
        || value.get_ref<const json::number_unsigned_t&>()
             > static_cast<uint64_t>(most_token_id))
      return parse_id(file, key(), value).why();
    const auto id = value.get<int32_t>();
    const auto [i, is_new] = tokens.emplace(id, token);
    if (!is_new)
      return bad_key(
        file, key(),
        fmt::format("the id {} is that of {} too", id, in_quotes(i->second)));
    out.emplace(token, id);
  }
  if (out.empty())
    return bad_key(file, prefix, "no tokens");
  return out;
}

core::result<void> check_section(std::string_view file, std::string_view model,
                                 const std::string& key, const json* found,
                                 const json& wanted,
                                 const std::set<std::string>& optional) {
  if (found == nullptr)
    return bad_key(file, key, "missing");
  const auto& from = *found;
  if (wanted.is_object()) {
    if (!from.is_object())
      return bad_key(file, key, "not an object");
    for (const auto& [name, x] : wanted.items()) {
      const auto i = from.find(name);
      if (i == from.end() && optional.contains(name))
        continue;
      if (auto ok = check_section(file, model, fmt::format("{}.{}", key, name),
                                  i != from.end() ? &*i : nullptr, x, optional);
          !ok)
        return ok;
    }
    for (const auto& [name, x] : from.items())
      if (!wanted.contains(name))
        return bad_key(file, key + "." + in_quotes(name), "not known");
    return {};
  }
  if (wanted.is_array()) {
    if (!from.is_array() || from.size() != wanted.size())
      return bad_key(file, key, fmt::format("not a list of {}", wanted.size()));
    for (size_t i = 0; i < wanted.size(); ++i)
      if (auto ok = check_section(file, model, fmt::format("{}[{}]", key, i),
                                  &from[i], wanted[i], optional);
          !ok)
        return ok;
    return {};
  }
  if (from != wanted)
    return bad_key(file, key,
                   fmt::format("{} is not supported, {}'s is {}", shown(from),
                               model, shown(wanted)));
  return {};
}

core::result<void> check_directions(std::string_view file,
                                    const json& document) {
  for (const char* section : {"truncation", "padding"})
    if (auto ok = check_direction(file, document, section); !ok)
      return ok;
  return {};
}

core::result<void> parse_added_list(std::string_view file, const json& document,
                                    std::vector<added_token>& to) {
  const auto* added = member(document, "added_tokens");
  if (added == nullptr)
    return {};
  if (!added->is_array())
    return bad_key(file, "added_tokens", "not an array");
  size_t place = 0;
  for (const auto& x : *added) {
    const auto key = fmt::format("added_tokens[{}]", place++);
    auto fields = parse_added_token(file, key, x);
    if (!fields)
      return fields.why();
    const auto* wanted_id = member(x, "id");
    if (wanted_id == nullptr)
      return bad_key(file, key + ".id", "missing");
    const auto id = parse_id(file, key + ".id", *wanted_id);
    if (!id)
      return id.why();
    auto& token = fields->token;
    token.id = *id;
    token.normalized = fields->normalized.value_or(!token.special);
    to.push_back(std::move(token));
  }
  return {};
}

} // namespace atelier::gpu::detail
