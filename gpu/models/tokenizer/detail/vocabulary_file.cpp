// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/files/foreign_json.hpp>
#include <atelier/gpu/models/tokenizer/detail/vocabulary_file.hpp>
#include <atelier/gpu/models/tokenizer/detail/vocabulary_json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <system_error>

namespace atelier::gpu::detail {

namespace {

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
  if (check_section(file, "CLIP", "pre_tokenizer", from,
                    clip_pre_tokenizer(words), optional))
    return {};
  const auto all = std::string{special} + std::string{words};
  return check_section(file, "CLIP", "pre_tokenizer", from,
                       clip_pre_tokenizer(all), optional);
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
  auto ids = parse_token_ids(name, {}, *parsed);
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
  // transformers, too, strips what follows the last merge.
  left = left.substr(0, left.find_last_not_of(" \t\r\n") + 1);
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
  if (auto ok = check_section(name, "CLIP", "normalizer",
                              member(*parsed, "normalizer"), clip_normalizer());
      !ok)
    return ok.why();
  if (auto ok = check_pre_tokenizer(name, member(*parsed, "pre_tokenizer"));
      !ok)
    return ok.why();
  if (auto ok = check_directions(name, *parsed); !ok)
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
  auto ids = parse_token_ids(name, "model.vocab.", *vocab);
  if (!ids)
    return ids.why();
  out.ids = std::move(*ids);
  if (auto ok = parse_merge_list(name, *merges, out); !ok)
    return ok.why();
  if (auto good = check_merges(name, "model.merges", out); !good)
    return good.why();

  if (auto ok = parse_added_list(name, *parsed, out.added); !ok)
    return ok.why();
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
