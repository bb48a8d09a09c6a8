// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/limits.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/runtime/door.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace atelier::runtime {

namespace {

using core::ec;

template <class T, class Parse>
core::result<T> one_of(std::string_view field, const std::string& value,
                       Parse parse, std::string_view names) {
  if (const auto x = parse(value))
    return *x;
  return core::fail(ec::invalid_argument, "{} '{}' is none of {}", field, value,
                    names);
}

template <class Name>
core::error unknown(std::string_view field, const std::string& value,
                    const planning::profile& known, Name name) {
  std::vector<std::string> names;
  for (const auto& v : known.variants)
    if (std::find(names.begin(), names.end(), name(v)) == names.end())
      names.push_back(name(v));
  return core::fail(ec::not_found, "{} '{}' is not there; there are {}", field,
                    value, fmt::join(names, ", "));
}

/// Bytes that an encoded picture can have at most: incompressible pixels with
/// the format's own overhead, and the texts, twice as long in UTF-16.
uint64_t most_encoded_bytes(core::extent px, const core::prompt_pair& text) {
  const auto raw = px.pixels() * 3;
  constexpr uint64_t margin = 64 * 1024;
  return raw + raw / 16 + 2 * (text.positive.size() + text.negative.size())
       + margin;
}

core::result<void> fits(const core::request& x, const config::settings& within,
                        const planning::variant_profile& v) {
  const auto px = x.px.width == 0 ? v.native_px : x.px;
  const auto state = gpu::state_bytes(planning::latent_of(v, px), 0);
  if (state > within.arena.state_slot_bytes)
    return core::fail(ec::invalid_argument,
                      "size {}x{} needs {} bytes of state, a slot holds {} "
                      "(arena.state_slot_kib)",
                      px.width, px.height, state,
                      within.arena.state_slot_bytes);
  const auto image = most_encoded_bytes(px, x.text);
  if (image > within.arena.image_slot_bytes)
    return core::fail(ec::invalid_argument,
                      "size {}x{} needs up to {} bytes of picture, a slot "
                      "holds {} (arena.image_slot_kib)",
                      px.width, px.height, image,
                      within.arena.image_slot_bytes);
  return {};
}

} // namespace

core::result<core::request> to_request(const generation& wanted,
                                       const config::settings& within,
                                       const planning::profile& known,
                                       core::request_id id, uint64_t fresh_seed,
                                       core::time_point now) {
  core::request x;
  x.id = id;
  x.text = {wanted.prompt, wanted.negative};
  x.px = {wanted.width, wanted.height};
  x.seed = wanted.seed.value_or(fresh_seed);
  x.fixed.model = wanted.model;
  x.fixed.variant = wanted.variant;
  x.fixed.steps = wanted.steps;
  x.fixed.guidance = wanted.guidance;
  x.deterministic = wanted.deterministic;
  x.arrived = now;
  x.output.quality = wanted.quality;
  const auto format = one_of<core::image_format>(
    "format", wanted.format, core::parse_image_format, "png, jpeg, webp");
  if (!format)
    return format.why();
  x.output.format = *format;
  const auto prio = one_of<core::priority>(
    "priority", wanted.priority, core::parse_priority, "low, normal, high");
  if (!prio)
    return prio.why();
  x.prio = *prio;
  const auto noise = one_of<core::noise_source>(
    "noise", wanted.noise, core::parse_noise_source, "torch_cpu, philox");
  if (!noise)
    return noise.why();
  x.noise = *noise;
  if (wanted.sampler) {
    const auto with = one_of<core::sampler>(
      "sampler", *wanted.sampler, core::parse_sampler,
      "ddim, euler, euler_ancestral, dpmpp_2m, lcm, flow_match_euler");
    if (!with)
      return with.why();
    x.fixed.with = *with;
  }
  if (wanted.deadline) {
    if (wanted.deadline->count() <= 0)
      return core::fail(ec::invalid_argument,
                        "deadline {} ms from now is not after now",
                        core::to_ms(*wanted.deadline));
    x.deadline = core::after(now, *wanted.deadline);
  }
  if (auto valid = core::validate(x, within.limits); !valid)
    return valid.why();
  const planning::variant_profile* v = &known.variants.front();
  if (x.fixed.model) {
    const auto found = planning::find_variant(known, *x.fixed.model);
    if (!found)
      return unknown("model", *x.fixed.model, known,
                     [](const auto& y) { return y.model; });
    v = &known.variants[found->value];
  }
  if (x.fixed.variant) {
    const auto found = planning::find_variant(known, *x.fixed.variant);
    if (!found)
      return unknown("variant", *x.fixed.variant, known,
                     [](const auto& y) { return y.name; });
    v = &known.variants[found->value];
  }
  if (auto good = fits(x, within, *v); !good)
    return good.why();
  return x;
}

failure to_failure(const core::error& why, core::timespan retry_after) {
  return {std::string{core::to_string(why.code)}, why.text, retry_after};
}

} // namespace atelier::runtime
