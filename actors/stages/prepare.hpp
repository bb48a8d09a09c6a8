// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/codec.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/planning/stage.hpp>

#include <cstdint>
#include <optional>

namespace atelier::actors {

/// Draws a leg's noise from the request's seed into its state. If the leg
/// starts from an image, it also makes the source: it decodes the request's
/// files, or treats the pixels of an earlier leg as its encoder would, and
/// scales them to the size that is drawn (gpu/source_format.hpp). The source of
/// a found image already exists (fetch.hpp).
class prepare_stage {
public:
  struct work {
    core::recipe recipe;
    core::latent_shape latent;
    /// The size at which the pixels that it starts from were drawn, and the
    /// size to which they are scaled (recipe::scaled_to); empty: it starts from
    /// none.
    core::extent drawn_px;
    core::extent drawn_scaled_to;
    /// Its source already exists, made from an image that was found.
    bool is_fetched = false;

    friend bool operator==(const work&, const work&) = default;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.recipe, x.latent, x.drawn_px, x.drawn_scaled_to, x.is_fetched);
    }
  };

  struct done {
    friend bool operator==(const done&, const done&) = default;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done&) {
      return f();
    }
  };

  /// @param sources bounds on the files that it decodes
  /// @param longest longest time that decoding one request's files may take
  /// @param test_crash_seed a request with this seed kills the process; 0: none
  explicit prepare_stage(image::decode_limits sources = {},
                         core::timespan longest = core::limits{}.decode,
                         uint32_t test_crash_seed = 0);

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const;
  core::timespan takes(const work& x, const planning::profile& costs) const;
  bool is_short(const work& x) const;
  /// Errors: ec::bad_payload with the field; those of the slots.
  core::result<done> run(const work& x, planning::worker_context& here) const;
  core::result<void> end(const done& x, planning::facts& known) const;

private:
  planning::stage_row row_;
  image::decode_limits sources_;
  core::timespan longest_;
  uint32_t test_crash_seed_ = 0;
};

} // namespace atelier::actors
