// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/bert/sentence_folder.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/network_fields.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace atelier::gpu {

namespace {

namespace fs = std::filesystem;
using core::ec;
using json = nlohmann::json;

bool is_present(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

/// Reads a file of settings; an empty text if it does not exist.
core::result<std::string> read_settings_file(const fs::path& file) {
  if (!is_present(file))
    return std::string{};
  return detail::read_text(file, detail::most_config_bytes);
}

/// The folders of a sentence encoder's parts.
struct sentence_modules {
  fs::path network;
  /// Empty if the encoder has none.
  fs::path pooling;
  bool normalizes = false;
};

core::error bad_module(const fs::path& file, size_t place,
                       std::string_view fault) {
  return core::fail(ec::bad_config, "{}: [{}]: {}", file.string(), place,
                    fault);
}

core::result<void> add_module(const fs::path& folder, const fs::path& file,
                              size_t place, const json& from,
                              sentence_modules& to) {
  const auto type = from.is_object() ? detail::text_at(from, "type") : "";
  const auto path = from.is_object() ? detail::text_at(from, "path") : "";
  const auto name = type.substr(type.rfind('.') + 1);
  if (path.find("..") != std::string::npos || fs::path{path}.is_absolute())
    return bad_module(
      file, place,
      fmt::format("path: '{}' leaves the folder", detail::printable(path)));
  if (place == 0 && name == "Transformer")
    to.network = path.empty() ? folder : folder / path;
  else if (place == 1 && name == "Pooling")
    to.pooling = folder / path;
  else if (place == 2 && name == "Normalize")
    to.normalizes = true;
  else
    return bad_module(file, place,
                      fmt::format("type: '{}' is not supported here; these "
                                  "are: Transformer, Pooling, Normalize, in "
                                  "this order",
                                  detail::printable(type)));
  return {};
}

core::result<sentence_modules> read_modules(const fs::path& folder) {
  sentence_modules out;
  out.network = folder;
  const auto file = folder / "modules.json";
  const auto text = read_settings_file(file);
  if (!text)
    return text.why();
  if (text->empty()) {
    if (const auto pooling = folder / "1_Pooling"; is_present(pooling))
      out.pooling = pooling;
    return out;
  }
  if (detail::json_nests_too_deep(*text))
    return core::fail(ec::bad_config, "{}: JSON nested deeper than {} levels",
                      file.string(), detail::most_json_levels);
  const auto list = json::parse(*text, nullptr, false);
  if (!list.is_array() || list.empty())
    return core::fail(ec::bad_config, "{}: not a list of modules",
                      file.string());
  size_t place = 0;
  for (const auto& x : list)
    if (auto ok = add_module(folder, file, place++, x, out); !ok)
      return ok.why();
  return out;
}

/// Returns the name of the only kind of pooling that is on; of several kinds
/// the first that is not supported.
std::string pooling_named(detail::network_fields& in) {
  // Newer files have one key in place of one for each kind.
  if (in.has("pooling_mode"))
    return in.text("pooling_mode", "mean", {"mean", "cls"});
  constexpr std::array<std::string_view, 5> others{
    "pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken",
    "pooling_mode_cls_token"};
  const bool mean = in.flag("pooling_mode_mean_tokens", true);
  for (const auto key : others)
    if (in.flag(key, false)) {
      if (key == others.back() && !mean)
        return "cls";
      in.refuse(key, mean ? "false beside pooling_mode_mean_tokens"
                          : "false: only the modes mean_tokens and cls_token "
                            "are supported");
    }
  if (!mean)
    in.refuse("pooling_mode_mean_tokens",
              "true, or false beside pooling_mode_cls_token");
  return "mean";
}

core::result<sentence_pooling> read_pooling(const fs::path& folder) {
  if (folder.empty())
    return sentence_pooling::mean;
  const auto file = folder / "config.json";
  const auto text = detail::read_text(file, detail::most_config_bytes);
  if (!text)
    return text.why();
  detail::network_fields in{*text, file.string()};
  const auto name = pooling_named(in);
  // The network itself says how long its vectors are; prompts are refused
  // elsewhere.
  in.ignore(
    {"word_embedding_dimension", "embedding_dimension", "include_prompt"});
  if (const auto fine = in.finish(); !fine)
    return fine.why();
  return name == "cls" ? sentence_pooling::first : sentence_pooling::mean;
}

core::result<std::optional<uint32_t>> read_most_tokens(const fs::path& folder) {
  std::optional<uint32_t> out;
  const auto file = folder / "sentence_bert_config.json";
  const auto text = read_settings_file(file);
  if (!text)
    return text.why();
  if (text->empty())
    return out;
  detail::network_fields in{*text, file.string()};
  if (const auto most = in.integer_or_null("max_seq_length", 2, 1 << 20))
    out = static_cast<uint32_t>(*most);
  // tokenizer_config.json says what the tokenizer does itself.
  in.expect("do_lower_case", false);
  if (const auto fine = in.finish(); !fine)
    return fine.why();
  return out;
}

/// Checks that texts are compared by their angle, and without an addition.
core::result<void> check_sentence_config(const fs::path& folder,
                                         bool normalizes) {
  const auto file = folder / "config_sentence_transformers.json";
  const auto text = read_settings_file(file);
  if (!text)
    return text.why();
  if (text->empty())
    return {};
  detail::network_fields in{*text, file.string()};
  in.expect("default_prompt_name");
  const auto by = in.text_or_null("similarity_fn_name", {"cosine", "dot"});
  if (by == "dot" && !normalizes)
    in.refuse("similarity_fn_name",
              "cosine, or dot after a module that normalizes");
  in.ignore({"__version__", "model_type", "prompts"});
  return in.finish();
}

core::result<tokenizer_files> find_words(const fs::path& folder) {
  tokenizer_files out;
  if (is_present(folder / "tokenizer.json"))
    out.tokenizer_json = folder / "tokenizer.json";
  else if (is_present(folder / "vocab.txt"))
    out.vocab = folder / "vocab.txt";
  else
    return core::fail(ec::not_found,
                      "{}: there is no vocabulary: neither tokenizer.json nor "
                      "vocab.txt",
                      folder.string());
  auto config = read_settings_file(folder / "tokenizer_config.json");
  if (!config)
    return config.why();
  out.config = std::move(*config);
  auto special = read_settings_file(folder / "special_tokens_map.json");
  if (!special)
    return special.why();
  out.special_tokens = std::move(*special);
  return out;
}

} // namespace

core::result<fs::path> network_folder(const fs::path& folder) {
  auto modules = read_modules(folder);
  if (!modules)
    return modules.why();
  return std::move(modules->network);
}

core::result<sentence_folder> open_sentence_folder(const fs::path& folder) {
  const auto modules = read_modules(folder);
  if (!modules)
    return modules.why();
  sentence_folder out;
  const auto file = modules->network / "config.json";
  auto config = detail::read_text(file, detail::most_config_bytes);
  if (!config)
    return config.why();
  out.network.config = std::move(*config);
  out.network.config_file = file.string();
  out.network.class_name = "BertModel";
  const auto weights_file = modules->network / "model.safetensors";
  auto weights = safetensors_file::open(weights_file);
  if (!weights)
    return weights.why();
  out.network.weights = std::move(*weights);
  out.network.files = {weights_file};
  auto words = find_words(modules->network);
  if (!words)
    return words.why();
  out.words = std::move(*words);
  const auto pooling = read_pooling(modules->pooling);
  if (!pooling)
    return pooling.why();
  out.pooling = *pooling;
  const auto most = read_most_tokens(modules->network);
  if (!most)
    return most.why();
  out.most_tokens = *most;
  if (auto ok = check_sentence_config(folder, modules->normalizes); !ok)
    return ok.why();
  return out;
}

} // namespace atelier::gpu
