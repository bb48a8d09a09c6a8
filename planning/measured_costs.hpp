// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning {

/// What running requests took, by variant: the medians of the last few, so that
/// a first step or a neighbour's burst changes nothing; pure, no clock.
/// Source: DiffServe's artifact plans with execution times that its workers
///         report, not with the profiled ones alone (its specification, D6).
class measured_costs {
public:
  explicit measured_costs(size_t variants);

  /// Notes a run of steps of whole rows, and what the profile says of it.
  /// Without effect where one of both is not above 0.
  void ran(core::variant_id variant, core::timespan predicted,
           core::timespan took);

  /// Notes what encoding a text and decoding a picture took.
  void ended(core::variant_id variant, core::timespan text,
             core::timespan decode);

  /// Notes what loading it took, alone.
  void loaded(core::variant_id variant, core::timespan took);

  /// Returns what is measured, by variant, where something differs by more than
  /// a fifth from what was returned last; nothing else.
  std::optional<std::vector<variant_cost>> news();

private:
  struct samples {
    std::deque<double> last;

    void add(double x);
    /// 0 while there are too few.
    double median(size_t least) const;
  };

  struct measured {
    samples pace;
    samples text;
    samples decode;
    samples load;
  };

  std::vector<measured> measured_;
  std::vector<variant_cost> told_;
  bool anew_ = false;
};

/// Returns a profile with what was measured of its variants, by variant, in the
/// place of what it says; with measured steps their times are no guess.
profile with_costs(profile known, std::span<const variant_cost> measured);

} // namespace atelier::planning
