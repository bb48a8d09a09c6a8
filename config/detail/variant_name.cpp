// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/number.hpp>
#include <atelier/config/detail/variant_name.hpp>
#include <atelier/core/ascii.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::config::detail {

namespace {

constexpr std::string_view element_types[] = {"f32", "f16", "bf16"};

constexpr size_t most_name_bytes = 64;

} // namespace

bool is_name(std::string_view x) {
  const auto allowed = [](char c) {
    return core::is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
  };
  return !x.empty() && x.size() <= most_name_bytes
      && std::all_of(x.begin(), x.end(), allowed);
}

std::optional<variant_name> parse_variant(std::string_view x) {
  const auto at = x.find('@');
  if (at == std::string_view::npos)
    return std::nullopt;
  auto steps = x.substr(at + 1);
  std::string_view type;
  if (const auto slash = steps.find('/'); slash != std::string_view::npos) {
    type = steps.substr(slash + 1);
    steps = steps.substr(0, slash);
    if (std::find(std::begin(element_types), std::end(element_types), type)
        == std::end(element_types))
      return std::nullopt;
  }
  const auto count = parse_whole(steps);
  if (!is_name(x.substr(0, at)) || !count || *count == 0)
    return std::nullopt;
  return variant_name{x.substr(0, at), *count, type};
}

std::string element_types_text() {
  std::string text;
  for (const auto& type : element_types)
    text += fmt::format("{}{}",
                        text.empty()                           ? ""
                        : &type == std::end(element_types) - 1 ? " or "
                                                               : ", ",
                        type);
  return text;
}

} // namespace atelier::config::detail
