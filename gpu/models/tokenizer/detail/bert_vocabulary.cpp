// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/files/foreign_json.hpp>
#include <atelier/gpu/models/tokenizer/detail/bert_vocabulary.hpp>
#include <atelier/gpu/models/tokenizer/detail/character_class.hpp>
#include <atelier/gpu/models/tokenizer/detail/utf8_codes.hpp>
#include <atelier/gpu/models/tokenizer/detail/vocabulary_json.hpp>
#include <atelier/gpu/models/tokenizer/detail/word_pieces.hpp>

#include <utility>

namespace atelier::gpu::detail {

namespace {

std::string_view without_space_at_end(std::string_view line) {
  while (!line.empty()) {
    auto begin = line.size();
    if (class_of(previous_code(line, begin)) != character_class::space)
      break;
    line = line.substr(0, begin);
  }
  return line;
}

core::result<vocabulary> read_vocab_txt(const std::filesystem::path& file) {
  const auto name = file.string();
  const auto text = read_text(file);
  if (!text)
    return text.why();
  if (const auto fault = core::find_utf8_fault(*text))
    return bad_key(name, {}, fmt::format("byte {} is not UTF-8", *fault));
  vocabulary out;
  std::string_view left = *text;
  for (int32_t id = 0; !left.empty(); ++id) {
    if (id > most_token_id)
      return bad_key(name, fmt::format("line {}", id + 1),
                     fmt::format("more than {} tokens", most_token_id + 1));
    const auto end = left.find('\n');
    // The last of equal lines counts.
    out.ids[std::string{without_space_at_end(left.substr(0, end))}] = id;
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
  }
  if (out.ids.empty())
    return bad_key(name, {}, "no tokens");
  return out;
}

core::result<void> check_normalizer(std::string_view file, const json* found) {
  // Settings of tokenizer_config.json replace these.
  json rest = found != nullptr ? *found : json{};
  if (rest.is_object())
    for (const char* key :
         {"handle_chinese_chars", "strip_accents", "lowercase"})
      rest.erase(key);
  return check_section(file, "BERT", "normalizer",
                       found != nullptr ? &rest : nullptr,
                       {{"type", "BertNormalizer"}, {"clean_text", true}});
}

core::result<void> check_word_piece_model(std::string_view file,
                                          const json& model) {
  auto rest = model;
  rest.erase("vocab");
  rest.erase("unk_token");
  return check_section(file, "BERT", "model", &rest,
                       {{"type", "WordPiece"},
                        {"continuing_subword_prefix", continues_word},
                        {"max_input_chars_per_word", most_word_characters}},
                       {"type"});
}

core::result<vocabulary> read_word_piece_json(std::string_view file,
                                              const json& document) {
  if (auto ok = check_normalizer(file, member(document, "normalizer")); !ok)
    return ok.why();
  if (auto ok = check_section(file, "BERT", "pre_tokenizer",
                              member(document, "pre_tokenizer"),
                              {{"type", "BertPreTokenizer"}});
      !ok)
    return ok.why();
  if (auto ok = check_directions(file, document); !ok)
    return ok.why();
  const auto* model = member(document, "model");
  if (model == nullptr || !model->is_object())
    return bad_key(file, "model", "missing or not an object");
  if (auto ok = check_word_piece_model(file, *model); !ok)
    return ok.why();
  const auto* vocab = member(*model, "vocab");
  if (vocab == nullptr || !vocab->is_object())
    return bad_key(file, "model.vocab", "missing or not an object");
  vocabulary out;
  auto ids = parse_token_ids(file, "model.vocab.", *vocab);
  if (!ids)
    return ids.why();
  out.ids = std::move(*ids);
  if (auto ok = parse_added_list(file, document, out.added); !ok)
    return ok.why();
  return out;
}

/// Checks that a text gets the start token before it and the end token after
/// it. Without a section, it gets them too.
core::result<void> check_template(std::string_view file, const json& document,
                                  const bert_words& of) {
  const auto* found = member(document, "post_processor");
  if (found == nullptr)
    return {};
  const std::string key = "post_processor";
  const auto& start = of.tokens.start;
  const auto& end = of.tokens.end;
  const auto id_of = [&](const std::string& token) {
    const auto i = of.words.ids.find(token);
    return i != of.words.ids.end() ? i->second : -1;
  };
  if (!found->is_object())
    return bad_key(file, key, "not an object");
  if (const auto* type = member(*found, "type");
      type != nullptr && *type == json("BertProcessing"))
    return check_section(file, "BERT", key, found,
                         {{"type", "BertProcessing"},
                          {"sep", json::array({end, id_of(end)})},
                          {"cls", json::array({start, id_of(start)})}});
  json rest = *found;
  rest.erase("pair");
  const auto special = [](const std::string& token) {
    return json{{"SpecialToken", {{"id", token}, {"type_id", 0}}}};
  };
  const auto named = [&](const std::string& token) {
    return json{{"id", token},
                {"ids", json::array({id_of(token)})},
                {"tokens", json::array({token})}};
  };
  const json text{{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  json tokens;
  tokens[start] = named(start);
  tokens[end] = named(end);
  return check_section(
    file, "BERT", key, &rest,
    {{"type", "TemplateProcessing"},
     {"single", json::array({special(start), text, special(end)})},
     {"special_tokens", tokens}});
}

/// Reads a setting that is true, false or null.
core::result<void> read_flag(std::string_view file, const json& config,
                             const char* key, bool& to) {
  const auto* value = member(config, key);
  if (value == nullptr)
    return {};
  if (!value->is_boolean())
    return bad_key(file, key,
                   fmt::format("{} is not true or false", shown(*value)));
  to = value->get<bool>();
  return {};
}

core::result<bert_form> read_form(std::string_view file,
                                  std::string_view text) {
  bert_form out;
  if (text.empty())
    return out;
  const auto config = parse_document(file, text);
  if (!config)
    return config.why();
  if (auto ok = read_flag(file, *config, "do_lower_case", out.lower_case); !ok)
    return ok.why();
  if (auto ok = read_flag(file, *config, "tokenize_chinese_chars",
                          out.separate_chinese);
      !ok)
    return ok.why();
  // As in BERT itself, the default is that of lower case.
  out.strip_accents = out.lower_case;
  if (auto ok = read_flag(file, *config, "strip_accents", out.strip_accents);
      !ok)
    return ok.why();
  return out;
}

} // namespace

core::result<bert_words> read_bert_words(const tokenizer_files& from) {
  bert_words out;
  json document;
  const auto file = from.words().string();
  if (!from.tokenizer_json.empty()) {
    const auto text = read_text(from.tokenizer_json);
    if (!text)
      return text.why();
    auto parsed = parse_document(file, *text);
    if (!parsed)
      return parsed.why();
    document = std::move(*parsed);
  }
  auto words = from.tokenizer_json.empty()
               ? read_vocab_txt(from.vocab)
               : read_word_piece_json(file, document);
  if (!words)
    return words.why();
  out.words = std::move(*words);
  auto tokens = read_settings(from, out.words, bert_scheme());
  if (!tokens)
    return tokens.why();
  out.tokens = std::move(*tokens);
  if (!document.is_null())
    if (auto ok = check_template(file, document, out); !ok)
      return ok.why();
  const auto form = read_form(config_name_of(from), from.config);
  if (!form)
    return form.why();
  out.form = *form;
  return out;
}

} // namespace atelier::gpu::detail
