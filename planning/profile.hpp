// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning {

/// One measured point: a step over `batch` rows of `px` pixels each.
struct step_cost {
  uint32_t batch = 1;
  uint64_t px = 0;
  core::timespan took{0};

  friend bool operator==(const step_cost&, const step_cost&) = default;
};

/// What is known of one variant on one kind of device.
struct variant_profile {
  /// "model@steps" or "model@steps/dtype", as users write it.
  std::string name;
  std::string model;
  uint32_t steps = 0;
  core::dtype precision = core::dtype::float32;
  /// The size of pictures it was made for.
  core::extent native_px{512, 512};
  uint32_t latent_channels = 4;
  /// Pixels of a picture's side for each element of a latent's side.
  uint32_t latent_factor = 8;
  /// At least one point; any order.
  std::vector<step_cost> step;
  /// Once for each request.
  core::timespan text{0};
  core::timespan decode{0};
  core::timespan load{0};
  uint64_t memory_bytes = 0;
  /// Mean quality of its pictures on the scale of the profile.
  double quality = 1;
  /// How it runs where nobody says otherwise.
  core::sampler with = core::sampler::ddim;
  float guidance = 7.5f;
  bool karras = false;

  friend bool operator==(const variant_profile&,
                         const variant_profile&) = default;
};

/// What planning knows of the work: indexed by variant_id.
struct profile {
  std::vector<variant_profile> variants;
  core::timespan prepare{0};
  core::timespan finish{0};
  /// Decoding and scaling a million pixels of a source, besides `prepare`.
  core::timespan source{0};

  friend bool operator==(const profile&, const profile&) = default;
};

/// Splits "model@steps" or "model@steps/dtype".
/// Errors: ec::bad_config; the text names the part.
core::result<variant_profile> parse_variant(std::string_view name);

/// Returns the variant called `name`; a bare model's name finds its first
/// variant.
std::optional<core::variant_id> find_variant(const profile& p,
                                             std::string_view name);

/// Returns the predicted time of one step over `batch` rows of `px`: linear in
/// batch and in pixels between and beyond the measured points nearest to them;
/// proportional where there is one. It never falls with batch or pixels.
/// @pre the variant has a point and batch > 0
core::timespan step_time(const variant_profile& v, uint32_t batch,
                         core::extent px);

/// Returns the size of picture that `v` makes where `px` is asked for: its
/// native one where `px` is empty.
core::extent picture_of(const variant_profile& v, core::extent px);

/// Returns the predicted time of preparing a request.
core::timespan prepare_time(const profile& p, const core::request& wanted);

/// Returns the shape of a latent of `v` for a picture of `px`.
core::latent_shape latent_of(const variant_profile& v, core::extent px);

} // namespace atelier::planning
