// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/network_fields.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace atelier::gpu::detail {

namespace {

constexpr size_t longest_value = 80;
constexpr size_t most_elements = 32;

bool asks_for_nothing(const nlohmann::json& x) {
  return x.is_null() || (x.is_boolean() && !x.get<bool>())
      || (x.is_structured() && x.empty())
      || (x.is_string() && x.get_ref<const std::string&>().empty());
}

// Returns a key unchanged if that is safe to print.
std::string shown(std::string_view key) {
  const auto plain = [](char x) {
    return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z')
        || (x >= '0' && x <= '9') || x == '_' || x == '-' || x == '.';
  };
  if (key.size() <= longest_value && std::all_of(key.begin(), key.end(), plain))
    return std::string{key};
  return shorten(nlohmann::json(std::string{key}));
}

} // namespace

std::optional<int64_t> as_integer(const nlohmann::json& x) {
  if (x.is_number_unsigned()) {
    const auto value = x.get<uint64_t>();
    if (value > static_cast<uint64_t>(INT64_MAX))
      return std::nullopt;
    return static_cast<int64_t>(value);
  }
  if (x.is_number_integer())
    return x.get<int64_t>();
  return std::nullopt;
}

std::string shorten(const nlohmann::json& x) {
  if (x.is_structured() && x.size() > most_elements)
    return fmt::format("{} of {} elements",
                       x.is_array() ? "a list" : "an object", x.size());
  auto text = x.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > longest_value) {
    text.resize(longest_value - 3);
    text += "...";
  }
  return text;
}

network_fields::network_fields(std::string_view text, std::string file)
  : root_(nlohmann::json::object()), file_(std::move(file)) {
  // Deep nesting would be written and freed by recursion.
  auto parsed = parse_object(text, file_);
  if (parsed)
    root_ = std::move(*parsed);
  else
    wrong_ = core::fail(core::ec::bad_config, "{}", parsed.why().text);
}

void network_fields::descend(std::string_view key) {
  const auto at = root_.find(key);
  if (at == root_.end())
    return;
  if (!at->is_object()) {
    refuse(key, "an object");
    return;
  }
  auto below = *at;
  root_ = std::move(below);
  path_ += fmt::format("{}.", key);
  known_.clear();
}

bool network_fields::has(std::string_view key) const {
  return root_.contains(key);
}

bool network_fields::is_list(std::string_view key) const {
  const auto at = root_.find(key);
  return at != root_.end() && at->is_array();
}

const nlohmann::json* network_fields::take(std::string_view key) {
  known_.emplace(key);
  const auto at = root_.find(key);
  return at == root_.end() ? nullptr : &*at;
}

void network_fields::refuse(std::string_view key, std::string_view allowed) {
  if (wrong_)
    return;
  const auto at = root_.find(key);
  wrong_ =
    core::fail(core::ec::bad_config, "{}: {}{} is {}, not {}", file_, path_,
               key, at == root_.end() ? "missing" : shorten(*at), allowed);
}

int64_t network_fields::integer(std::string_view key, int64_t otherwise,
                                int64_t low, int64_t high) {
  if (!take(key))
    return otherwise;
  const auto value = integer_or_null(key, low, high);
  if (!value)
    refuse(key, fmt::format("a whole number in {}..{}", low, high));
  return value.value_or(otherwise);
}

std::optional<int64_t> network_fields::integer_or_null(std::string_view key,
                                                       int64_t low,
                                                       int64_t high) {
  const auto* x = take(key);
  if (!x || x->is_null())
    return std::nullopt;
  const auto value = as_integer(*x);
  if (value && *value >= low && *value <= high)
    return value;
  refuse(key, fmt::format("a whole number in {}..{}", low, high));
  return std::nullopt;
}

double network_fields::number(std::string_view key, double otherwise,
                              double low, double high) {
  if (!take(key))
    return otherwise;
  const auto value = number_or_null(key, low, high);
  if (!value)
    refuse(key, fmt::format("a number in {}..{}", low, high));
  return value.value_or(otherwise);
}

std::optional<double> network_fields::number_or_null(std::string_view key,
                                                     double low, double high) {
  const auto* x = take(key);
  if (!x || x->is_null())
    return std::nullopt;
  if (x->is_number()) {
    const auto value = x->get<double>();
    if (std::isfinite(value) && value >= low && value <= high)
      return value;
  }
  refuse(key, fmt::format("a number in {}..{}", low, high));
  return std::nullopt;
}

bool network_fields::flag(std::string_view key, bool otherwise) {
  const auto* x = take(key);
  if (!x)
    return otherwise;
  if (!x->is_boolean()) {
    refuse(key, "true or false");
    return otherwise;
  }
  return x->get<bool>();
}

std::string network_fields::text(
  std::string_view key, std::string_view otherwise,
  std::initializer_list<std::string_view> allowed) {
  if (!take(key))
    return std::string{otherwise};
  auto value = text_or_null(key, allowed);
  if (!value)
    refuse(key, fmt::format("one of {}", fmt::join(allowed, ", ")));
  return value ? *std::move(value) : std::string{otherwise};
}

std::optional<std::string> network_fields::text_or_null(
  std::string_view key, std::initializer_list<std::string_view> allowed) {
  const auto* x = take(key);
  if (!x || x->is_null())
    return std::nullopt;
  if (x->is_string()) {
    const auto& value = x->get_ref<const std::string&>();
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end())
      return value;
  }
  refuse(key, fmt::format("one of {}", fmt::join(allowed, ", ")));
  return std::nullopt;
}

std::vector<int64_t> network_fields::integers(std::string_view key,
                                              std::vector<int64_t> otherwise,
                                              int64_t low, int64_t high,
                                              size_t most) {
  const auto* x = take(key);
  if (!x)
    return otherwise;
  std::vector<int64_t> out;
  if (x->is_array() && !x->empty() && x->size() <= most)
    for (const auto& each : *x)
      if (const auto value = as_integer(each);
          value && *value >= low && *value <= high)
        out.push_back(*value);
  if (!x->is_array() || out.size() != x->size() || out.empty()) {
    refuse(key, fmt::format("a list of 1..{} whole numbers in {}..{}", most,
                            low, high));
    return otherwise;
  }
  return out;
}

std::vector<double> network_fields::numbers_or_null(std::string_view key,
                                                    size_t most) {
  const auto* x = take(key);
  if (!x || x->is_null())
    return {};
  std::vector<double> out;
  if (x->is_array() && !x->empty() && x->size() <= most)
    for (const auto& each : *x)
      if (each.is_number() && std::isfinite(each.get<double>()))
        out.push_back(each.get<double>());
  if (!x->is_array() || out.size() != x->size() || out.empty())
    refuse(key, fmt::format("a list of 1..{} numbers", most));
  return out;
}

std::vector<std::string> network_fields::texts(
  std::string_view key, std::vector<std::string> otherwise,
  std::initializer_list<std::string_view> allowed, size_t most) {
  const auto* x = take(key);
  if (!x)
    return otherwise;
  std::vector<std::string> out;
  if (x->is_array() && !x->empty() && x->size() <= most)
    for (const auto& each : *x)
      if (each.is_string()
          && std::find(allowed.begin(), allowed.end(),
                       each.get_ref<const std::string&>())
               != allowed.end())
        out.push_back(each.get<std::string>());
  if (!x->is_array() || out.size() != x->size() || out.empty()) {
    refuse(key, fmt::format("a list of 1..{} out of {}", most,
                            fmt::join(allowed, ", ")));
    return otherwise;
  }
  return out;
}

void network_fields::expect(std::string_view key,
                            const nlohmann::json& allowed) {
  const auto* x = take(key);
  if (x && !x->is_null() && *x != allowed)
    refuse(key, shorten(allowed));
}

void network_fields::ignore(std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    known_.emplace(key);
}

core::result<void> network_fields::finish() const {
  if (wrong_)
    return *wrong_;
  for (const auto& [key, value] : root_.items())
    if (!known_.contains(key) && !asks_for_nothing(value))
      return core::fail(core::ec::bad_config,
                        "{}: {}{} is {}, which is not supported", file_, path_,
                        shown(key), shorten(value));
  return {};
}

void ignore_records(network_fields& in) {
  in.ignore({"_attn_implementation",
             "_attn_implementation_autoset",
             "_commit_hash",
             "_name_or_path",
             "architectures",
             "attention_dropout",
             "attn_implementation",
             "begin_suppress_tokens",
             "bos_token_id",
             "chunk_size_feed_forward",
             "diversity_penalty",
             "do_sample",
             "dropout",
             "dtype",
             "early_stopping",
             "encoder_no_repeat_ngram_size",
             "experts_implementation",
             "gradient_checkpointing",
             "id2label",
             "initializer_factor",
             "initializer_range",
             "label2id",
             "length_penalty",
             "max_length",
             "min_length",
             "no_repeat_ngram_size",
             "num_beam_groups",
             "num_beams",
             "num_labels",
             "num_return_sequences",
             "output_attentions",
             "output_hidden_states",
             "output_scores",
             "pad_token_id",
             "problem_type",
             "remove_invalid_values",
             "repetition_penalty",
             "return_dict",
             "return_dict_in_generate",
             "sep_token_id",
             "suppress_tokens",
             "task_specific_params",
             "temperature",
             "tie_encoder_decoder",
             "tie_word_embeddings",
             "tokenizer_class",
             "top_k",
             "top_p",
             "torch_dtype",
             "torchscript",
             "transformers_version",
             "typical_p",
             "use_cache"});
}

} // namespace atelier::gpu::detail
