// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/index/image_encoder.hpp>
#include <atelier/index/text_encoder.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime {

/// The measures of quality: `scorer_measure` says how well an image fits its
/// prompt by the family's scorer;
/// `likeness_measure` is the correlation of its pixels with those of the full
/// run.
inline constexpr std::string_view scorer_measure = "scorer";
inline constexpr std::string_view likeness_measure = "pixel correlation";

/// The number of the prompts that --captions and --stored count, unless they
/// say otherwise.
inline constexpr uint32_t default_reuse_captions = 100;

/// What to measure about starts from other prompts' states.
struct reuse_measurement {
  /// The first device is measured, with its first variant that has steps to
  /// skip.
  config::settings settings;
  /// Compares the prompts: that of the settings (make_text_encoder).
  std::shared_ptr<const index::text_encoder> encoder;
  /// Compares prompts with images: that of the settings (make_image_encoder);
  /// null: images are not compared.
  std::shared_ptr<const index::image_encoder> images;
  /// In the order of their arrival; empty: captions of scenes are drawn.
  std::vector<std::string> prompts;
  /// The number of the first prompts, which leave their states.
  uint32_t stored = default_reuse_captions / 4;
  /// The number of the prompts after them, which start from these states.
  uint32_t resumed = default_reuse_captions;
  /// The fraction of what full runs gain over images of other prompts that a
  /// skip must keep, 0..1.
  double alpha = 0.9;
  /// The seed of the noise and of drawn captions.
  uint64_t seed = 1;
};

/// Measures which similarity of prompts lets a run start from another prompt's
/// state. The first prompts are drawn in full and leave their states after each
/// number of steps that `nirvana` may skip. Each further prompt is drawn in
/// full from the noise of the nearest of them, by the encoder of the settings,
/// and again from each of its states: so only the first steps' prompt differs.
/// A prompt that is like none of them is left out. With an encoder of images,
/// the image of a first prompt that is nearest to each further prompt is scored
/// as its image, too.
///
/// Source: Nirvana, Algorithm 2, with the thresholds of thresholds_of.
/// @param measured the profile that the result belongs to
/// @param progress a function called before each step with the work, the number
/// of completed prompts and their total; false ends the work
/// Errors: ec::bad_config (no variant has steps to skip; a model of other texts
/// than captions without prompts; prompts that are like none), ec::cancelled;
/// those of make_executor, of the rows, of the encoder and of the scorer.
/// Threads: runs on the caller's thread and the device's own.
core::result<planning::reuse_profile> measure_reuse(
  const reuse_measurement& wanted, const planning::profile& measured,
  const std::function<bool(const std::string&, size_t, size_t)>& progress);

} // namespace atelier::runtime
