// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/folder_links.hpp>
#include <atelier/gpu/models/files/detail/model_folder.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/unet/detail/single_file.hpp>
#include <atelier/gpu/models/vae/detail/vae_file.hpp>

#include <fmt/ranges.h>

namespace atelier::gpu {

namespace {

namespace fs = std::filesystem;
using core::ec;

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
         : detail::open_single_file(from, options);
}

core::result<component> open_vae(const fs::path& from, const model_files& model,
                                 const model_file_options& options) {
  std::error_code ignored;
  if (!fs::is_directory(from, ignored))
    return detail::open_vae_file(from, model.kind);
  if (!options.links_anywhere)
    if (auto good = detail::check_links(from); !good)
      return good.why();
  return detail::open_vae_folder(from, options.variant);
}

/// Fills what `x` lacks out of another model of the same kind.
core::result<void> borrow(model_files& x, const fs::path& from,
                          model_file_options options) {
  options.parts_from.reset();
  options.vae.reset();
  auto lender = open_parts(from, options);
  if (!lender)
    return lender.why();
  // A distilled denoiser goes into the model that it was distilled from.
  const bool same = lender->kind == x.kind
                 || (x.kind == pipeline_kind::latent_consistency
                     && lender->kind == pipeline_kind::stable_diffusion);
  if (!same)
    return core::fail(ec::bad_payload,
                      "{}: it is of kind {}, and cannot lend parts to one of "
                      "kind {}",
                      from.string(), to_string(lender->kind),
                      to_string(x.kind));
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
    x.force_zeros_for_empty_prompt = lender->force_zeros_for_empty_prompt;
    x.requires_aesthetics_score = lender->requires_aesthetics_score;
  }
  if (x.scheduler.empty()) {
    x.scheduler = std::move(lender->scheduler);
    x.scheduler_file = std::move(lender->scheduler_file);
  }
  return {};
}

} // namespace

std::string_view to_string(pipeline_kind x) {
  switch (x) {
    case pipeline_kind::stable_diffusion:
      return "stable_diffusion";
    case pipeline_kind::stable_diffusion_xl:
      return "stable_diffusion_xl";
    case pipeline_kind::stable_diffusion_xl_refiner:
      return "stable_diffusion_xl_refiner";
    case pipeline_kind::latent_consistency:
      return "latent_consistency";
  }
  return "unknown";
}

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
  return out;
}

std::vector<std::string> missing_parts(const model_files& x) {
  std::vector<std::string> out;
  const auto expect = [&](bool there, const char* name) {
    if (!there)
      out.emplace_back(name);
  };
  const bool xl = x.kind == pipeline_kind::stable_diffusion_xl
               || x.kind == pipeline_kind::stable_diffusion_xl_refiner;
  expect(x.unet.weights != nullptr, "unet");
  expect(x.vae.weights != nullptr, "vae");
  if (xl)
    expect(x.text_encoder_2.has_value(), "text_encoder_2");
  else
    expect(x.text_encoder.has_value(), "text_encoder");
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
