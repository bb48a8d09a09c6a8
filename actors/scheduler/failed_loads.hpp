// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::actors {

/// The place of a device's worker, the same in every life of its process.
struct device_place {
  core::process_id process;
  uint32_t index = 0;

  friend auto operator<=>(const device_place&, const device_place&) = default;
};

/// Tracks the variants that devices could not load. A variant is not loaded
/// again there until a pause is over, which doubles with each failure. A
/// failure is known until the variant is loaded, also while the process of its
/// device is down. What failed is tried one variant at a time, after all others
/// are there: the next death then shows which one it is, and takes none with
/// it that has not been loaded.
/// Threads: one at a time.
class failed_loads {
public:
  struct entry {
    core::error why;
    core::time_point since;
    /// The next attempt may begin then; `core::never` once it may.
    core::time_point due;
    core::timespan pause{0};
  };

  using key = std::pair<device_place, core::variant_id>;

  /// Records a failure. Returns whether its reason is news.
  bool failed(key which, core::error why, core::time_point now);

  /// Records that a process ended while it loaded the variant beside others: it
  /// may be tried again at once, but alone. Returns whether its reason is news.
  bool doubted(key which, core::error why, core::time_point now);

  /// Records that a variant is loaded. Returns whether it had failed.
  bool loaded(key which);

  /// Ends the pauses that are over, and returns their places and variants.
  std::vector<key> due(core::time_point now);

  /// Makes the next attempts at a variant due now; their pauses begin again
  /// with the shortest one.
  void hurry(core::variant_id variant, core::time_point now);

  /// Returns whether any pause has not ended.
  bool waits() const;

  /// Returns why a variant is not loaded at a place now; null if its pause is
  /// over, or it has not failed.
  const entry* paused(key which) const;

  /// Returns a failure of the variant, at any place, whose pause is not over;
  /// null if no such failure is known.
  const entry* paused_anywhere(core::variant_id variant) const;

  /// Returns which of these variants is to be tried next at a place: one that
  /// failed or is doubted, whose pause is over, and that failed least; nothing
  /// if none of them did.
  std::optional<core::variant_id> next_try(
    device_place at, const std::vector<core::variant_id>& of) const;

  /// Whether the variant failed at a place, or is doubted, and is not loaded.
  bool knows(key which) const;

  const std::map<key, entry>& all() const {
    return all_;
  }

private:
  bool note(key which, core::error why, core::time_point now);

  std::map<key, entry> all_;
};

/// The pauses between the attempts to load a variant.
inline constexpr core::timespan least_load_pause = std::chrono::seconds{1};
inline constexpr core::timespan most_load_pause = std::chrono::minutes{1};

} // namespace atelier::actors
