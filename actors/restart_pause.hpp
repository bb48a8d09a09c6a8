// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/time.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace atelier::actors {

/// Deaths of a part that was up are unrelated if they are further apart than
/// this.
inline constexpr core::timespan deaths_apart = std::chrono::seconds{10};

/// Recent deaths of a part.
struct past_deaths {
  std::optional<core::time_point> last;
  /// The pause after the last death; 0 if that death does not lengthen the next
  /// pause.
  core::timespan pause{0};
};

/// Notes a death and returns the pause before the next life: the first pause,
/// or twice the last one if the part died within `deaths_apart` or never came
/// up.
inline core::timespan pause_after_death(past_deaths& of, core::time_point now,
                                        bool was_up,
                                        const config::process_settings& s) {
  const bool apart = was_up && (!of.last || now - *of.last > deaths_apart);
  of.pause = apart || of.pause.count() == 0
             ? s.restart_first
             : std::min(of.pause * 2, s.restart_most);
  of.last = now;
  return of.pause;
}

/// A request caused the last death: returns when the next life is due, and
/// resets the next pause to the first one.
inline core::time_point due_after_request(past_deaths& of,
                                          const config::process_settings& s) {
  of.pause = core::timespan{0};
  return *of.last + s.restart_first;
}

} // namespace atelier::actors
