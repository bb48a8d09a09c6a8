// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/profile_of.hpp>

#include <charconv>

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

planning::profile profile_of(const config::settings& x) {
  // What a test card costs beside its configured step: measured on two cores
  // of an AMD EPYC, 2026-11-21; a prediction for watching, not a promise.
  constexpr core::timespan card_step = std::chrono::milliseconds{1};
  constexpr uint64_t card_px = 512ull * 512;
  planning::profile known;
  known.prepare = std::chrono::milliseconds{5};
  known.finish = std::chrono::milliseconds{50};
  known.source = std::chrono::milliseconds{100};
  for (const auto& device : x.devices) {
    for (const auto& name : device.variants) {
      if (planning::find_variant(known, name))
        continue;
      auto v = parse_variant(name);
      if (!v)
        continue;
      v->native_px = {256, 256};
      v->step = {{1, card_px, device.test_card_step + card_step}};
      v->decode = std::chrono::milliseconds{5};
      known.variants.push_back(std::move(*v));
    }
  }
  return known;
}

} // namespace atelier::runtime
