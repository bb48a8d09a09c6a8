// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning {

/// What running requests took, by variant and kind of device: the medians of
/// the last few, so that a first step or a neighbour's burst changes nothing;
/// pure, no clock.
/// Source: DiffServe's artifact plans with execution times that its workers
///         report, not with the profiled ones alone (its specification, D6).
class measured_costs {
public:
  explicit measured_costs(size_t variants);

  /// Notes a run of steps of whole rows, and what the profile says of it for
  /// devices of that kind. Without effect where one of both is not above 0.
  void ran(core::variant_id variant, std::string_view kind,
           core::timespan predicted, core::timespan took);

  /// Notes what encoding a text and decoding a picture took.
  void ended(core::variant_id variant, std::string_view kind,
             core::timespan text, core::timespan decode);

  /// Notes what loading it took, alone.
  void loaded(core::variant_id variant, std::string_view kind,
              core::timespan took);

  /// Returns what is measured, as cluster_view::costs has it, where something
  /// differs by more than a fifth from what was returned last; nothing else.
  /// Where devices are of several kinds, what was measured on any of them is
  /// told with the news of one, and is none itself.
  std::optional<std::vector<kind_costs>> news();

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

  using by_variant = std::vector<measured>;

  static std::vector<variant_cost> costs_of(const by_variant& of);

  /// Has `note` take in something of a variant, for any kind and for one.
  template <class Note>
  void note(core::variant_id variant, std::string_view kind, Note note);

  by_variant any_;
  /// By name.
  std::map<std::string, by_variant, std::less<>> kinds_;
  std::vector<kind_costs> told_;
  bool anew_ = false;
};

/// Returns a profile with what was measured of its variants in the place of
/// what it says; with measured steps their times are no guess. A kind of device
/// that it does not list is listed as soon as something was measured on it
/// alone.
profile with_costs(profile known, std::span<const kind_costs> measured);

} // namespace atelier::planning
