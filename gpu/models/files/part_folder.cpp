// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/weight_files.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/part_folder.hpp>
#include <atelier/gpu/models/files/printable.hpp>

#include <utility>

namespace atelier::gpu::detail {

namespace fs = std::filesystem;
using core::ec;

bool is_there(const fs::path& x) {
  std::error_code ignored;
  return fs::exists(x, ignored);
}

core::result<std::optional<std::string>> read_if_there(const fs::path& file) {
  std::optional<std::string> out;
  if (!is_there(file))
    return out;
  auto text = read_text(file, most_config_bytes);
  if (!text)
    return text.why();
  out = std::move(*text);
  return out;
}

core::result<component> open_diffusers_part(const fs::path& folder,
                                            std::string_view class_name,
                                            std::string_view variant) {
  const auto file = folder / "config.json";
  auto text = read_text(file, most_config_bytes);
  if (!text)
    return text.why();
  const auto config = parse_object(*text, file.string());
  if (!config)
    return config.why();
  auto named = text_at(*config, "_class_name");
  if (named.empty())
    named = class_name;
  if (named.empty() || (!class_name.empty() && named != class_name))
    return core::fail(ec::bad_payload, "{}: _class_name is '{}', not '{}'",
                      file.string(), printable(named), class_name);
  auto weights = open_weights(folder, weight_naming::diffusers, variant);
  if (!weights)
    return weights.why();
  return component{std::move(*text), file.string(), std::move(named),
                   std::move(weights->tensors), std::move(weights->files)};
}

core::result<component> open_transformers_part(const fs::path& folder,
                                               std::string class_name,
                                               std::string_view variant) {
  const auto file = folder / "config.json";
  auto text = read_text(file, most_config_bytes);
  if (!text)
    return text.why();
  if (auto config = parse_object(*text, file.string()); !config)
    return config.why();
  auto weights = open_weights(folder, weight_naming::transformers, variant);
  if (!weights)
    return weights.why();
  return component{std::move(*text), file.string(), std::move(class_name),
                   std::move(weights->tensors), std::move(weights->files)};
}

core::result<std::optional<tokenizer_files>> find_tokenizer(
  const fs::path& folder) {
  std::optional<tokenizer_files> out;
  // transformers also prefers the single file if both forms exist.
  if (is_there(folder / "tokenizer.json"))
    out = tokenizer_files{{}, {}, folder / "tokenizer.json", {}, {}};
  else if (is_there(folder / "vocab.json") && is_there(folder / "merges.txt"))
    out =
      tokenizer_files{folder / "vocab.json", folder / "merges.txt", {}, {}, {}};
  else
    return out;
  const auto take = [&](const char* name,
                        std::string& into) -> core::result<void> {
    const auto file = folder / name;
    auto text = read_if_there(file);
    if (!text)
      return text.why();
    if (!*text)
      return {};
    if (auto object = parse_object(**text, file.string()); !object)
      return object.why();
    into = std::move(**text);
    return {};
  };
  if (auto ok = take("tokenizer_config.json", out->config); !ok)
    return ok.why();
  if (auto ok = take("special_tokens_map.json", out->special_tokens); !ok)
    return ok.why();
  return out;
}

} // namespace atelier::gpu::detail
