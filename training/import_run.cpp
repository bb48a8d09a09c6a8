// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/training/import_run.hpp>
#include <atelier/training/train.hpp>

#include <memory>

namespace atelier::gpu {

namespace {

namespace fs = std::filesystem;
using core::ec;
using core::fail;
using core::result;

/// One file of a model, and the prefix of its tensors' names in a training.
struct part_file {
  fs::path file;
  std::string prefix;
};

/// A part of a run, and the location of its tensors in the folder of models.
struct part_files {
  training_part part;
  /// The model whose card the part gets.
  std::string model;
  std::vector<part_file> files;
};

constexpr auto text_file = "text_encoder/model.safetensors";
constexpr auto network_file = "model.safetensors";
constexpr auto unet_file = "unet/diffusion_pytorch_model.safetensors";
constexpr auto vae_file = "vae/diffusion_pytorch_model.safetensors";
constexpr auto preview_file = "vae_preview/diffusion_pytorch_model.safetensors";

std::vector<part_files> all_parts() {
  const fs::path base{"base"};
  std::vector<part_files> out{
    {training_part::vae, "base", {{base / vae_file, ""}}},
    {training_part::text, "base", {{base / text_file, ""}}},
    {training_part::preview, "base", {{base / preview_file, ""}}}};
  for (const auto part : {training_part::base, training_part::small,
                          training_part::tiny, training_part::turbo}) {
    const std::string name{to_string(part)};
    const fs::path folder{name};
    out.push_back(
      {part,
       name,
       {{folder / text_file, "text_encoder."}, {folder / unet_file, "unet."}}});
  }
  for (const auto part : {training_part::scorer, training_part::discriminator,
                          training_part::classifier}) {
    const std::string name{to_string(part)};
    out.push_back({part, name, {{fs::path{name} / network_file, ""}}});
  }
  return out;
}

// Writes the part in float32, in which training runs.
result<void> write_part(const part_files& part, const run_import& what,
                        const fs::path& to) {
  const auto card = detail::read_text(what.from / part.model / "README.md",
                                      detail::most_config_bytes);
  if (!card)
    return card.why();
  std::vector<std::shared_ptr<const safetensors_file>> opened;
  std::vector<named_tensor> tensors;
  for (const auto& x : part.files) {
    auto file = safetensors_file::open(what.from / x.file);
    if (!file)
      return file.why();
    for (const auto& name : (*file)->names()) {
      const auto view = *(*file)->find(name);
      tensors.push_back({x.prefix + name, view,
                         is_floating(view.type)
                           ? std::optional{tensor_type::float32}
                           : std::nullopt});
    }
    opened.push_back(std::move(*file));
  }
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (error)
    return fail(ec::io_failed, "cannot make the folder {}: {}",
                to.parent_path().string(), error.message());
  return write_safetensors(
    to, tensors,
    {{"part", std::string{to_string(part.part)}}, {"card", *card}});
}

} // namespace

result<std::vector<std::string>> import_run(const run_import& what) {
  std::error_code error;
  if (!fs::exists(what.from / "base" / unet_file, error))
    return fail(ec::not_found, "{}: no model 'base' is in it",
                what.from.string());
  std::vector<std::string> out;
  for (const auto& part : all_parts()) {
    const std::string name{to_string(part.part)};
    const auto to = what.run / name / "weights.safetensors";
    if (fs::exists(to, error)
        || !fs::exists(what.from / part.files.back().file, error))
      continue;
    if (auto ok = write_part(part, what, to); !ok)
      return ok.why();
    out.push_back(name);
  }
  return out;
}

} // namespace atelier::gpu
