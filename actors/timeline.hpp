// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::actors {

/// What one worker is called, wherever it stands and however often it dies.
struct timeline_track {
  role what = role::preprocess;
  /// Its place in its pool; 0 of a device.
  uint32_t index = 0;
  /// Name of the device; empty for CPU pools.
  std::string device;

  friend bool operator==(const timeline_track&,
                         const timeline_track&) = default;
};

/// Returns its name for people: the device, or the pool and the place there.
std::string to_string(const timeline_track& x);

/// One thing that happened, to a request, on a worker, or both.
struct timeline_event {
  enum class kind : uint8_t {
    /// A request is accepted; it is over with `ended`.
    accepted,
    ended,
    /// From `from` to `to`.
    span,
    /// At `to`.
    instant,
  };

  kind what = kind::span;
  /// A name for all of its sort; of a string that lives for ever.
  std::string_view name;
  core::time_point from;
  core::time_point to;
  /// The request whose track it stands on, if it does.
  std::optional<core::request_id> request;
  /// The worker whose track it stands on, if it does.
  std::optional<timeline_track> where;
  /// Requests that share it.
  std::vector<core::request_id> rows;
  /// What there is to say besides, by fixed names.
  std::vector<std::pair<std::string_view, int64_t>> numbers;
  std::vector<std::pair<std::string_view, std::string>> texts;

  friend bool operator==(const timeline_event&,
                         const timeline_event&) = default;
};

/// Draws what happens over time. Must not block: what it cannot take it leaves
/// out.
class timeline {
public:
  virtual ~timeline() = default;
  virtual void add(timeline_event what) = 0;
};

} // namespace atelier::actors
