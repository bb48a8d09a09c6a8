// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/codec.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/stage.hpp>

#include <cstdint>
#include <optional>

namespace atelier::actors {

/// Finds the share of its image that an edit's mask covers, and the template
/// that it edits.
/// Threads: any.
class mask_stage {
public:
  struct work {
    /// The size of the answered image.
    core::extent px;
    /// Number of pixels of the mask's file, according to its header.
    uint64_t mask_pixels = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.px, x.mask_pixels);
    }
  };

  struct done {
    planning::mask_facts mask;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.mask.ratio, x.mask.template_id, x.mask.recorded);
    }
  };

  /// @param most bounds on the mask that it decodes
  /// @param decode longest time that decoding and scaling may take
  /// @param budget,share as in stage_row
  mask_stage(image::decode_limits most, core::timespan decode,
             core::timespan budget, double share);

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const;

  /// Returns the mask's part of the time for preparing a request.
  core::timespan takes(const work& order, const planning::profile& costs) const;

  /// Sets the ratio to the share of white pixels at the size of the answer, as
  /// preparing makes them. The template's id is the first eight bytes of the
  /// image file's SHA-256, most significant first.
  /// Errors: ec::not_found if slots have no payload; ec::bad_payload,
  ///         ec::out_of_resources (the files).
  core::result<done> run(const work& order,
                         planning::worker_context& here) const;

  core::result<void> end(const done& outcome, planning::facts& known) const;

private:
  planning::stage_row row_;
  image::decode_limits most_;
  core::timespan decode_;
};

} // namespace atelier::actors
