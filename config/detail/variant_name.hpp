// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::config::detail {

/// Most variants that one device holds.
inline constexpr size_t most_variants = 64;

/// The parts of "base@50/bf16".
struct variant_name {
  std::string_view model;
  uint32_t steps = 0;
  /// Empty where the name leaves it to the device.
  std::string_view element_type;
};

/// Whether it is 1..64 of the characters a-z, A-Z, 0-9, _, - and .
bool is_name(std::string_view x);

/// Takes the name of a variant apart; nothing where it is not of that form.
std::optional<variant_name> parse_variant(std::string_view x);

/// Returns the allowed element types as "f32, f16 or bf16".
std::string element_types_text();

} // namespace atelier::config::detail
