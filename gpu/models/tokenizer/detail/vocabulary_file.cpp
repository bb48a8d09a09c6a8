// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/files/detail/foreign_json.hpp>
#include <atelier/gpu/models/tokenizer/detail/vocabulary_file.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <system_error>

namespace atelier::gpu::detail {

namespace {

core::result<std::unordered_map<std::string, int32_t>> parse_ids(
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

// Appends the merge of two tokens. `key` makes the text that identifies it.
template <class Key>
std::optional<core::error> add_merge(vocabulary& to, std::string_view file,
                                     const Key& key, const std::string& left,
                                     const std::string& right) {
  const auto a = to.ids.find(left);
  const auto b = to.ids.find(right);
  const auto joined = to.ids.find(left + right);
  if (a != to.ids.end() && b != to.ids.end() && joined != to.ids.end()) {
    to.merges.push_back({a->second, b->second, joined->second});
    return std::nullopt;
  }
  const auto& absent = a == to.ids.end() ? left
                     : b == to.ids.end() ? right
                                         : left + right;
  return bad_key(file, key(),
                 fmt::format("{} is not in the vocabulary", in_quotes(absent)));
}

// Splits a merge at its only space.
std::optional<std::pair<std::string, std::string>> parse_merge(
  std::string_view text) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos || space != text.rfind(' '))
    return std::nullopt;
  return std::pair{std::string{text.substr(0, space)},
                   std::string{text.substr(space + 1)}};
}

constexpr std::string_view not_a_merge = "not two tokens with a space between";

core::result<void> parse_merge_list(std::string_view file, const json& list,
                                    vocabulary& to) {
  to.merges.reserve(list.size());
  size_t place = 0;
  for (const auto& x : list) {
    const auto key = [&] { return fmt::format("model.merges[{}]", place); };
    std::optional<std::pair<std::string, std::string>> pair;
    if (x.is_string())
      pair = parse_merge(x.get_ref<const std::string&>());
    else if (x.is_array() && x.size() == 2 && x[0].is_string()
             && x[1].is_string())
      pair.emplace(x[0].get<std::string>(), x[1].get<std::string>());
    if (!pair)
      return bad_key(file, key(), not_a_merge);
    if (auto why = add_merge(to, file, key, pair->first, pair->second))
      return *why;
    ++place;
  }
  return {};
}

// Checks that `found`, which may be nullptr, equals CLIP's section. A key of
// `optional` may be absent.
core::result<void> check_section(std::string_view file, const std::string& key,
                                 const json* found, const json& wanted,
                                 const std::set<std::string>& optional = {}) {
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
      if (auto ok = check_section(file, fmt::format("{}.{}", key, name),
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
      if (auto ok = check_section(file, fmt::format("{}[{}]", key, i), &from[i],
                                  wanted[i], optional);
          !ok)
        return ok;
    return {};
  }
  if (from != wanted)
    return bad_key(file, key,
                   fmt::format("{} is not supported, CLIP's is {}", shown(from),
                               shown(wanted)));
  return {};
}

json clip_normalizer() {
  return {
    {"type", "Sequence"},
    {"normalizers",
     {{{"type", "NFC"}},
      {{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}},
      {{"type", "Lowercase"}}}}};
}

json clip_pre_tokenizer(std::string_view pattern) {
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"},
             {"pattern", {{"Regex", pattern}}},
             {"behavior", "Removed"},
             {"invert", true}},
            {{"type", "ByteLevel"},
             {"add_prefix_space", false},
             {"trim_offsets", true},
             {"use_regex", true}}}}};
}

core::result<void> check_pre_tokenizer(std::string_view file,
                                       const json* from) {
  // transformers 4 omits the special tokens from the pattern; 5 restores them
  // when it reads such a file.
  constexpr std::string_view words =
    "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
  constexpr std::string_view special = "<\\|startoftext\\|>|<\\|endoftext\\|>|";
  // The first has no effect; the second was added later.
  const std::set<std::string> optional{"trim_offsets", "use_regex"};
  if (check_section(file, "pre_tokenizer", from, clip_pre_tokenizer(words),
                    optional))
    return {};
  const auto all = std::string{special} + std::string{words};
  return check_section(file, "pre_tokenizer", from, clip_pre_tokenizer(all),
                       optional);
}

core::result<void> check_model(std::string_view file, const json& model) {
  const auto is_off = [](const json& x) {
    return x.is_null() || x == json(false) || x == json("") || x == json(0);
  };
  for (const auto& [name, x] : model.items()) {
    if (name == "vocab" || name == "merges" || name == "unk_token")
      continue;
    const auto key = fmt::format("model.{}", name);
    if (name == "type" || name == "end_of_word_suffix") {
      const auto wanted = name == "type" ? "BPE" : end_of_word;
      if (x != json(wanted))
        return bad_key(file, key,
                       fmt::format("{} is not supported, CLIP's is {}",
                                   shown(x), in_quotes(wanted)));
    } else if (name == "dropout" || name == "continuing_subword_prefix"
               || name == "fuse_unk" || name == "byte_fallback"
               || name == "ignore_merges") {
      if (!is_off(x))
        return bad_key(file, key, fmt::format("{} is not supported", shown(x)));
    } else {
      return bad_key(file, "model." + in_quotes(name), "not known");
    }
  }
  if (!model.contains("end_of_word_suffix"))
    return bad_key(file, "model.end_of_word_suffix", "missing");
  return {};
}

// Checks that tokens are cut, or padded, on the right, as in CLIP.
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

/// Checks that the vocabulary has merges. Without them, a text stays single
/// characters, and longer tokens never occur: the list was lost, most often by
/// an incomplete download.
core::result<void> check_merges(std::string_view file, std::string_view key,
                                const vocabulary& x) {
  constexpr std::string_view word_end = "</w>";
  if (!x.merges.empty())
    return {};
  // Always the same one, so that the message does not vary.
  std::string_view longer;
  for (const auto& [token, id] : x.ids) {
    std::string_view text = token;
    if (text.starts_with('<') && text.ends_with('>'))
      continue;
    if (text.ends_with(word_end))
      text.remove_suffix(word_end.size());
    const auto characters = std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
    if (characters > 1 && (longer.empty() || token < longer))
      longer = token;
  }
  if (longer.empty())
    return {};
  return bad_key(file, key,
                 fmt::format("no merges, though the vocabulary has tokens of "
                             "several characters, such as {}",
                             in_quotes(longer)));
}

} // namespace

core::result<vocabulary> read_vocabulary(const std::filesystem::path& vocab,
                                         const std::filesystem::path& merges) {
  const auto name = vocab.string();
  auto text = read_text(vocab);
  if (!text)
    return text.why();
  const auto parsed = parse_document(name, *text);
  if (!parsed)
    return parsed.why();
  auto ids = parse_ids(name, {}, *parsed);
  if (!ids)
    return ids.why();
  vocabulary out;
  out.ids = std::move(*ids);

  const auto merges_name = merges.string();
  text = read_text(merges);
  if (!text)
    return text.why();
  if (const auto fault = core::find_utf8_fault(*text))
    return bad_key(merges_name, {},
                   fmt::format("byte {} is not UTF-8", *fault));
  std::string_view left = *text;
  for (size_t number = 1; !left.empty(); ++number) {
    const auto end = left.find('\n');
    auto line = left.substr(0, end);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (line.starts_with("#version"))
      continue;
    const auto key = [&] { return fmt::format("line {}", number); };
    const auto pair = parse_merge(line);
    if (!pair)
      return bad_key(merges_name, key(), not_a_merge);
    if (auto why = add_merge(out, merges_name, key, pair->first, pair->second))
      return *why;
  }
  if (auto good = check_merges(merges_name, {}, out); !good)
    return good.why();
  return out;
}

core::result<vocabulary> read_tokenizer_json(
  const std::filesystem::path& file) {
  const auto name = file.string();
  const auto text = read_text(file);
  if (!text)
    return text.why();
  const auto parsed = parse_document(name, *text);
  if (!parsed)
    return parsed.why();
  if (auto ok = check_section(name, "normalizer", member(*parsed, "normalizer"),
                              clip_normalizer());
      !ok)
    return ok.why();
  if (auto ok = check_pre_tokenizer(name, member(*parsed, "pre_tokenizer"));
      !ok)
    return ok.why();
  for (const char* key : {"truncation", "padding"})
    if (auto ok = check_direction(name, *parsed, key); !ok)
      return ok.why();
  const auto* model = member(*parsed, "model");
  if (model == nullptr || !model->is_object())
    return bad_key(name, "model", "missing or not an object");
  if (auto ok = check_model(name, *model); !ok)
    return ok.why();
  const auto* vocab = member(*model, "vocab");
  if (vocab == nullptr || !vocab->is_object())
    return bad_key(name, "model.vocab", "missing or not an object");
  const auto* merges = member(*model, "merges");
  if (merges == nullptr || !merges->is_array())
    return bad_key(name, "model.merges", "missing or not an array");
  vocabulary out;
  auto ids = parse_ids(name, "model.vocab.", *vocab);
  if (!ids)
    return ids.why();
  out.ids = std::move(*ids);
  if (auto ok = parse_merge_list(name, *merges, out); !ok)
    return ok.why();
  if (auto good = check_merges(name, "model.merges", out); !good)
    return good.why();

  const auto* added = member(*parsed, "added_tokens");
  if (added == nullptr)
    return out;
  if (!added->is_array())
    return bad_key(name, "added_tokens", "not an array");
  size_t place = 0;
  for (const auto& x : *added) {
    const auto key = fmt::format("added_tokens[{}]", place++);
    auto fields = parse_added_token(name, key, x);
    if (!fields)
      return fields.why();
    const auto* wanted_id = member(x, "id");
    if (wanted_id == nullptr)
      return bad_key(name, key + ".id", "missing");
    const auto id = parse_id(name, key + ".id", *wanted_id);
    if (!id)
      return id.why();
    auto& token = fields->token;
    token.id = *id;
    token.normalized = fields->normalized.value_or(!token.special);
    out.added.push_back(std::move(token));
  }
  return out;
}

core::result<std::vector<added_token>> read_added_tokens(
  const std::filesystem::path& file) {
  std::vector<added_token> out;
  std::error_code failed;
  if (!std::filesystem::exists(file, failed))
    return out;
  const auto name = file.string();
  const auto text = read_text(file);
  if (!text)
    return text.why();
  const auto parsed = parse_document(name, *text);
  if (!parsed)
    return parsed.why();
  for (const auto& [token, value] : parsed->items()) {
    const auto id = parse_id(name, in_quotes(token), value);
    if (!id)
      return id.why();
    out.push_back({.content = token, .id = *id, .normalized = true});
  }
  return out;
}

} // namespace atelier::gpu::detail
