// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/request.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace atelier::core {

uint32_t steps_to_run(const recipe& how) {
  return std::max(steps_of_share(how.sampler, how.steps, how.strength,
                                 how.strength_rule, how.lcm_steps),
                  1u);
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

std::string_view to_string(cache_use x) {
  return static_cast<size_t>(x) < cache_use_names.size()
         ? cache_use_names[static_cast<size_t>(x)]
         : "?";
}

std::string_view to_string(noise_source x) {
  return static_cast<size_t>(x) < noise_source_names.size()
         ? noise_source_names[static_cast<size_t>(x)]
         : "unknown";
}

std::string_view to_string(step_spacing x) {
  return static_cast<size_t>(x) < step_spacing_names.size()
         ? step_spacing_names[static_cast<size_t>(x)]
         : "?";
}

std::string_view to_string(strength_rule x) {
  return static_cast<size_t>(x) < strength_rule_names.size()
         ? strength_rule_names[static_cast<size_t>(x)]
         : "?";
}

std::string_view to_string(prompt_grammar x) {
  return static_cast<size_t>(x) < prompt_grammar_names.size()
         ? prompt_grammar_names[static_cast<size_t>(x)]
         : "?";
}

std::string_view to_string(emphasis_rule x) {
  return static_cast<size_t>(x) < emphasis_rule_names.size()
         ? emphasis_rule_names[static_cast<size_t>(x)]
         : "?";
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
