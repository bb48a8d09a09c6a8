// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/guarded.hpp>
#include <atelier/gpu/models/catalog/detail/folder_links.hpp>
#include <atelier/gpu/models/catalog/detail/model_folder.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/part_folder.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/vae/vae_file.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace atelier::gpu::detail {

namespace {

namespace fs = std::filesystem;
using core::ec;
using json = nlohmann::json;

/// A part's entry in model_index.json.
struct part {
  std::string name;
  /// Empty if the model lacks this part.
  std::string class_name;
};

bool is_folder(const fs::path& x) {
  std::error_code ignored;
  return fs::is_directory(x, ignored);
}

template <class Range>
bool contains(const Range& range, std::string_view x) {
  return std::find(range.begin(), range.end(), x) != range.end();
}

/// Lets the family set the values that depend on all parts together.
core::result<void> settle(model_files& x) {
  if (x.family->settle == nullptr)
    return {};
  return core::guarded("family", x.family->name, "settle",
                       [&] { return x.family->settle(x); });
}

/// Reads the folder's parts one after the other.
class folder_reader {
public:
  folder_reader(const fs::path& folder, const model_file_options& options)
    : folder_(folder), index_(folder / "model_index.json"), options_(options) {
    out_.from = folder;
  }

  core::result<model_files> read() {
    const auto object = read_object(index_);
    if (!object)
      return object.why();
    if (auto ok = read_class(*object); !ok)
      return ok.why();
    for (const auto& [key, value] : object->items()) {
      if (key.starts_with('_'))
        continue;
      auto ok =
        value.is_array() ? read_part(key, value) : read_setting(key, value);
      if (!ok)
        return ok.why();
    }
    if (auto ok = read_words(); !ok)
      return ok.why();
    if (auto ok = read_traits(); !ok)
      return ok.why();
    if (auto ok = read_preview(); !ok)
      return ok.why();
    if (auto ok = settle(out_); !ok)
      return ok.why();
    return std::move(out_);
  }

private:
  core::error bad(std::string_view key, std::string_view what) const {
    return core::fail(ec::bad_payload, "{}: {}: {}", index_.string(),
                      printable(key), what);
  }

  core::result<void> read_class(const json& object) {
    out_.class_name = text_at(object, "_class_name");
    const auto found = find_pipeline(out_.class_name);
    out_.family = found.of;
    out_.pipeline = found.pipeline;
    if (found.pipeline != nullptr)
      return {};
    std::vector<std::string_view> known;
    for (const auto* of : families())
      for (const auto* x : of->pipelines)
        for (const auto name : x->classes)
          if (!contains(known, name))
            known.push_back(name);
    return bad("_class_name",
               fmt::format("'{}' is not supported; these are: {}",
                           printable(out_.class_name), fmt::join(known, ", ")));
  }

  core::result<void> read_setting(const std::string& key, const json& value) {
    const auto& known = out_.family->settings;
    if (std::ranges::find(known, key, &model_setting::name) == known.end()) {
      // Neither key affects the image's content.
      if (key == "requires_safety_checker" || key == "add_watermarker")
        return {};
      return bad(key, "not a key that is supported");
    }
    if (!value.is_boolean())
      return bad(key, "neither true nor false");
    out_.settings.insert_or_assign(key, value.get<bool>());
    return {};
  }

  core::result<void> read_part(const std::string& key, const json& value) {
    const bool two = value.size() == 2;
    if (two && value[0].is_null() && value[1].is_null())
      return {};
    if (!two || !value[1].is_string()
        || !(value[0].is_string() || value[0].is_null()))
      return bad(key, "not a pair of a library and a class");
    out_.named_parts.push_back(key);
    return open_part(part{key, value[1].get<std::string>()});
  }

  core::result<void> open_part(const part& x) {
    if (x.name == "safety_checker" || x.name == "feature_extractor"
        || x.name == "image_encoder") {
      out_.not_loaded.push_back(x.name);
      return {};
    }
    if (x.name == out_.family->denoiser_part)
      return open_network(x, {out_.family->denoiser_class}, out_.denoiser,
                          open_diffusers_part);
    if (x.name == "vae")
      return options_.vae
             ? core::result<void>{}
             : open_network(x, {"AutoencoderKL", "AutoencoderTiny"}, out_.vae,
                            open_vae_part);
    if (x.name == "text_encoder")
      return open_encoder(x, out_.text_encoder);
    if (x.name == "text_encoder_2")
      return open_encoder(x, out_.text_encoder_2);
    if (x.name == "tokenizer")
      return open_tokenizer(x, out_.tokenizer);
    if (x.name == "tokenizer_2")
      return open_tokenizer(x, out_.tokenizer_2);
    if (x.name == "scheduler")
      return open_scheduler();
    return bad(x.name, fmt::format("a part ({}) that is not supported",
                                   printable(x.class_name)));
  }

  core::result<void> check_class(
    const part& x, const std::vector<std::string_view>& classes) const {
    if (contains(classes, x.class_name))
      return {};
    return bad(x.name,
               fmt::format("class {} is not supported; these are: {}",
                           printable(x.class_name), fmt::join(classes, ", ")));
  }

  core::result<void> open_network(const part& x,
                                  const std::vector<std::string_view>& classes,
                                  component& into,
                                  decltype(open_diffusers_part)& open) {
    if (auto ok = check_class(x, classes); !ok)
      return ok;
    // A later check reports it with all other missing parts.
    if (!is_folder(folder_ / x.name))
      return {};
    auto opened = open(folder_ / x.name, x.class_name, options_.variant);
    if (!opened)
      return opened.why();
    into = std::move(*opened);
    return {};
  }

  core::result<void> open_encoder(const part& x,
                                  std::optional<component>& into) {
    if (auto ok =
          check_class(x, {"CLIPTextModel", "CLIPTextModelWithProjection"});
        !ok)
      return ok;
    if (!is_folder(folder_ / x.name))
      return {};
    auto opened =
      open_transformers_part(folder_ / x.name, x.class_name, options_.variant);
    if (!opened)
      return opened.why();
    into = std::move(*opened);
    return {};
  }

  core::result<void> open_tokenizer(const part& x,
                                    std::optional<tokenizer_files>& into) {
    if (auto ok = check_class(x, {"CLIPTokenizer", "CLIPTokenizerFast"}); !ok)
      return ok;
    auto found = find_tokenizer(folder_ / x.name);
    if (!found)
      return found.why();
    into = std::move(*found);
    return {};
  }

  core::result<void> open_scheduler() {
    const auto file = folder_ / "scheduler" / "scheduler_config.json";
    auto text = read_if_there(file);
    if (!text)
      return text.why();
    if (!*text)
      return {};
    if (auto config = parse_object(**text, file.string()); !config)
      return config.why();
    out_.scheduler = std::move(**text);
    out_.scheduler_file = file.string();
    return {};
  }

  core::result<void> read_words() {
    const auto text = read_if_there(folder_ / "known_words.txt");
    if (!text)
      return text.why();
    if (*text)
      out_.words = known_words{**text};
    return {};
  }

  core::result<void> read_traits() {
    const auto file = folder_ / traits_file;
    const auto text = read_if_there(file);
    if (!text)
      return text.why();
    if (!*text)
      return {};
    auto read = parse_traits(**text, file.string());
    if (!read)
      return read.why();
    out_.traits = *read;
    return {};
  }

  // Reads the preview coder of the model's own autoencoder. It is not part of
  // diffusers' pipelines, which ignore it.
  core::result<void> read_preview() {
    const auto folder = folder_ / "vae_preview";
    if (options_.vae || !is_there(folder / "config.json"))
      return {};
    auto opened =
      open_diffusers_part(folder, "AutoencoderTiny", options_.variant);
    if (!opened)
      return opened.why();
    out_.preview = std::move(*opened);
    return {};
  }

  const fs::path& folder_;
  fs::path index_;
  const model_file_options& options_;
  model_files out_;
};

/// The class of a denoiser whose configuration names none.
constexpr std::string_view unnamed_denoiser = "UNet2DConditionModel";

/// Opens a folder that has a denoiser's config.json but no model_index.json.
core::result<model_files> open_lone_denoiser(
  const fs::path& folder, const model_file_options& options) {
  const auto file = folder / "config.json";
  const auto config = read_object(file);
  if (!config)
    return config.why();
  const auto named = text_at(*config, "_class_name");
  model_files out;
  out.from = folder;
  out.family =
    find_denoiser(named.empty() ? unnamed_denoiser : std::string_view{named});
  if (out.family == nullptr) {
    std::vector<std::string_view> known;
    for (const auto* x : families())
      known.push_back(x->denoiser_class);
    return core::fail(ec::bad_payload,
                      "{}: _class_name: '{}' is not supported as a denoiser; "
                      "these are: {}",
                      file.string(), printable(named), fmt::join(known, ", "));
  }
  auto denoiser =
    open_diffusers_part(folder, out.family->denoiser_class, options.variant);
  if (!denoiser)
    return denoiser.why();
  out.denoiser = std::move(*denoiser);
  if (auto ok = settle(out); !ok)
    return ok.why();
  if (out.pipeline == nullptr)
    out.pipeline = out.family->pipelines.front();
  return out;
}

} // namespace

core::result<model_files> open_model_folder(const fs::path& folder,
                                            const model_file_options& options) {
  if (!options.links_anywhere)
    if (auto good = check_links(folder); !good)
      return good.why();
  if (is_there(folder / "model_index.json"))
    return folder_reader{folder, options}.read();
  if (is_there(folder / "config.json"))
    return open_lone_denoiser(folder, options);
  return core::fail(ec::not_found,
                    "{}: not a model: neither model_index.json nor config.json",
                    folder.string());
}

} // namespace atelier::gpu::detail
