// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/model_facts.hpp>
#include <atelier/runtime/profile_of.hpp>
#include <atelier/runtime/program_folder.hpp>

#include <algorithm>
#include <charconv>
#include <map>

namespace atelier::runtime {

core::result<planning::variant_profile> parse_variant(std::string_view name) {
  const auto bad = [&](std::string_view why) {
    return core::fail(core::ec::bad_config,
                      "variant '{}' is not model@steps or model@steps/dtype: "
                      "{}",
                      name, why);
  };
  const auto at = name.rfind('@');
  if (at == std::string_view::npos || at == 0)
    return bad("no model before an @");
  planning::variant_profile v;
  v.name = name;
  v.model = name.substr(0, at);
  auto rest = name.substr(at + 1);
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    const auto precision = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
    if (precision == "f32")
      v.precision = core::dtype::float32;
    else if (precision == "f16")
      v.precision = core::dtype::float16;
    else if (precision == "bf16")
      v.precision = core::dtype::bfloat16;
    else
      return bad("the element type is none of f32, f16, bf16");
  }
  const auto* end = rest.data() + rest.size();
  const auto parsed = std::from_chars(rest.data(), end, v.steps);
  if (parsed.ec != std::errc{} || parsed.ptr != end || v.steps == 0)
    return bad("the steps are no whole number above 0");
  return v;
}

namespace {

// What a test card costs beside its configured step: measured on two cores of
// an AMD EPYC, 2026-11-21; a prediction for watching, not a promise.
constexpr core::timespan card_step = std::chrono::milliseconds{1};
constexpr uint64_t card_px = 512ull * 512;

void describe_card(const config::device_settings& device,
                   planning::variant_profile& v) {
  v.native_px = {256, 256};
  v.step = {{1, card_px, device.test_card_step + card_step}};
  v.decode = std::chrono::milliseconds{5};
}

// Nothing is measured yet: a slow machine of the device's kind is assumed, so
// that no worker is taken for hung.
void describe_model(const config::model_settings& model,
                    const gpu::model_facts& facts, bool on_cpu,
                    planning::variant_profile& v) {
  v.native_px = facts.native_px;
  v.latent_channels = facts.latent_channels;
  v.latent_factor = facts.latent_factor;
  v.with = facts.with;
  v.karras = facts.karras;
  v.guidance = model.guidance >= 0 ? model.guidance : facts.guidance;
  const double per_second = on_cpu ? 2e10 : 2e12;
  // A guided step is two passes. A pass of SD 1.5 (860 million parameters) at
  // 64x64 takes about 0.8e12 operations: 0.23 for each parameter and place.
  const double places = static_cast<double>(facts.native_px.pixels())
                      / facts.latent_factor / facts.latent_factor;
  const double step = 2 * 0.23 * static_cast<double>(facts.denoiser_parameters)
                    * places / per_second;
  const auto took = std::chrono::duration_cast<core::timespan>(
    std::chrono::duration<double>{step + 0.05});
  v.step = {{1, facts.native_px.pixels(), took}};
  v.decode = 3 * took;
  v.memory_bytes = facts.parameters * core::bytes_of(v.precision);
}

core::result<gpu::model_facts> read_facts(const config::model_settings& x) {
  auto files = gpu::open_model(x.path, file_options_of(x));
  if (!files)
    return core::fail(files.why().code, "models: {}: {}", x.name,
                      files.why().text);
  auto facts = gpu::facts_of(*files);
  if (!facts)
    return core::fail(facts.why().code, "models: {}: {}", x.name,
                      facts.why().text);
  return facts;
}

} // namespace

gpu::model_file_options file_options_of(const config::model_settings& x) {
  gpu::model_file_options out;
  if (!x.vae.empty())
    out.vae = x.vae;
  out.variant = x.weights;
  out.vocabulary = vocabulary_folder();
  return out;
}

core::result<planning::profile> profile_of(const config::settings& x) {
  planning::profile known;
  known.prepare = std::chrono::milliseconds{5};
  known.finish = std::chrono::milliseconds{50};
  std::map<std::string_view, gpu::model_facts> models;
  for (const auto& device : x.devices) {
    for (const auto& name : device.variants) {
      if (planning::find_variant(known, name))
        continue;
      auto v = parse_variant(name);
      if (!v)
        return v.why();
      if (device.executor == "torch") {
        const auto model =
          std::find_if(x.models.begin(), x.models.end(),
                       [&](const auto& m) { return m.name == v->model; });
        if (model == x.models.end())
          return core::fail(core::ec::bad_config,
                            "variant '{}': there is no model '{}'", name,
                            v->model);
        auto facts = models.find(model->name);
        if (facts == models.end()) {
          auto read = read_facts(*model);
          if (!read)
            return read.why();
          facts = models.emplace(model->name, *read).first;
        }
        describe_model(*model, facts->second, device.name.starts_with("cpu"),
                       *v);
      } else {
        describe_card(device, *v);
      }
      known.variants.push_back(std::move(*v));
    }
  }
  return known;
}

} // namespace atelier::runtime
