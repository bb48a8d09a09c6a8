// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/samplers.hpp>

#include <algorithm>
#include <charconv>
#include <vector>

namespace atelier::core {

namespace {

/// The web UI's upper bound of a strength: a run of up to 1,000 steps leaves
/// out no more than its count says.
constexpr double webui_most = 0.999;

template <class Predicate>
std::optional<sampler> find(Predicate wanted) {
  const auto* const i = std::ranges::find_if(samplers, wanted);
  if (i == std::end(samplers))
    return std::nullopt;
  return i->of;
}

} // namespace

std::string_view to_string(sampler x) {
  return static_cast<size_t>(x) < sampler_count ? row_of(x).name : "unknown";
}

std::optional<sampler> parse_sampler(std::string_view name) {
  return find([&](const sampler_row& x) { return x.name == name; });
}

std::string_view webui_name(sampler x) {
  return static_cast<size_t>(x) < sampler_count ? row_of(x).webui : "unknown";
}

std::optional<sampler> parse_webui_sampler(std::string_view name) {
  return find([&](const sampler_row& x) { return same_word(x.webui, name); });
}

std::optional<sampler> parse_diffusers_sampler(std::string_view class_name) {
  if (class_name.empty())
    return std::nullopt;
  return find([&](const sampler_row& x) { return x.diffusers == class_name; });
}

std::optional<sampler> find_stand_in(std::string_view class_name) {
  for (const auto& x : stand_ins)
    if (x.diffusers == class_name)
      return x.runs;
  return std::nullopt;
}

std::string list_samplers(bool sampler_row::*wanted,
                          std::string_view sampler_row::*name) {
  std::vector<std::string_view> names;
  for (const auto& x : samplers)
    if (x.*wanted)
      names.push_back(x.*name);
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0)
      out += i + 1 == names.size() ? " and " : ", ";
    out += names[i];
  }
  return out;
}

bool has_karras_sigmas(sampler x) {
  return static_cast<size_t>(x) < sampler_count && row_of(x).has_sigmas;
}

bool obeys_karras(sampler x) {
  return static_cast<size_t>(x) < sampler_count && row_of(x).obeys_karras;
}

uint32_t steps_of_share(sampler with, uint32_t steps, float strength,
                        strength_rule rule, share_steps of_all) {
  const auto rounding = row_of(with).from_image;
  const bool spreads =
    rounding == steps_from_image::all && of_all == share_steps::spread;
  if (!(strength < 1) || spreads)
    return steps;
  std::array<char, 32> text;
  auto* const first = text.data();
  const auto printed = std::to_chars(first, first + text.size(), strength);
  auto meant = 0.0;
  std::from_chars(first, printed.ptr, meant);
  if (rule == strength_rule::webui && row_of(with).has_sigmas)
    return std::min(
      steps,
      static_cast<uint32_t>(std::clamp(meant, 0.0, webui_most) * steps) + 1);
  const auto share = std::max(0.0, steps * meant);
  if (rounding == steps_from_image::rounded_up)
    return steps - static_cast<uint32_t>(steps - share);
  return static_cast<uint32_t>(share);
}

} // namespace atelier::core
