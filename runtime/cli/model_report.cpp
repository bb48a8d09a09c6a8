// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/json_text.hpp>
#include <atelier/gpu/captions/scene_vocabulary.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/runtime/cli/model_report.hpp>

#include <fmt/ranges.h>

#include <array>
#include <set>

namespace atelier::runtime::cli {

namespace {

std::string_view name_of(gpu::tensor_type x) {
  switch (x) {
    case gpu::tensor_type::float64:
      return "float64";
    case gpu::tensor_type::float32:
      return "float32";
    case gpu::tensor_type::float16:
      return "float16";
    case gpu::tensor_type::bfloat16:
      return "bfloat16";
    default:
      return gpu::to_string(x);
  }
}

part_outline outline_of(const std::string& part, const gpu::component& x,
                        std::set<std::string>& all_types) {
  part_outline out;
  out.part = part;
  out.class_name = x.class_name;
  out.config_file = x.config_file;
  out.config = x.config;
  for (const auto& file : x.files)
    out.files.push_back(file.string());
  std::set<std::string> types;
  for (const auto& name : x.weights->names()) {
    const auto view = *x.weights->find(name);
    ++out.tensors;
    out.parameters += gpu::elements_of(view);
    out.bytes += view.bytes.size();
    if (gpu::is_floating(view.type))
      types.emplace(name_of(view.type));
  }
  out.precision = fmt::format("{}", fmt::join(types, ", "));
  all_types.merge(types);
  return out;
}

/// Returns "DDIMScheduler, epsilon".
std::string show_scheduler(const std::string& text) {
  const auto x = nlohmann::json::parse(text, nullptr, false);
  std::vector<std::string> words;
  for (const auto* key : {"_class_name", "prediction_type"})
    if (x.is_object() && x.contains(key) && x[key].is_string())
      words.push_back(x[key].get<std::string>());
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string joined(const std::vector<std::string>& x) {
  return fmt::format("{}", fmt::join(x, ", "));
}

std::vector<std::string> part_names(const model_outline& x) {
  std::vector<std::string> out;
  for (const auto& part : x.parts)
    out.push_back(part.part);
  return out;
}

/// The words of each kind, with those that stand for others.
json_object vocabulary_json() {
  auto out = json_object::object();
  auto synonyms = json_object::object();
  for (const auto& group : gpu::scene_vocabulary()) {
    auto& words = out[std::string{group.name}] = json_object::array();
    for (const auto& x : group.words) {
      words.push_back(x.word);
      for (const auto other : x.also)
        synonyms[std::string{other}] = x.word;
    }
  }
  out["synonyms"] = std::move(synonyms);
  return out;
}

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (const char c : text)
    out += c == '\n' ? std::string{"\n    "} : std::string{c};
  return out + '\n';
}

} // namespace

model_outline outline_of(const stored_model& where,
                         const gpu::model_files& model) {
  model_outline out;
  out.name = where.name;
  out.path = where.path.string();
  out.shipped = where.shipped;
  out.kind = model.pipeline->name;
  out.bytes = bytes_on_disk(where.path);
  std::set<std::string> types;
  if (model.denoiser.weights)
    out.parts.push_back(outline_of(std::string{model.family->denoiser_part},
                                   model.denoiser, types));
  if (model.vae.weights)
    out.parts.push_back(outline_of("vae", model.vae, types));
  if (model.preview)
    out.parts.push_back(outline_of("vae_preview", *model.preview, types));
  if (model.text_encoder)
    out.parts.push_back(outline_of("text_encoder", *model.text_encoder, types));
  if (model.text_encoder_2)
    out.parts.push_back(
      outline_of("text_encoder_2", *model.text_encoder_2, types));
  out.precision = fmt::format("{}", fmt::join(types, ", "));
  out.scheduler = model.scheduler;
  if (model.tokenizer)
    out.tokenizers.emplace_back("tokenizer");
  if (model.tokenizer_2)
    out.tokenizers.emplace_back("tokenizer_2");
  out.not_loaded = model.not_loaded;
  out.traits = model.traits;
  out.missing = gpu::missing_parts(model);
  return out;
}

json_object to_short_json(const model_outline& x) {
  return {{"name", x.name},           {"path", x.path},
          {"kind", x.kind},           {"bytes", x.bytes},
          {"precision", x.precision}, {"parts", part_names(x)},
          {"missing", x.missing},     {"shipped", x.shipped}};
}

json_object to_json(const model_outline& x) {
  auto out = to_short_json(x);
  out["parts"] = json_object::array();
  for (const auto& part : x.parts)
    out["parts"].push_back(
      {{"part", part.part},
       {"class", part.class_name},
       {"files", part.files},
       {"tensors", part.tensors},
       {"parameters", part.parameters},
       {"bytes", part.bytes},
       {"precision", part.precision},
       {"config_file", part.config_file},
       {"config", json_object::parse(part.config, nullptr, false)}});
  out["scheduler"] = x.scheduler.empty()
                     ? json_object()
                     : json_object::parse(x.scheduler, nullptr, false);
  out["tokenizers"] = x.tokenizers;
  out["native_only"] = x.traits.native_only;
  out["most_guidance"] = x.traits.most_guidance
                         ? json_object(*x.traits.most_guidance)
                         : json_object();
  if (x.traits.captions == gpu::caption_kind::scenes)
    out["vocabulary"] = vocabulary_json();
  out["not_loaded"] = x.not_loaded;
  return out;
}

json_object to_json(const stored_model& where, const gpu::model_check& x) {
  json_object out{
    {"name", where.name},
    {"path", where.path.string()},
    {"sound", x.sound()},
    {"kind", x.model ? json_object(x.model->pipeline->name) : json_object()},
    {"tensors", x.tensors},
    {"parameters", x.parameters},
    {"non_finite", x.non_finite},
    {"files", json_object::array()},
    {"findings", json_object::array()}};
  for (const auto& file : x.files) {
    json_object entry{{"path", file.path.string()}, {"bytes", file.bytes}};
    if (!file.sha256.empty())
      entry["sha256"] = file.sha256;
    out["files"].push_back(std::move(entry));
  }
  for (const auto& finding : x.findings) {
    const bool problem = finding.severity == gpu::model_finding::grade::problem;
    out["findings"].push_back(
      {{"state", problem ? "problem" : "note"}, {"text", finding.text}});
  }
  return out;
}

std::string list_header() {
  return fmt::format("{:24} {:8} {:28} {:>10}  {:18} {}\n", "name", "from",
                     "kind", "size", "precision", "parts");
}

std::string to_line(const model_outline& x) {
  auto parts = joined(part_names(x));
  if (!x.missing.empty())
    parts += " (missing: " + joined(x.missing) + ")";
  return fmt::format("{:24} {:8} {:28} {:>10}  {:18} {}\n", x.name,
                     x.shipped ? "Atelier" : "you", x.kind, show_bytes(x.bytes),
                     x.precision, parts);
}

std::string to_text(const model_outline& x) {
  const auto row = [](std::string_view key, std::string_view value) {
    return value.empty() ? std::string{}
                         : fmt::format("{:12} {}\n", key, value);
  };
  auto out = row("name", x.name) + row("path", x.path) + row("kind", x.kind)
           + row("size", show_bytes(x.bytes)) + row("precision", x.precision)
           + row("scheduler", show_scheduler(x.scheduler))
           + row("tokenizers", joined(x.tokenizers))
           + row("not loaded", joined(x.not_loaded))
           + row("missing", joined(x.missing));
  if (x.traits.native_only)
    out += row("draws at", "only its own size; others are scaled");
  if (x.traits.most_guidance)
    out += row("guidance", fmt::format("up to {}", *x.traits.most_guidance));
  if (x.traits.captions == gpu::caption_kind::scenes)
    out += "\n" + gpu::vocabulary_table();
  for (const auto& part : x.parts) {
    out += fmt::format("\n{}: {}, {} tensors, {} parameters, {}, {}\n",
                       part.part, part.class_name, part.tensors,
                       part.parameters, show_bytes(part.bytes), part.precision);
    const auto config = json_object::parse(part.config, nullptr, false);
    out += indented(core::json_text(config, 2));
  }
  return out;
}

std::string to_text(const gpu::model_check& x) {
  std::string out;
  for (const auto& file : x.files)
    if (!file.sha256.empty())
      out += fmt::format("{}  {}\n", file.sha256, file.path.string());
  for (const auto& finding : x.findings)
    out += fmt::format("{:8} {}\n",
                       finding.severity == gpu::model_finding::grade::problem
                         ? "problem"
                         : "note",
                       finding.text);
  return out
       + fmt::format("{}: {} files, {} tensors, {} parameters\n",
                     x.sound() ? "sound" : "not sound", x.files.size(),
                     x.tensors, x.parameters);
}

std::string show_bytes(uint64_t bytes) {
  constexpr std::array units = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t i = 0;
  while (value >= 999.5 && i + 1 < units.size()) {
    value /= 1000;
    ++i;
  }
  if (i == 0)
    return fmt::format("{} B", bytes);
  return fmt::format("{:.{}f} {}", value,
                     value < 9.995   ? 2
                     : value < 99.95 ? 1
                                     : 0,
                     units[i]);
}

std::string to_line(const json_object& x) {
  // A path may be any bytes; JSON may not.
  return core::json_text(x);
}

} // namespace atelier::runtime::cli
