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

/// Name of one worker, independent of its location and of how often it dies.
struct timeline_track {
  actors::role role = actors::role::preprocess;
  /// Its place in its pool; 0 for a device.
  uint32_t index = 0;
  /// Name of the device; empty for CPU pools.
  std::string device;

  friend bool operator==(const timeline_track&,
                         const timeline_track&) = default;
};

/// Returns its display name: the device, or the pool and the place in it.
std::string to_string(const timeline_track& x);

/// One event of a request, of a worker, or of both.
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

  kind type = kind::span;
  /// The name of this sort of event; the string must live forever.
  std::string_view name;
  core::time_point from;
  core::time_point to;
  /// The request on whose track it is drawn, if any.
  std::optional<core::request_id> request;
  /// The worker on whose track it is drawn, if any.
  std::optional<timeline_track> track;
  /// Requests that share it.
  std::vector<core::request_id> rows;
  /// Additional values, by fixed names.
  std::vector<std::pair<std::string_view, int64_t>> numbers;
  std::vector<std::pair<std::string_view, std::string>> texts;

  friend bool operator==(const timeline_event&,
                         const timeline_event&) = default;
};

/// Records events over time. Must not block: events that it cannot take are
/// left out.
class timeline {
public:
  virtual ~timeline() = default;
  virtual void add(timeline_event what) = 0;
};

} // namespace atelier::actors
