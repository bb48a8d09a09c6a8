// SPDX-License-Identifier: Apache-2.0
// Reads a tokenizer's settings. Long, because one class follows transformers
// through five files that overrule each other.
#include <atelier/gpu/models/files/foreign_json.hpp>
#include <atelier/gpu/models/tokenizer/detail/tokenizer_settings.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace atelier::gpu::detail {

namespace {

/// The sources of the settings. The texts may be empty; the names are those of
/// their files, for messages.
struct settings_source {
  std::string_view config;
  std::string config_name;
  std::string_view special_tokens;
  std::string special_tokens_name;
  /// From added_tokens.json; the settings determine whether they are special.
  std::vector<added_token> legacy_added;
  std::string legacy_name;
  /// File of `vocabulary::added`.
  std::string vocabulary_name;
};

// A special token as the files name it: only its text, or also its fields.
// transformers always keeps the two forms apart, and adds a token that is named
// in both forms twice.
struct named_token {
  added_token_fields fields;
  bool is_text = false;
  // File and key, for messages.
  std::string file;

  const std::string& content() const {
    return fields.token.content;
  }

  added_token resolved() const {
    auto out = fields.token;
    out.special = out.special || is_text;
    out.normalized = fields.normalized.value_or(!out.special);
    return out;
  }
};

// Returns a text that two tokens share if transformers considers them equal.
std::string identity(const named_token& x) {
  const auto token = x.resolved();
  std::string out;
  for (const bool flag :
       {x.is_text, token.lstrip, token.rstrip, token.normalized, token.special})
    out.push_back(flag ? '1' : '0');
  return out + token.content;
}

named_token plain(std::string text, std::string where) {
  named_token out;
  out.fields.token.content = std::move(text);
  out.is_text = true;
  out.file = std::move(where);
  return out;
}

// In the order in which transformers adds them.
constexpr std::array<std::string_view, 7> names{
  "bos_token", "eos_token", "unk_token",  "sep_token",
  "pad_token", "cls_token", "mask_token",
};

size_t number_of(std::string_view key) {
  return static_cast<size_t>(std::ranges::find(names, key) - names.begin());
}

class reader {
public:
  reader(const settings_source& from, const vocabulary& words,
         const token_scheme& scheme)
    : from_(from), words_(words), scheme_(scheme) {}

  core::result<tokenizer_settings> run() {
    out_.max_length = scheme_.max_length;
    for (const auto& [key, content] : scheme_.tokens)
      named_[number_of(key)] = plain(
        std::string{content}, from_.config_name + ": " + std::string{key});
    if (!from_.config.empty()) {
      if (auto ok = read_config(); !ok)
        return ok.why();
    }
    if (!lists_added_) {
      if (auto ok = read_special_tokens(); !ok)
        return ok.why();
    }
    if (auto ok = add_all(); !ok)
      return ok.why();
    out_.start = content_of(scheme_.start);
    out_.end = content_of(scheme_.end);
    out_.unknown = content_of("unk_token");
    out_.padding = content_of("pad_token");
    return std::move(out_);
  }

private:
  const std::string& content_of(std::string_view key) const {
    return named_[number_of(key)]->content();
  }

  bool is_needed(size_t i) const {
    return std::ranges::find(scheme_.tokens, names[i], &default_token::key)
        != scheme_.tokens.end();
  }

  core::result<void> read_config() {
    const auto& file = from_.config_name;
    const auto config = parse_document(file, from_.config);
    if (!config)
      return config.why();
    for (const auto& [key, value] : config->items()) {
      if (value.is_null() && std::ranges::count(names, key) == 0)
        continue;
      auto ok = read_config_key(file, key, value);
      if (!ok)
        return ok;
    }
    if (auto ok = read_max_length(file, *config); !ok)
      return ok;
    const auto* extra = member(*config, "extra_special_tokens");
    if (extra == nullptr || extra->empty())
      extra = member(*config, "additional_special_tokens");
    if (extra != nullptr)
      if (auto ok = read_extra(file, "extra_special_tokens", *extra); !ok)
        return ok;
    return {};
  }

  core::result<void> read_config_key(const std::string& file,
                                     const std::string& key,
                                     const json& value) {
    const auto refuse = [&](std::string_view only) {
      return bad_key(
        file, key,
        fmt::format("{} is not supported, only {}", shown(value), only));
    };
    const auto name = std::ranges::find(names, key);
    if (name != names.end())
      return read_name(file, static_cast<size_t>(name - names.begin()), value,
                       false);
    if (key == "added_tokens_decoder") {
      lists_added_ = true;
      return read_added(file, value);
    }
    if (key == "tokenizer_class") {
      for (const auto x : scheme_.classes)
        if (value == json(x))
          return {};
      return refuse(in_quotes(scheme_.classes.front()));
    }
    if ((key == "padding_side" || key == "truncation_side")
        && value != json("right"))
      return refuse("\"right\"");
    if (key == "split_special_tokens" && value != json(false))
      return refuse("false");
    if ((key == "model_specific_special_tokens" && !value.empty())
        || (key.ends_with("_token") && (value.is_string() || is_token(value))))
      return bad_key(file, key, not_a_token());
    return {};
  }

  std::string not_a_token() const {
    return fmt::format("not a token of {}", scheme_.model);
  }

  static bool is_token(const json& x) {
    const auto i = x.find("__type");
    return i != x.end() && *i == json("AddedToken");
  }

  // Reads a token that is a string or an object. In special_tokens_map.json
  // (`of_map`) an object needs no type, and is always special.
  static core::result<void> read_named(const std::string& file,
                                       const std::string& key,
                                       const json& value, bool of_map,
                                       std::optional<named_token>& to) {
    if (value.is_null()) {
      to.reset();
      return {};
    }
    auto where = file + ": " + key;
    if (value.is_string()) {
      to = plain(value.get<std::string>(), std::move(where));
      return {};
    }
    if (!value.is_object() || (!of_map && !is_token(value)))
      return bad_key(
        file, key,
        fmt::format("{} is neither text nor an added token", shown(value)));
    auto fields = parse_added_token(file, key, value);
    if (!fields)
      return fields.why();
    if (of_map)
      fields->token.special = true;
    to = named_token{std::move(*fields), false, std::move(where)};
    return {};
  }

  core::result<void> read_name(const std::string& file, size_t i,
                               const json& value, bool of_map) {
    const std::string key{names[i]};
    if (auto ok = read_named(file, key, value, of_map, named_[i]); !ok)
      return ok;
    if (is_needed(i) && (!named_[i] || named_[i]->content().empty()))
      return bad_key(file, key, "null or empty");
    return {};
  }

  core::result<void> read_extra(const std::string& file, const std::string& key,
                                const json& list, bool of_map = false) {
    if (!list.is_array())
      return bad_key(file, key, "not a list of tokens");
    for (const auto& x : list) {
      std::optional<named_token> token;
      if (auto ok = read_named(file, key, x, of_map, token); !ok)
        return ok;
      if (!token)
        return bad_key(file, key, "holds null");
      extra_.push_back(std::move(*token));
    }
    return {};
  }

  core::result<void> read_added(const std::string& file, const json& value) {
    if (!value.is_object())
      return bad_key(file, "added_tokens_decoder", "not an object");
    for (const auto& [key, x] : value.items()) {
      const auto inner = "added_tokens_decoder." + in_quotes(key);
      int32_t id = -1;
      const auto* end = key.data() + key.size();
      const auto [at, failed] = std::from_chars(key.data(), end, id);
      if (failed != std::errc{} || at != end || id < 0 || id > most_token_id)
        return bad_key(file, inner,
                       fmt::format("not an id of 0..{}", most_token_id));
      auto fields = parse_added_token(file, inner, x);
      if (!fields)
        return fields.why();
      add_listed(id, std::move(*fields), fmt::format("{}: {}", file, inner));
    }
    return {};
  }

  void add_listed(int32_t id, added_token_fields fields, std::string where) {
    fields.token.id = id;
    listed_by_text_[fields.token.content] = id;
    listed_[id] = {std::move(fields), false, std::move(where)};
  }

  core::result<void> read_max_length(const std::string& file,
                                     const json& config) {
    const char* key = "model_max_length";
    const auto* value = member(config, key);
    if (value == nullptr)
      return {};
    // Means "no limit"; it is written as 1e30 with all its digits.
    constexpr double unlimited = 1e20;
    if (value->is_number() && value->get<double>() >= unlimited)
      return {};
    constexpr uint32_t most = longest_sequence;
    if (!value->is_number_unsigned() || value->get<uint64_t>() < 2
        || value->get<uint64_t>() > most)
      return bad_key(
        file, key,
        fmt::format("{} is not a whole number of 2..{}", shown(*value), most));
    out_.max_length = value->get<uint32_t>();
    return {};
  }

  core::result<void> read_special_tokens() {
    if (from_.special_tokens.empty()) {
      add_other_sources();
      return {};
    }
    const auto& file = from_.special_tokens_name;
    const auto map = parse_document(file, from_.special_tokens);
    if (!map)
      return map.why();
    for (size_t i = 0; i < names.size(); ++i) {
      const auto value = map->find(names[i]);
      if (value == map->end())
        continue;
      if (auto ok = read_name(file, i, *value, true); !ok)
        return ok;
    }
    for (const auto& [key, value] : map->items())
      if (std::ranges::count(names, key) == 0 && key.ends_with("_token"))
        return bad_key(file, in_quotes(key), not_a_token());
    const auto* extra = member(*map, "extra_special_tokens");
    if (extra != nullptr)
      if (auto ok = read_extra(file, "extra_special_tokens", *extra, true); !ok)
        return ok;
    // If added_tokens.json is read, the older name is ignored.
    add_other_sources();
    extra = member(*map, "additional_special_tokens");
    if (extra == nullptr || !extra_.empty())
      return {};
    return read_extra(file, "additional_special_tokens", *extra);
  }

  void add_other_sources() {
    std::set<std::string_view> special;
    for (const auto& x : named_)
      if (x)
        special.insert(x->content());
    for (const auto& x : extra_)
      special.insert(x.content());
    for (auto x : from_.legacy_added) {
      x.special = special.contains(x.content);
      x.normalized = !x.special;
      add_listed(x.id, {x, x.normalized},
                 from_.legacy_name + ": " + in_quotes(x.content));
    }
    for (const auto& x : words_.added)
      add_listed(x.id, {x, x.normalized},
                 from_.vocabulary_name
                   + ": added_tokens: " + in_quotes(x.content));
  }

  core::result<void> add_all() {
    std::vector<named_token> order;
    for (const auto& [id, x] : listed_)
      order.push_back(x);
    std::set<std::string> there;
    const auto add = [&](const named_token& x) {
      if (!listed_by_text_.contains(x.content())
          && there.insert(identity(x)).second)
        order.push_back(x);
    };
    std::set<std::string_view> special_texts;
    for (const auto& x : named_)
      if (x) {
        special_texts.insert(x->content());
        add(*x);
      }
    for (const auto& x : extra_)
      add(x);
    for (auto& x : order)
      x.fields.token.special =
        x.fields.token.special || special_texts.contains(x.content());
    return place(order);
  }

  // Gives every token its id: those in the vocabulary keep their own, others
  // are appended.
  core::result<void> place(const std::vector<named_token>& order) {
    const auto fail = [](const named_token& x, std::string_view what) {
      return core::fail(core::ec::bad_payload, "{}: {}", x.file, what);
    };
    std::set<int32_t> taken;
    for (const auto& [token, id] : words_.ids)
      taken.insert(id);
    auto next = static_cast<int32_t>(words_.ids.size());
    std::map<std::string, int32_t, std::less<>> behind;
    for (const auto& x : order) {
      auto token = x.resolved();
      if (token.content.empty())
        continue;
      const auto listed = listed_by_text_.find(token.content);
      const auto known = words_.ids.find(token.content);
      if (known != words_.ids.end()) {
        token.id = known->second;
      } else if (listed == listed_by_text_.end()) {
        return fail(x, fmt::format("{} is not in the vocabulary",
                                   in_quotes(token.content)));
      } else {
        const auto [i, is_new] = behind.emplace(token.content, next);
        token.id = i->second;
        if (is_new && (next > most_token_id || !taken.insert(next).second))
          return fail(x, fmt::format("the next id, {}, is not free", next));
        next += is_new ? 1 : 0;
      }
      if (listed != listed_by_text_.end() && token.id != listed->second)
        return fail(x, fmt::format("the id of {} is {}, not {}",
                                   in_quotes(token.content), token.id,
                                   listed->second));
      out_.added.push_back(std::move(token));
    }
    return {};
  }

  const settings_source& from_;
  const vocabulary& words_;
  const token_scheme& scheme_;
  tokenizer_settings out_;
  std::array<std::optional<named_token>, names.size()> named_;
  std::vector<named_token> extra_;
  // The tokens of added_tokens_decoder or of its replacements, by id.
  std::map<int32_t, named_token> listed_;
  std::map<std::string, int32_t, std::less<>> listed_by_text_;
  bool lists_added_ = false;
};

} // namespace

std::string config_name_of(const tokenizer_files& from) {
  return (from.words().parent_path() / "tokenizer_config.json").string();
}

core::result<tokenizer_settings> read_settings(const tokenizer_files& from,
                                               const vocabulary& words,
                                               const token_scheme& scheme) {
  const auto folder = from.words().parent_path();
  const auto legacy = folder / "added_tokens.json";
  auto legacy_added = read_added_tokens(legacy);
  if (!legacy_added)
    return legacy_added.why();
  const settings_source source{
    .config = from.config,
    .config_name = config_name_of(from),
    .special_tokens = from.special_tokens,
    .special_tokens_name = (folder / "special_tokens_map.json").string(),
    .legacy_added = std::move(*legacy_added),
    .legacy_name = legacy.string(),
    .vocabulary_name = from.words().string(),
  };
  return reader{source, words, scheme}.run();
}

} // namespace atelier::gpu::detail
