// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace atelier::actors {

/// Histogram of durations.
struct duration_counts {
  /// Upper bounds of all but the last bucket, in seconds.
  static constexpr std::array bounds{0.01, 0.02, 0.05, 0.1,  0.2,  0.5,  1.0,
                                     2.0,  5.0,  10.0, 20.0, 50.0, 100.0};

  std::array<uint64_t, bounds.size() + 1> buckets{};
  core::timespan sum{0};

  void add(core::timespan x);

  friend bool operator==(const duration_counts&,
                         const duration_counts&) = default;
};

/// Availability of an engine's processes, and how soon work continued after one
/// died.
struct recovery_counts {
  /// From a death to the first step of a request that was denoised there.
  duration_counts until_step;
  /// From a death during open work to the next encoded image.
  duration_counts until_image;
  /// How long each process had workers that were not suspected.
  std::map<core::process_id, core::timespan> ready;
};

/// Follows the deaths of processes. If a death was suspected, it counts from
/// the suspicion.
/// Threads: one at a time.
class recovery_watch {
public:
  /// A worker of the process announced itself.
  void ready(core::process_id who, core::time_point now);

  /// The process is suspected: its workers get no more work.
  void down(core::process_id who, core::time_point now);

  /// The process ended.
  /// @param denoised the requests that were denoised there
  /// @param open whether any request is open
  void lost(core::process_id who, std::vector<core::request_id> denoised,
            bool open, core::time_point now);

  /// A step of the request ran.
  void stepped(core::request_id who, core::time_point now);

  /// An image was encoded.
  void encoded(core::time_point now);

  /// No request is open: no further step or image is expected.
  void rest();

  recovery_counts counts(core::time_point now) const;

private:
  struct part {
    std::optional<core::time_point> since;
    core::timespan before{0};
    /// When it went down, until its death is confirmed.
    std::optional<core::time_point> died;
  };

  struct death {
    core::time_point time;
    /// Empty if their step was seen, or if no request was denoised there.
    std::vector<core::request_id> rows;
    bool waits_for_image = true;
  };

  void forget_answered();

  std::map<core::process_id, part> parts_;
  /// Oldest first, few.
  std::vector<death> deaths_;
  duration_counts until_step_;
  duration_counts until_image_;
};

} // namespace atelier::actors
