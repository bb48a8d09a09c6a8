// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/profile.hpp>
#include <atelier/planning/step_table.hpp>

#include <algorithm>
#include <charconv>

namespace atelier::planning {

core::result<variant_profile> parse_variant(std::string_view name) {
  const auto bad = [&](std::string_view why) {
    return core::fail(core::ec::bad_config,
                      "variant '{}' is not model@steps or model@steps/dtype: "
                      "{}",
                      name, why);
  };
  const auto at = name.rfind('@');
  if (at == std::string_view::npos || at == 0)
    return bad("no model before an @");
  variant_profile v;
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
      return bad("the element type is not one of f32, f16, bf16");
  }
  const auto* end = rest.data() + rest.size();
  const auto parsed = std::from_chars(rest.data(), end, v.steps);
  if (parsed.ec != std::errc{} || parsed.ptr != end || v.steps == 0)
    return bad("the steps are not a whole number above 0");
  return v;
}

std::optional<core::variant_id> find_variant(const profile& p,
                                             std::string_view name) {
  const auto find = [&](auto field) -> std::optional<core::variant_id> {
    for (size_t i = 0; i < p.variants.size(); ++i)
      if (p.variants[i].*field == name)
        return core::variant_id{static_cast<uint32_t>(i)};
    return std::nullopt;
  };
  if (const auto exact = find(&variant_profile::name))
    return exact;
  return find(&variant_profile::model);
}

core::timespan step_time(const variant_profile& v, uint32_t batch,
                         core::extent px) {
  return step_table{v.step}.at(batch, px);
}

core::timespan prepare_time(const profile& p, const core::request& wanted) {
  if (!wanted.source)
    return p.prepare;
  const auto megapixels = static_cast<double>(wanted.source->pixels()) / 1e6;
  return p.prepare
       + core::from_seconds(core::to_seconds(p.source) * megapixels);
}

core::timespan time_for(const stage_cost& of, core::extent px) {
  return of.each
       + core::from_seconds(core::to_seconds(of.per_megapixel)
                            * static_cast<double>(px.pixels()) / 1e6);
}

std::optional<core::timespan> stage_time(const profile& p,
                                         std::string_view stage,
                                         core::extent px) {
  for (const auto& x : p.stages)
    if (x.name == stage)
      return time_for(x, px);
  return std::nullopt;
}

core::result<void> check_stages(const profile& p,
                                std::span<const std::string_view> names) {
  for (const auto& x : p.stages)
    if (std::find(names.begin(), names.end(), x.name) == names.end())
      return core::fail(core::ec::bad_config,
                        "stages.{}: there is no stage '{}'", x.name, x.name);
  return {};
}

core::extent image_of(const variant_profile& v, core::extent px) {
  return px.pixels() == 0 ? v.native_px : px;
}

core::extent drawn_px(const variant_profile& v, const core::request& wanted) {
  return v.native_only && wanted.native_only ? v.native_px
                                             : image_of(v, wanted.px);
}

core::latent_shape latent_of(const variant_profile& v, core::extent px) {
  const uint32_t factor = std::max(v.latent_factor, 1u);
  const auto side = [&](uint32_t of_image) {
    return of_image / factor + (of_image % factor != 0 ? 1 : 0);
  };
  return {v.latent_channels, side(px.height), side(px.width)};
}

core::timespan load_at(const load_times& of, double part) {
  const auto between = [&](core::timespan low, core::timespan high, double from,
                           double to) {
    const double share = std::clamp((part - from) / (to - from), 0.0, 1.0);
    return low + core::from_seconds(core::to_seconds(high - low) * share);
  };
  return part <= 0.9 ? between(of.p50, of.p90, 0.5, 0.9)
                     : between(of.p90, of.p99, 0.9, 0.99);
}

core::timespan mean_of(const load_times& of) {
  const auto s = [](core::timespan x) { return core::to_seconds(x); };
  return core::from_seconds(0.5 * s(of.p50) + 0.4 * (s(of.p50) + s(of.p90)) / 2
                            + 0.09 * (s(of.p90) + s(of.p99)) / 2
                            + 0.01 * s(of.p99));
}

} // namespace atelier::planning
