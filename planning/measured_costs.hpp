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

/// The measured costs of running requests, by variant and kind of device: the
/// medians of the last few values, so that a first step or a burst of a
/// neighbor changes nothing. Pure, without a clock.
/// Source: DiffServe's artifact plans with execution times that its workers
/// report, not only with profiled times (its specification, D6).
class measured_costs {
public:
  /// @param by_batch whether the pace of a variant is measured for each batch;
  ///        shorter than `variants`: not
  explicit measured_costs(size_t variants, std::vector<bool> by_batch = {});

  /// Notes a run of steps of `batch` whole rows, and the profile's prediction
  /// for devices of that kind. It has no effect unless both are above 0.
  /// @pre batch > 0
  void ran(core::variant_id variant, std::string_view kind, uint32_t batch,
           core::timespan predicted, core::timespan took);

  /// Notes the times of encoding a text, of decoding an image and of encoding
  /// the image that it started from; the last is 0 if none was encoded.
  void ended(core::variant_id variant, std::string_view kind,
             core::timespan text, core::timespan decode,
             core::timespan encode = core::timespan{0});

  /// Notes the time of loading it without other work.
  void loaded(core::variant_id variant, std::string_view kind,
              core::timespan took);

  /// Returns the measurements, as cluster_view::costs has them, if one of them
  /// differs by more than a fifth from its last returned value; otherwise
  /// nothing. Text and decoding count as one. With several kinds of device, the
  /// measurements on any of them accompany the changes of one, and cause no
  /// report themselves.
  std::optional<std::vector<kind_costs>> news();

private:
  struct samples {
    std::deque<double> last;

    void add(double x);
    /// 0 while there are too few values.
    double median(size_t least) const;
  };

  struct measured {
    samples pace;
    /// By batch_class.
    std::vector<samples> pace_of_batch;
    samples text;
    samples decode;
    samples encode;
    samples load;
  };

  using by_variant = std::vector<measured>;

  bool is_by_batch(size_t variant) const;

  std::vector<variant_cost> costs_of(const by_variant& of) const;

  /// Makes `note` add a value of a variant, for any kind and for one.
  template <class Note>
  void note(core::variant_id variant, std::string_view kind, Note note);

  std::vector<bool> by_batch_;
  by_variant any_;
  /// By name.
  std::map<std::string, by_variant, std::less<>> kinds_;
  std::vector<kind_costs> told_;
  bool anew_ = false;
};

/// Returns the variants whose pace is measured for each batch: those for which
/// the profile has steps of several batches, on every kind of device, so that
/// it may be wrong about one of them. Steps of other batches than a single
/// known one are predicted, and may be wrong about all.
std::vector<bool> measured_by_batch(const profile& known);

/// Returns a profile with the measured costs of its variants; variants with
/// measured steps are no longer estimates. Steps of a batch get its own pace if
/// that was measured, and otherwise the variant's. A kind of device that it
/// does not list is added as soon as there is a measurement of that kind.
profile with_costs(profile known, std::span<const kind_costs> measured);

} // namespace atelier::planning
