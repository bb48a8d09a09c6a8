// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace atelier::core {

/// The next or current work on a request.
enum class phase : uint8_t { preparing, denoising, finishing };

/// The suspicion against a request whose worker's process died while it worked
/// on the request.
struct suspicion {
  /// Where the process died: the phase, the leg of the request's route, and the
  /// steps that the request had.
  core::phase phase = core::phase::preparing;
  uint32_t leg = 0;
  uint32_t steps = 0;
  /// How often the request was tried alone since then without progress,
  /// including a trial that is about to begin; 0: the request is not suspected.
  uint32_t trials = 0;

  friend bool operator==(const suspicion&, const suspicion&) = default;
};

std::string_view to_string(phase x);

/// Returns the phase with that name, if any.
std::optional<phase> parse_phase(std::string_view name);

} // namespace atelier::core
