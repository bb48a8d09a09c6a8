// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/request.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace atelier::core {

uint32_t steps_of_share(sampler with, uint32_t steps, float strength) {
  if (!(strength < 1) || with == sampler::lcm)
    return steps;
  std::array<char, 32> text;
  auto* const first = text.data();
  const auto printed = std::to_chars(first, first + text.size(), strength);
  auto meant = 0.0;
  std::from_chars(first, printed.ptr, meant);
  const auto share = std::max(0.0, steps * meant);
  if (with == sampler::flow_match_euler)
    return steps - static_cast<uint32_t>(steps - share);
  return static_cast<uint32_t>(share);
}

uint32_t steps_to_run(const recipe& how) {
  return std::max(steps_of_share(how.with, how.steps, how.strength), 1u);
}

bool has_karras_sigmas(sampler x) {
  return x == sampler::euler || x == sampler::dpmpp_2m
      || x == sampler::flow_match_euler;
}

std::string_view to_string(request_kind x) {
  switch (x) {
    case request_kind::generate:
      return "generate";
    case request_kind::edit:
      return "edit";
    case request_kind::shadow:
      return "shadow";
    case request_kind::probe:
      return "probe";
  }
  return "unknown";
}

std::string_view to_string(priority x) {
  switch (x) {
    case priority::low:
      return "low";
    case priority::normal:
      return "normal";
    case priority::high:
      return "high";
  }
  return "unknown";
}

std::string_view to_string(sampler x) {
  switch (x) {
    case sampler::ddim:
      return "ddim";
    case sampler::euler:
      return "euler";
    case sampler::euler_ancestral:
      return "euler_ancestral";
    case sampler::dpmpp_2m:
      return "dpmpp_2m";
    case sampler::lcm:
      return "lcm";
    case sampler::flow_match_euler:
      return "flow_match_euler";
  }
  return "unknown";
}

std::string_view to_string(noise_source x) {
  switch (x) {
    case noise_source::torch_cpu:
      return "torch_cpu";
    case noise_source::philox:
      return "philox";
  }
  return "unknown";
}

std::string_view to_string(image_format x) {
  switch (x) {
    case image_format::png:
      return "png";
    case image_format::jpeg:
      return "jpeg";
    case image_format::webp:
      return "webp";
  }
  return "unknown";
}

namespace {

template <class T, size_t N>
std::optional<T> parse(std::string_view name, const std::array<T, N>& all) {
  for (T x : all)
    if (to_string(x) == name)
      return x;
  return std::nullopt;
}

} // namespace

std::optional<sampler> parse_sampler(std::string_view name) {
  static constexpr std::array all = {
    sampler::ddim,     sampler::euler, sampler::euler_ancestral,
    sampler::dpmpp_2m, sampler::lcm,   sampler::flow_match_euler};
  return parse(name, all);
}

std::optional<noise_source> parse_noise_source(std::string_view name) {
  static constexpr std::array all = {noise_source::torch_cpu,
                                     noise_source::philox};
  return parse(name, all);
}

std::optional<image_format> parse_image_format(std::string_view name) {
  static constexpr std::array all = {image_format::png, image_format::jpeg,
                                     image_format::webp};
  return parse(name, all);
}

std::optional<priority> parse_priority(std::string_view name) {
  static constexpr std::array all = {priority::low, priority::normal,
                                     priority::high};
  return parse(name, all);
}

} // namespace atelier::core
