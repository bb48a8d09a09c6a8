// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/network_fields.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/judge_folder.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_config.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

namespace {

constexpr auto classifier_type = "atelier_prompt_classifier";
constexpr size_t most_levels = 64;
constexpr size_t longest_level = 256;

/// Returns the names in a list; empty if it is not a list of names.
std::vector<std::string> names_in(const nlohmann::json* from) {
  std::vector<std::string> out;
  if (from == nullptr || !from->is_array() || from->size() > most_levels)
    return out;
  for (const auto& x : *from) {
    if (!x.is_string())
      return {};
    auto name = x.get<std::string>();
    if (name.empty() || name.size() > longest_level
        || std::ranges::find(out, name) != out.end())
      return {};
    out.push_back(std::move(name));
  }
  return out;
}

/// Returns the bytes of all tensors.
double stored_bytes(const tensor_source& x) {
  double out = 0;
  for (const auto& name : x.names())
    out += static_cast<double>(x.find(name)->bytes.size());
  return out;
}

} // namespace

prompt_classifier_config family_prompt_classifier() {
  prompt_classifier_config out;
  out.text = family_text_encoder();
  out.text.layers = 2;
  return out;
}

std::string prompt_classifier_config_text(
  const std::vector<std::string>& levels) {
  auto text = nlohmann::ordered_json::parse(text_encoder_config_text());
  text["num_hidden_layers"] = family_prompt_classifier().text.layers;
  const nlohmann::ordered_json all{
    {"model_type", classifier_type},
    {"levels", levels},
    {"text_config", std::move(text)},
  };
  return all.dump(2) + "\n";
}

core::result<prompt_classifier_file> read_prompt_classifier_config(
  std::string_view text, const std::string& file) {
  detail::network_fields in{text, file};
  prompt_classifier_file out;
  if (const auto* const type = in.take("model_type");
      type == nullptr || *type != classifier_type)
    in.refuse("model_type", fmt::format("\"{}\"", classifier_type));
  out.levels = names_in(in.take("levels"));
  if (out.levels.empty())
    in.refuse("levels",
              fmt::format("a list of 1 to {} different names", most_levels));
  const auto* const encoder = in.take("text_config");
  if (encoder == nullptr || !encoder->is_object())
    in.refuse("text_config", "an object");
  if (const auto fine = in.finish(); !fine)
    return fine.why();
  out.encoder.config = encoder->dump();
  out.encoder.config_file = file + ": text_config";
  out.encoder.class_name = "CLIPTextModel";
  const auto shape = read_clip_text_config(out.encoder);
  if (!shape)
    return shape.why();
  out.shape = {*shape, static_cast<int64_t>(out.levels.size())};
  return out;
}

double parameters_of(const prompt_classifier_config& x) {
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const auto width = number(x.text.hidden_size);
  const auto tokens =
    number(x.text.vocab_size) + number(x.text.max_position_embeddings);
  const auto layer = width * (4 * width + 2 * number(x.text.intermediate_size));
  return width * (tokens + number(x.levels)) + number(x.text.layers) * layer;
}

core::result<prompt_classifier_files> open_prompt_classifier(
  const std::filesystem::path& folder) {
  using core::ec;
  using core::fail;
  const auto file = folder / "config.json";
  const auto text = detail::read_text(file, detail::most_config_bytes);
  if (!text)
    return text.why();
  auto config = read_prompt_classifier_config(*text, file.string());
  if (!config)
    return config.why();
  auto rest = open_judge_folder(folder, &config->encoder);
  if (!rest)
    return rest.why();
  // A large number in a small file must not make the network allocate memory.
  if (parameters_of(config->shape) > stored_bytes(*rest->weights))
    return fail(ec::bad_payload, "{}: fewer bytes than {} has parameters",
                rest->weights->where(), config->encoder.config_file);
  return prompt_classifier_files{std::move(*config), std::move(rest->words),
                                 std::move(rest->weights)};
}

} // namespace atelier::gpu
