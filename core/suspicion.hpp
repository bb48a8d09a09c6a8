// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace atelier::core {

/// What a request needs next, or what is being done for it.
enum class phase : uint8_t { preparing, denoising, finishing };

/// What is held against a request whose worker's process died while it worked
/// on it.
struct suspicion {
  /// Where it died: the phase, the leg of its route, the steps it had.
  phase at = phase::preparing;
  uint32_t leg = 0;
  uint32_t steps = 0;
  /// How often it was tried alone since then without getting any further, a
  /// trial that is about to begin included; 0: nothing is held against it.
  uint32_t trials = 0;

  friend bool operator==(const suspicion&, const suspicion&) = default;
};

std::string_view to_string(phase x);

/// Returns the phase of that name, if there is one.
std::optional<phase> parse_phase(std::string_view name);

} // namespace atelier::core
