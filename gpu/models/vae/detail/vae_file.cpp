// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/inferred_config.hpp>
#include <atelier/gpu/models/files/detail/inferred_part.hpp>
#include <atelier/gpu/models/files/detail/tensor_collection.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>
#include <atelier/gpu/models/vae/detail/vae_file.hpp>
#include <atelier/gpu/models/vae/detail/vae_names.hpp>

#include <fmt/format.h>

namespace atelier::gpu::detail {

namespace {

namespace fs = std::filesystem;

vae_traits traits_of(const model_pipeline& of, uint64_t image_size) {
  return {.sample_size = image_size,
          .scaling_factor = has_size_vectors(of) ? 0.13025 : 0.18215,
          .force_upcast = has_size_vectors(of)};
}

} // namespace

std::optional<std::string_view> vae_prefix(
  const std::vector<std::string>& names) {
  for (const std::string_view x : {"first_stage_model.", "vae."})
    if (has_prefix(names, fmt::format("{}decoder.", x)))
      return x;
  return std::nullopt;
}

core::result<component> open_original_vae(
  const std::shared_ptr<const safetensors_file>& file, const fs::path& path,
  std::string_view prefix, const model_pipeline& of, uint64_t image_size) {
  std::vector<std::string> left_over;
  auto weights = name_original_vae(file, prefix, left_over);
  // The discriminators that it was trained against are not needed.
  const auto loss = fmt::format("{}loss.", prefix);
  std::erase_if(left_over, [&](const std::string& x) {
    return x.starts_with(loss) || x == "vae_ema.decay";
  });
  if (auto ok = expect_none(path, "autoencoder", left_over); !ok)
    return ok.why();
  auto config = infer_vae_config(*weights, traits_of(of, image_size));
  if (!config)
    return config.why();
  return inferred_part(*config, std::move(weights), path, "AutoencoderKL");
}

core::result<component> open_vae_file(const fs::path& file,
                                      const model_pipeline& of) {
  const auto opened = safetensors_file::open(file);
  if (!opened)
    return opened.why();
  const uint64_t image_size = has_size_vectors(of) ? 1024 : 512;
  const auto names = (*opened)->names();
  if (const auto prefix = vae_prefix(names))
    return open_original_vae(*opened, file, *prefix, of, image_size);
  if (has_prefix(names, "decoder.up."))
    return open_original_vae(*opened, file, {}, of, image_size);
  if (has_prefix(names, "decoder.layers."))
    return bad_file(file,
                    "an AutoencoderTiny needs its config.json beside it: name "
                    "the folder");
  if (!has_prefix(names, "decoder.up_blocks."))
    return bad_file(file, "it holds no autoencoder: no tensor decoder.up... or "
                          "decoder.up_blocks...");
  const auto weights = rename_old_attention(*opened);
  auto config = infer_vae_config(*weights, traits_of(of, image_size));
  if (!config)
    return config.why();
  return inferred_part(*config, weights, file, "AutoencoderKL");
}

} // namespace atelier::gpu::detail
