// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu {

/// A variant to measure.
struct evaluated_variant {
  /// The name of a folder among the models.
  std::string model;
  uint32_t steps = 0;

  friend bool operator==(const evaluated_variant&,
                         const evaluated_variant&) = default;
};

/// Selects what to measure: each variant with each guidance and sampler.
struct evaluation_plan {
  /// Contains a folder for each model. Scores, distances and similarities also
  /// need the folder "scorer", and cascades the folder "discriminator".
  std::filesystem::path models;
  std::vector<evaluated_variant> variants;
  /// Turbo ignores these and runs without guidance.
  std::vector<float> guidances = {2};
  std::vector<core::sampler> samplers = {core::sampler::ddim};
  /// Captions of each difficulty, that is, of one, two and three objects.
  uint32_t captions = 100;
  /// Captions whose images start from the latents and images of other prompts;
  /// 0 skips this measurement.
  uint32_t starts = 24;
  /// Images drawn together.
  uint32_t batch = 8;
  uint64_t seed = 1;
  /// "cpu", "cuda" or "cuda:N".
  std::string device = "cpu";
  /// Threads of one operator on the CPU; 0 selects LibTorch's default.
  uint32_t threads = 0;
};

/// Means over images.
struct image_quality {
  uint32_t images = 0;
  /// Share of objects that match everything the caption says of them.
  double objects = 0;
  /// Share of images in which everything is right.
  double fully = 0;
  /// Cosine of image and caption, by the scorer.
  std::optional<double> score;
  /// Standard deviation of an image's share of right objects.
  double deviation = 0;
};

/// Milliseconds per image in batches of evaluation_plan::batch.
struct image_times {
  double text = 0;
  double denoise = 0;
  double decode = 0;

  double total() const {
    return text + denoise + decode;
  }
};

/// A variant with a guidance and a sampler.
struct evaluated_run {
  evaluated_variant variant;
  float guidance = 1;
  core::sampler sampler = core::sampler::ddim;
  /// One entry for each number of objects, from 1.
  std::vector<image_quality> by_objects;
  /// All images together.
  image_quality all;
  /// Frechet distance between the scorer's features of these images and of
  /// renders of the same captions.
  std::optional<double> distance;
  /// Correlation of an image's score with its share of right objects.
  std::optional<double> score_correlation;
  image_times took;
  /// Milliseconds that loading the model took.
  double load = 0;
  /// Bytes of the model's weights on the device.
  uint64_t weight_bytes = 0;
};

/// What an image starts from instead of noise.
enum class start_kind : uint8_t {
  /// Latents from the middle of a similar prompt's run (NIRVANA).
  latent,
  /// The noised image of a similar prompt (MoDM).
  image,
};

std::string_view to_string(start_kind x);

/// Images whose first steps were skipped.
struct evaluated_start {
  start_kind from = start_kind::latent;
  /// Steps skipped, out of evaluation::start_steps.
  uint32_t skipped = 0;
  /// Number of values that differ in the other prompt; empty if it describes
  /// another scene.
  std::optional<uint32_t> changes;
  /// Mean cosine of the two texts, or of text and image, by `from`.
  double similarity = 0;
  image_quality quality;
};

/// Correlation of similarity and the share of right objects, over all images
/// with the same number of skipped steps. Above 0, less similarity means less
/// quality.
struct start_trend {
  start_kind from = start_kind::latent;
  uint32_t skipped = 0;
  double correlation = 0;
};

/// Results of a cascade at one threshold.
struct evaluated_cascade_point {
  double threshold = 0;
  /// Share of the light variant's images whose confidence is below the
  /// threshold, so that the heavy variant draws them again.
  double deferred = 0;
  /// Share of right objects, mean over all answers.
  double objects = 0;
  /// Frechet distance between all answers and renders.
  std::optional<double> distance;
  /// Standard error of the difference between `distance` and the distance of
  /// the heavy variant's images.
  std::optional<double> distance_error{};
};

/// A cascade (DiffServe): a judge accepts or rejects the images of a light
/// variant, and the first variant draws the rejected ones again.
struct evaluated_cascade {
  evaluated_variant light;
  evaluated_variant heavy;
  std::string judge;
  /// Milliseconds that the judge takes per image.
  double judging = 0;
  /// Correlation of confidence and the share of right objects, over the light
  /// variant's images.
  double correlation = 0;
  /// Sorted by rising threshold.
  std::vector<evaluated_cascade_point> points;
};

/// A contact sheet of a run.
struct evaluated_sheet {
  std::string name;
  image::bitmap image;
};

struct evaluation {
  evaluation_plan plan;
  std::vector<evaluated_run> runs;
  /// Steps of the first variant, which draws all starts. A start that skipped 0
  /// steps is the run from noise.
  uint32_t start_steps = 0;
  std::vector<evaluated_start> starts;
  std::vector<start_trend> trends;
  std::vector<evaluated_cascade> cascades;
  std::vector<evaluated_sheet> sheets;
};

/// Is called before each batch with the batch's name, the number of batches
/// done and the number of all batches. If it returns false, the evaluation
/// ends.
using evaluation_listener =
  std::function<bool(const std::string& what, size_t done, size_t of)>;

/// Measures what `plan` selects. Images depend only on the plan; times do not.
/// Errors: those of open_model and of the networks; ec::invalid_argument
///         (steps or a sampler that a variant's schedule does not support; a
///         model of another kind); ec::cancelled.
/// Threads: runs in the calling thread; one evaluation at a time.
core::result<evaluation> evaluate(const evaluation_plan& plan,
                                  const evaluation_listener& told);

} // namespace atelier::gpu
