// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/model_import.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/output_file.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/files/staging_folder.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

namespace atelier::gpu {

namespace {

namespace fs = std::filesystem;
using core::ec;
using json = nlohmann::ordered_json;

// Limit for a vocabulary's file; the largest of CLIP's has 4 MB.

/// One network and its destination.
struct part {
  std::string name;
  const gpu::component* component;
  /// The file name that the library looks for.
  std::string file;
};

std::vector<part> parts_of(const model_files& x) {
  constexpr auto* diffusers = "diffusion_pytorch_model.safetensors";
  constexpr auto* transformers = "model.safetensors";
  std::vector<part> out{
    {std::string{x.family->denoiser_part}, &x.denoiser, diffusers},
    {"vae", &x.vae, diffusers}};
  if (x.preview)
    out.push_back({"vae_preview", &*x.preview, diffusers});
  if (x.text_encoder)
    out.push_back({"text_encoder", &*x.text_encoder, transformers});
  if (x.text_encoder_2)
    out.push_back({"text_encoder_2", &*x.text_encoder_2, transformers});
  return out;
}

tensor_type written_type(const tensor_view& x, const import_options& options) {
  return is_floating(x.type) ? options.as.value_or(x.type) : x.type;
}

json pair_of(const char* library, const std::string& class_name) {
  return json::array({library, class_name});
}

std::string index_text(const model_files& x) {
  json out;
  const json none = json::array({nullptr, nullptr});
  out["_class_name"] = x.pipeline->classes.front();
  out["feature_extractor"] = none;
  out["image_encoder"] = none;
  for (const auto name : x.pipeline->written_settings)
    out[std::string{name}] = setting_of(x, name);
  out.update(json::parse(x.pipeline->written_index));
  const auto schedule = nlohmann::json::parse(x.scheduler, nullptr, false);
  out["scheduler"] =
    pair_of("diffusers", detail::text_at(schedule, "_class_name"));
  const auto add_text = [&](const std::string& suffix, const auto& encoder,
                            const auto& words) {
    if (!encoder && !x.pipeline->writes_missing_text)
      return;
    out["text_encoder" + suffix] =
      encoder ? pair_of("transformers", encoder->class_name) : none;
    out["tokenizer" + suffix] =
      words ? pair_of("transformers", "CLIPTokenizer") : none;
  };
  add_text("", x.text_encoder, x.tokenizer);
  add_text("_2", x.text_encoder_2, x.tokenizer_2);
  out[std::string{x.family->denoiser_part}] =
    pair_of("diffusers", x.denoiser.class_name);
  out["vae"] = pair_of("diffusers", x.vae.class_name);
  return out.dump(2) + '\n';
}

core::result<void> write_text(const fs::path& file, std::string_view text) {
  auto to = detail::output_file::create(file);
  if (!to)
    return to.why();
  if (auto ok = to->write(std::as_bytes(std::span{text})); !ok)
    return ok;
  return to->finish();
}

core::result<void> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (error)
    return core::fail(ec::io_failed, "{}: {}", folder.string(),
                      error.message());
  return {};
}

core::result<void> write_tokenizer(const fs::path& folder,
                                   const tokenizer_files& x) {
  if (auto ok = make_folder(folder); !ok)
    return ok;
  // Older tokenizers have it beside their vocabulary.
  std::error_code error;
  const auto added = x.words().parent_path() / "added_tokens.json";
  const fs::path none;
  for (const auto& [from, name] :
       {std::pair{&x.vocab, "vocab.json"}, std::pair{&x.merges, "merges.txt"},
        std::pair{&x.tokenizer_json, "tokenizer.json"},
        std::pair{fs::exists(added, error) ? &added : &none,
                  "added_tokens.json"}}) {
    if (from->empty())
      continue;
    const auto text = detail::read_text(*from, detail::most_vocabulary_bytes);
    if (!text)
      return text.why();
    if (auto ok = write_text(folder / name, *text); !ok)
      return ok;
  }
  for (const auto& [text, name] :
       {std::pair{&x.config, "tokenizer_config.json"},
        std::pair{&x.special_tokens, "special_tokens_map.json"}})
    if (!text->empty())
      if (auto ok = write_text(folder / name, *text); !ok)
        return ok;
  return {};
}

/// Writes one part after another, and counts the bytes.
class importer {
public:
  importer(const model_files& model, const import_options& options)
    : model_(model), options_(options), parts_(parts_of(model)) {
    for (const auto& x : parts_)
      for (const auto& name : x.component->weights->names()) {
        const auto view = *x.component->weights->find(name);
        all_ += elements_of(view) * bytes_of(written_type(view, options_));
      }
  }

  core::result<void> check() const {
    for (const auto& x : parts_)
      if (auto good = detail::check_network(*x.component); !good)
        return good;
    for (const auto& [words, encoder] :
         {std::pair{&model_.tokenizer, &model_.text_encoder},
          std::pair{&model_.tokenizer_2, &model_.text_encoder_2}})
      if (*words)
        if (auto good = load_words(**words, *encoder ? &**encoder : nullptr);
            !good)
          return good.why();
    if (auto good = parse_scheduler(model_.scheduler, model_.scheduler_file);
        !good)
      return good.why();
    if (auto fit = facts_by_family(model_); !fit)
      return fit.why();
    return {};
  }

  core::result<void> check_room(const fs::path& folder) const {
    std::error_code error;
    const auto room = fs::space(folder, error);
    if (!error && room.available < all_)
      return core::fail(ec::out_of_resources,
                        "{}: {} bytes are needed, {} are free", folder.string(),
                        all_, room.available);
    return {};
  }

  core::result<void> write(const fs::path& folder) {
    for (const auto& x : parts_)
      if (auto ok = write_part(folder / x.name, x); !ok)
        return ok;
    for (const auto& [words, name] :
         {std::pair{&model_.tokenizer, "tokenizer"},
          std::pair{&model_.tokenizer_2, "tokenizer_2"}})
      if (*words)
        if (auto ok = write_tokenizer(folder / name, **words); !ok)
          return ok;
    if (auto ok = make_folder(folder / "scheduler"); !ok)
      return ok;
    if (auto ok = write_text(folder / "scheduler" / "scheduler_config.json",
                             model_.scheduler);
        !ok)
      return ok;
    if (!model_.words.empty())
      if (auto ok = write_text(folder / "known_words.txt", model_.words.text());
          !ok)
        return ok;
    if (model_.traits != model_traits{})
      if (auto ok = write_text(folder / traits_file, to_text(model_.traits));
          !ok)
        return ok;
    return write_text(folder / "model_index.json", index_text(model_));
  }

private:
  core::result<void> write_part(const fs::path& folder, const part& x) {
    if (auto ok = make_folder(folder); !ok)
      return ok;
    if (auto ok = write_text(folder / "config.json", x.component->config); !ok)
      return ok;
    std::vector<named_tensor> tensors;
    for (auto& name : x.component->weights->names()) {
      auto view = *x.component->weights->find(name);
      const auto type = written_type(view, options_);
      tensors.push_back({std::move(name), std::move(view), type});
    }
    uint64_t written = 0;
    const auto proceed = [&](uint64_t bytes) {
      written = bytes;
      return !options_.proceed || options_.proceed(done_ + bytes, all_);
    };
    // Transformers rejects a file that does not name its framework.
    auto ok =
      write_safetensors(folder / x.file, tensors, {{"format", "pt"}}, proceed);
    if (!ok && ok.why().code != ec::io_failed)
      return core::fail(ok.why().code, "{}: {}", x.component->weights->where(),
                        ok.why().text);
    done_ += written;
    return ok;
  }

  const model_files& model_;
  const import_options& options_;
  std::vector<part> parts_;
  uint64_t all_ = 0;
  uint64_t done_ = 0;
};

/// Checks that the target does not exist or may be replaced.
core::result<void> check_target(const fs::path& to, bool replace) {
  std::error_code error;
  const auto status = fs::symlink_status(to, error);
  if (!fs::exists(status))
    return {};
  if (!replace)
    return core::fail(ec::invalid_argument, "{} exists already", to.string());
  if (fs::is_directory(status) && !fs::exists(to / "model_index.json", error)
      && !fs::is_empty(to, error))
    return core::fail(ec::invalid_argument,
                      "{}: not a model (it has no model_index.json), so that "
                      "it is not replaced",
                      to.string());
  return {};
}

} // namespace

core::result<void> import_model(const fs::path& from, const fs::path& to,
                                const import_options& options) {
  if (options.as && !is_floating(*options.as))
    return core::fail(ec::invalid_argument, "{} is not a floating-point type",
                      to_string(*options.as));
  if (to.filename().empty())
    return core::fail(ec::invalid_argument, "'{}' is not the name of a folder",
                      to.string());
  if (auto ok = check_target(to, options.replace); !ok)
    return ok;
  const auto model = open_model(from, options.open);
  if (!model)
    return model.why();
  importer work{*model, options};
  if (auto ok = work.check(); !ok)
    return ok;
  auto staging = detail::staging_folder::create(to);
  if (!staging)
    return staging.why();
  if (auto ok = work.check_room(staging->path()); !ok)
    return ok;
  if (auto ok = work.write(staging->path()); !ok)
    return ok;
  return staging->publish(options.replace);
}

} // namespace atelier::gpu
