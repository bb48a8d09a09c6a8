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

/// A variant that is measured: a folder among the models, and its steps.
struct evaluated_variant {
  std::string model;
  uint32_t steps = 0;

  friend bool operator==(const evaluated_variant&,
                         const evaluated_variant&) = default;
};

/// What is measured: each variant with each guidance and sampler.
struct evaluation_plan {
  /// A folder for each model, and "scorer": without it there are no scores, no
  /// distances and no similarities; and "discriminator", without which there
  /// are no cascades.
  std::filesystem::path models;
  std::vector<evaluated_variant> variants;
  /// Turbo runs without guidance, whatever stands here.
  std::vector<float> guidances = {2};
  std::vector<core::sampler> samplers = {core::sampler::ddim};
  /// Captions of each difficulty: of one, two and three objects.
  uint32_t captions = 100;
  /// Captions whose pictures start from others' latents and images; 0: none.
  uint32_t starts = 24;
  /// Pictures that are drawn together.
  uint32_t batch = 8;
  uint64_t seed = 1;
  /// "cpu", "cuda" or "cuda:N".
  std::string device = "cpu";
  /// Threads of one operator on the CPU; 0: LibTorch's choice.
  uint32_t threads = 0;
};

/// Means over pictures.
struct picture_quality {
  uint32_t pictures = 0;
  /// Share of objects of which everything said is right, and of pictures in
  /// which everything is.
  double objects = 0;
  double fully = 0;
  /// Cosine of picture and caption, by the scorer.
  std::optional<double> score;
  /// Standard deviation of a picture's share of objects that are right.
  double deviation = 0;
};

/// Milliseconds a picture, of batches of evaluation_plan::batch.
struct picture_times {
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
  /// By the number of objects, from 1; and all of them.
  std::vector<picture_quality> by_objects;
  picture_quality all;
  /// Frechet distance of the scorer's features from those of renders of the
  /// same captions.
  std::optional<double> distance;
  /// Correlation of the score with the share of objects that are right.
  std::optional<double> score_correlation;
  picture_times took;
  /// Milliseconds until the model was there, and bytes of its weights there.
  double load = 0;
  uint64_t weight_bytes = 0;
};

/// What a picture starts from instead of noise.
enum class start_kind : uint8_t {
  /// Latents in the middle of a similar prompt's run (NIRVANA).
  latent,
  /// The noised image of a similar prompt (MoDM).
  image,
};

std::string_view to_string(start_kind x);

/// Pictures whose first steps were left out.
struct evaluated_start {
  start_kind from = start_kind::latent;
  /// Steps left out, of evaluation::start_steps.
  uint32_t skipped = 0;
  /// How many things the other prompt says otherwise; nothing: it is of
  /// another scene.
  std::optional<uint32_t> changes;
  /// Mean cosine of the texts, or of text and image.
  double similarity = 0;
  picture_quality quality;
};

/// Correlation of similarity and objects right, over all pictures that left
/// out so many steps: above 0, quality falls with similarity.
struct start_trend {
  start_kind from = start_kind::latent;
  uint32_t skipped = 0;
  double correlation = 0;
};

/// What a cascade gives at one threshold.
struct evaluated_cascade_point {
  double threshold = 0;
  /// Share of the light variant's pictures whose confidence lies below it,
  /// which the heavy one draws again.
  double deferred = 0;
  /// Share of objects that are right, mean over all answers.
  double objects = 0;
  /// Frechet distance of all answers from renders.
  std::optional<double> distance;
  /// Standard error of its difference from that of the heavy variant alone.
  std::optional<double> distance_error{};
};

/// A light variant whose pictures a judge lets pass or not, and the first
/// variant for those that do not (DiffServe).
struct evaluated_cascade {
  evaluated_variant light;
  evaluated_variant heavy;
  std::string judge;
  /// Milliseconds of the judge for a picture.
  double judging = 0;
  /// Correlation of confidence and objects right of the light pictures.
  double correlation = 0;
  /// By rising threshold.
  std::vector<evaluated_cascade_point> points;
};

/// A contact sheet of a run.
struct evaluated_sheet {
  std::string name;
  image::picture picture;
};

struct evaluation {
  evaluation_plan plan;
  std::vector<evaluated_run> runs;
  /// Of the first variant; skipped 0 is the run from noise.
  uint32_t start_steps = 0;
  std::vector<evaluated_start> starts;
  std::vector<start_trend> trends;
  std::vector<evaluated_cascade> cascades;
  std::vector<evaluated_sheet> sheets;
};

/// Told before each batch what comes, how many are done and how many there
/// are; false ends the work.
using evaluation_listener =
  std::function<bool(const std::string& what, size_t done, size_t of)>;

/// Measures as `plan` says. Pictures depend on the plan alone; times do not.
/// Errors: those of open_model and of the networks; ec::invalid_argument (a
///         variant's steps, a sampler that its schedule has not; a model of
///         another kind); ec::cancelled.
/// Threads: runs here; one at a time.
core::result<evaluation> evaluate(const evaluation_plan& plan,
                                  const evaluation_listener& told);

} // namespace atelier::gpu
