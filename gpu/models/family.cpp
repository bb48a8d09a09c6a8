// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/guarded.hpp>
#include <atelier/gpu/models/family.hpp>

#include <algorithm>

namespace atelier::gpu {

bool setting_of(const model_files& x, std::string_view name) {
  if (const auto at = x.settings.find(name); at != x.settings.end())
    return at->second;
  const auto& known = x.family->settings;
  const auto row = std::ranges::find(known, name, &model_setting::name);
  ATELIER_EXPECTS(row != known.end(), "the family has that setting");
  return row->otherwise;
}

core::extent native_extent(const denoiser_facts& denoiser, uint32_t factor) {
  const auto side = static_cast<uint32_t>(denoiser.latent_side) * factor;
  return {side, side};
}

core::result<denoiser_facts> facts_by_family(const model_files& model) {
  auto out = core::guarded("family", model.family->name, "facts",
                           [&] { return model.family->facts(model); });
  if (!out || out->latent_channels == 0)
    return out;
  const auto vae = read_autoencoder_config(model.vae);
  if (!vae)
    return vae.why();
  if (out->latent_channels != vae->latent_channels)
    return core::fail(core::ec::bad_config,
                      "{}: in_channels {}, but the autoencoder's latents have "
                      "{} ({})",
                      model.denoiser.config_file, out->latent_channels,
                      vae->latent_channels, model.vae.config_file);
  return out;
}

} // namespace atelier::gpu
