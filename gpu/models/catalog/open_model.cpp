// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/guarded.hpp>
#include <atelier/core/samplers.hpp>
#include <atelier/gpu/models/catalog/detail/folder_links.hpp>
#include <atelier/gpu/models/catalog/detail/model_folder.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/vae/vae_file.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

namespace {

namespace fs = std::filesystem;
using core::ec;

/// Opens a single file by the family that knows it. If none does, the first
/// family that reads files reports the error.
core::result<model_files> open_file(const fs::path& from,
                                    const model_file_options& options) {
  auto file = safetensors_file::open(from);
  if (!file)
    return file.why();
  const auto names = (*file)->names();
  const family* reader = nullptr;
  for (const auto* x : families()) {
    if (x->open_file == nullptr)
      continue;
    const auto knows = core::guarded(
      "family", x->name, "knows_file",
      [&]() -> core::result<bool> { return x->knows_file(names); });
    if (!knows)
      return knows.why();
    if (reader == nullptr || *knows)
      reader = x;
  }
  auto out = core::guarded("family", reader->name, "open_file", [&] {
    return reader->open_file(std::move(*file), from, options);
  });
  if (out)
    out->family = reader;
  return out;
}

core::result<model_files> open_either(const fs::path& from,
                                      const model_file_options& options) {
  std::error_code error;
  const auto status = fs::status(from, error);
  if (status.type() == fs::file_type::not_found)
    return core::fail(ec::not_found, "{}: no such file or folder",
                      from.string());
  if (error)
    return core::fail(ec::io_failed, "{}: {}", from.string(), error.message());
  return status.type() == fs::file_type::directory
         ? detail::open_model_folder(from, options)
         : open_file(from, options);
}

core::result<component> open_vae(const fs::path& from, const model_files& model,
                                 const model_file_options& options) {
  std::error_code ignored;
  if (!fs::is_directory(from, ignored))
    return detail::open_vae_file(from, model.pipeline->single_file_vae);
  if (!options.links_anywhere)
    if (auto good = detail::check_links(from); !good)
      return good.why();
  return detail::open_vae_folder(from, options.variant);
}

/// Fills in the missing parts of `x` from another model of the same kind.
core::result<void> borrow(model_files& x, const fs::path& from,
                          model_file_options options) {
  options.parts_from.reset();
  options.vae.reset();
  auto lender = open_parts(from, options);
  if (!lender)
    return lender.why();
  // A distilled denoiser can use the parts of the model it was distilled from.
  const bool same =
    lender->pipeline == x.pipeline || lender->pipeline == x.pipeline->teacher;
  if (!same)
    return core::fail(
      ec::bad_payload,
      "{}: it is of kind {}, and cannot supply parts to one of kind {}",
      from.string(), lender->pipeline->name, x.pipeline->name);
  if (!x.vae.weights) {
    x.vae = std::move(lender->vae);
    x.preview = std::move(lender->preview);
  }
  if (!x.text_encoder && !x.text_encoder_2) {
    x.text_encoder = std::move(lender->text_encoder);
    x.text_encoder_2 = std::move(lender->text_encoder_2);
    x.tokenizer = std::move(lender->tokenizer);
    x.tokenizer_2 = std::move(lender->tokenizer_2);
    x.words = std::move(lender->words);
    x.traits.captions = lender->traits.captions;
    x.settings = std::move(lender->settings);
  }
  if (x.scheduler.empty()) {
    x.scheduler = std::move(lender->scheduler);
    x.scheduler_file = std::move(lender->scheduler_file);
  }
  return {};
}

/// Replaces keys of the noise schedule by what the options say.
core::result<void> change_schedule(model_files& x,
                                   const model_file_options& options) {
  const std::pair<const char*, const std::string*> wanted[] = {
    {"prediction_type", &options.prediction_type},
    {"timestep_spacing", &options.timestep_spacing}};
  for (const auto& [key, value] : wanted) {
    if (value->empty() || x.scheduler.empty())
      continue;
    auto object = detail::parse_object(x.scheduler, x.scheduler_file);
    if (!object)
      return object.why();
    const auto runs =
      core::parse_diffusers_sampler(detail::text_at(*object, "_class_name"));
    if (runs && row_of(*runs).matches_flow)
      return core::fail(ec::invalid_argument,
                        "{}: '{}' has no meaning for a model that predicts "
                        "flow",
                        key, detail::printable(*value));
    (*object)[key] = *value;
    x.scheduler = object->dump(2);
  }
  return {};
}

} // namespace

core::result<model_files> open_parts(const fs::path& from,
                                     const model_file_options& options) {
  auto out = open_either(from, options);
  if (!out)
    return out;
  if (options.vae) {
    auto vae = open_vae(*options.vae, *out, options);
    if (!vae)
      return vae.why();
    out->vae = std::move(*vae);
  }
  if (options.parts_from)
    if (auto ok = borrow(*out, *options.parts_from, options); !ok)
      return ok.why();
  if (auto ok = change_schedule(*out, options); !ok)
    return ok.why();
  return out;
}

std::vector<std::string> missing_parts(const model_files& x) {
  std::vector<std::string> out;
  const auto expect = [&](bool there, std::string_view name) {
    if (!there)
      out.emplace_back(name);
  };
  expect(x.denoiser.weights != nullptr, x.family->denoiser_part);
  expect(x.vae.weights != nullptr, "vae");
  if (x.pipeline->text_encoder)
    expect(x.text_encoder.has_value(), "text_encoder");
  if (x.pipeline->text_encoder_2)
    expect(x.text_encoder_2.has_value(), "text_encoder_2");
  if (x.text_encoder)
    expect(x.tokenizer.has_value(), "tokenizer");
  if (x.text_encoder_2)
    expect(x.tokenizer_2.has_value(), "tokenizer_2");
  expect(!x.scheduler.empty(), "scheduler");
  return out;
}

core::result<model_files> open_model(const fs::path& from,
                                     const model_file_options& options) {
  auto out = open_parts(from, options);
  if (!out)
    return out;
  const auto missing = missing_parts(*out);
  if (missing.empty())
    return out;
  std::error_code ignored;
  const bool only_words = missing.front().starts_with("tokenizer")
                       && !fs::is_directory(from, ignored);
  return core::fail(
    ec::not_found, "{}: {} missing{}", from.string(), fmt::join(missing, ", "),
    only_words ? ": a single file holds no vocabulary, so that a folder "
                 "with CLIP's vocab.json and merges.txt must be named"
               : "");
}

} // namespace atelier::gpu
