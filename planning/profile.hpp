// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/instruction_set.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/reuse/reuse_evidence.hpp>
#include <atelier/planning/reuse/thresholds.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// One measured point: a step over `batch` rows of `px` pixels each.
struct step_cost {
  uint32_t batch = 1;
  uint64_t px = 0;
  core::timespan took{0};
  /// The number of steps whose median is `took`; 0: unknown.
  uint32_t samples = 0;

  friend bool operator==(const step_cost&, const step_cost&) = default;
};

/// The distribution of load times: linear between these quantiles; p50 below
/// them, and p99 above.
struct load_times {
  core::timespan p50{0};
  core::timespan p90{0};
  core::timespan p99{0};

  friend bool operator==(const load_times&, const load_times&) = default;
};

/// Returns the load time below which the fraction `part`, 0..1, of all load
/// times lies.
core::timespan load_at(const load_times& of, double part);

/// Returns the mean of a distribution of load times.
core::timespan mean_of(const load_times& of);

/// The costs of running a variant on devices of one kind.
struct running_costs {
  /// At least one point, in any order.
  std::vector<step_cost> step;
  /// Once per request.
  core::timespan text{0};
  /// Once per image of the variant's own size; for other sizes see
  /// row_work.hpp.
  core::timespan decode{0};
  /// The same for encoding the image that a run starts from; 0: not measured.
  core::timespan encode{0};
  /// The mean if `loads` is known.
  core::timespan load{0};
  std::optional<load_times> loads{};
  uint64_t memory_bytes = 0;
  /// The times are a guess: no request is refused, no variant is left out and
  /// nothing counts as late because of them.
  bool guessed = false;
  /// The power of a device that runs the variant; 0: not measured.
  double busy_watts = 0;

  friend bool operator==(const running_costs&, const running_costs&) = default;
};

/// The facts about one variant, and the costs of running it on kinds of devices
/// that have no costs of their own (profile::kinds).
struct variant_profile : running_costs {
  /// "model@steps" or "model@steps/dtype", as users write it.
  std::string name;
  std::string model;
  uint32_t steps = 0;
  core::dtype precision = core::dtype::float32;
  /// The image size that it was made for.
  core::extent native_px{512, 512};
  /// It draws only at that size; images of other sizes are scaled.
  bool native_only = false;
  uint32_t latent_channels = 4;
  /// Pixels of an image's side per element of a latent's side.
  uint32_t latent_factor = 8;
  /// The mean quality of its images on the scale of the profile.
  double quality = 1;
  /// Whether `quality` was measured; if not, it is 1 for every policy.
  bool rated = true;
  /// The number of images whose mean is `quality`, and their standard
  /// deviation. With 0 images, `quality` counts as exact; a deviation of 0
  /// stands for the largest that values in 0..1 can have.
  uint32_t quality_images = 0;
  double quality_deviation = 0;
  /// The settings of its runs unless a request names others.
  core::sampler sampler = core::sampler::ddim;
  float guidance = 7.5f;
  bool karras = false;
  /// The guidance is an input of its denoiser: a row takes one place of a pass,
  /// guided or not.
  bool embeds_guidance = false;
  /// What a strength does to the steps of LCM.
  core::share_steps lcm_steps = core::share_steps::spread;
  /// Its autoencoder encodes an image to a distribution.
  bool samples_source = true;

  friend bool operator==(const variant_profile&,
                         const variant_profile&) = default;
};

/// How a ladder's levels make answers cheaper.
enum class ladder_kind : uint8_t {
  /// One variant that skips steps and starts from a cached latent.
  cached_latents,
  /// Whole variants that start from noise.
  smaller_models,
};

/// One level of a ladder, and the quality of its images.
struct level_profile {
  core::variant_id variant;
  /// The number of steps skipped at the start.
  uint32_t skip = 0;
  /// The mean over all prompts.
  double quality = 1;
  /// The mean over the prompts of each class; empty: `quality` holds for all.
  std::vector<double> class_quality;
  /// As quality_images and quality_deviation of a variant.
  uint32_t images = 0;
  double deviation = 0;

  friend bool operator==(const level_profile&, const level_profile&) = default;
};

/// Levels from the best to the fastest. A prompt's class is the fastest level
/// that keeps its quality.
struct ladder_profile {
  ladder_kind kind = ladder_kind::cached_latents;
  std::vector<level_profile> levels;
  /// The fraction of each class among the prompts that the classifier was
  /// trained on; empty: unknown.
  std::vector<double> class_shares;
  /// The fraction of prompts that the classifier assigns to the right class;
  /// none: not measured.
  std::optional<double> accuracy{};

  friend bool operator==(const ladder_profile&,
                         const ladder_profile&) = default;
};

/// A plan that was made elsewhere and never changes.
struct fixed_cascade {
  double threshold = 0;
  uint32_t light = 1;
  uint32_t heavy = 1;
  uint32_t light_batch = 1;
  uint32_t heavy_batch = 1;

  friend bool operator==(const fixed_cascade&, const fixed_cascade&) = default;
};

/// The deadline that plans assume for requests without one.
inline constexpr core::timespan no_deadline = std::chrono::hours{24};

/// A light variant, a judge, and a heavy variant for the images that the judge
/// rejects.
struct cascade_profile {
  core::variant_id light;
  core::variant_id heavy;
  /// The name of the judging model, and its time per image.
  std::string judge;
  core::timespan judging{0};
  /// The time from arrival to the final image.
  core::timespan deadline{std::chrono::seconds{5}};
  /// (threshold, fraction of light images whose confidence lies below it).
  std::vector<std::pair<double, double>> deferred;
  /// (fraction of requests that the light variant answers, FID); lower is
  /// better.
  std::vector<std::pair<double, double>> fid;
  /// By point of `fid`: the standard error of its difference from the FID of
  /// the heavy variant alone. Empty: the points count as exact.
  std::vector<double> fid_error{};
  /// The inputs of plans that never change: a plan made elsewhere, and the
  /// highest rate, in requests per second, that a plan is made for; 0: unknown.
  std::optional<fixed_cascade> fixed{};
  double peak_rate = 0;

  friend bool operator==(const cascade_profile&,
                         const cascade_profile&) = default;
};

/// The objects with which a prompt is compared.
enum class compared : uint8_t {
  nothing,
  prompts,
  images,
};

/// The similarity between a request and its best match among earlier work: a
/// normal distribution, cut to 0..1.
struct nearness {
  double mean = 0;
  double spread = 0;
  /// The fraction of requests for which the search finds anything.
  double found = 1;

  friend bool operator==(const nearness&, const nearness&) = default;
};

/// The measured rates of a predictor of hits: how often it predicts a hit for a
/// request that has one, and for a request that has none.
struct hit_predictor {
  double recall = 1;
  double false_alarms = 0;

  friend bool operator==(const hit_predictor&, const hit_predictor&) = default;
};

/// The earlier work that a request may start from, and how many steps it may
/// skip.
struct reuse_profile {
  /// The variant that runs from noise, and from cached latents.
  core::variant_id full;
  /// Other variants that refine a cached image, by falling quality.
  std::vector<core::variant_id> small;
  /// The number of steps of a run that `skip` refers to.
  uint32_t steps = 50;
  /// By similarity between prompts: the run starts from a cached latent.
  skip_table latents;
  /// By similarity between the prompt and what `images_by` says: noise is added
  /// to a cached image, and the run starts from it.
  skip_table images;
  /// What the thresholds of `images` were measured with: the images themselves,
  /// or the prompts that they were drawn from.
  compared images_by = compared::images;
  /// The similarity between a prompt and a cached image from which on the image
  /// answers as it is; none: not measured (`measured`), or never enough.
  std::optional<double> answers_from{};
  /// The time of a search for similar work.
  core::timespan retrieval{0};
  /// The similarities that `latents` or `images` compare; none: not measured.
  std::optional<nearness> near{};
  std::optional<hit_predictor> predictor{};
  /// How `latents` and `answers_from` were measured; none: they were written by
  /// hand, or are missing.
  std::optional<reuse_evidence> measured{};

  friend bool operator==(const reuse_profile&, const reuse_profile&) = default;
};

/// Returns what a search for images to start from compares a prompt with.
/// Without thresholds in the profile, that is also images.
inline compared images_compared(const reuse_profile& x) {
  return x.images.empty() ? compared::images : x.images_by;
}

/// The fitted costs of edits by one variant: equal blocks, and linear functions
/// for their operations and bytes.
struct masked_profile {
  core::variant_id variant;
  uint32_t blocks = 0;
  uint32_t tokens = 0;
  uint32_t width = 0;
  uint32_t bytes_per_value = 2;
  /// Keys and values are recorded instead of outputs.
  bool keys_values = false;
  /// Seconds per operation, and the constant seconds per block.
  double compute_slope = 0;
  double compute_base = 0;
  /// Seconds per byte, and the constant seconds per load.
  double load_slope = 0;
  double load_base = 0;
  /// The device chooses its blocks by the published plan (InstGenIE's Algorithm
  /// 1), not by the plan with the least time.
  bool published_plan = false;

  friend bool operator==(const masked_profile&,
                         const masked_profile&) = default;
};

/// The differences from the profile on devices of one kind.
struct kind_profile {
  /// The name, as in worker_view::device_kind; never empty.
  std::string kind;
  /// By variant. A variant without an entry has the costs of the profile, which
  /// are a guess on this kind.
  std::vector<std::optional<running_costs>> variants;
  /// The power of an idle device; 0: not measured.
  double idle_watts = 0;
  /// Judges' times per image, by the judge's name; a judge that is not listed
  /// has the time of its cascade.
  std::vector<std::pair<std::string, core::timespan>> judging;
  /// The measured edits; the profile's hold for other variants.
  std::vector<masked_profile> masked;
  /// As profile::measured_with.
  std::optional<core::instruction_set> measured_with{};

  friend bool operator==(const kind_profile&, const kind_profile&) = default;
};

/// The measured time of a stage that has no field of its own in a profile.
struct stage_cost {
  /// stage_row::name.
  std::string name;
  /// Once per request, and in addition for each million pixels of its image.
  core::timespan each{0};
  core::timespan per_megapixel{0};

  friend bool operator==(const stage_cost&, const stage_cost&) = default;
};

/// The knowledge that planning has of the work, indexed by variant_id.
struct profile {
  std::vector<variant_profile> variants;
  core::timespan prepare{0};
  core::timespan finish{0};
  /// The time for decoding and scaling a million pixels of a source, in
  /// addition to `prepare`.
  core::timespan source{0};
  /// The power of an idle device; 0: not measured.
  double idle_watts = 0;
  /// At most one of each kind.
  std::vector<ladder_profile> ladders;
  std::vector<cascade_profile> cascades;
  std::optional<reuse_profile> reuse;
  std::vector<masked_profile> masked;
  /// The kinds of devices with costs of their own, each once; the fields above
  /// hold for all others. Empty: they hold for all. kinds.hpp reads it.
  std::vector<kind_profile> kinds{};
  /// Each name at most once, in the order of names.
  std::vector<stage_cost> stages{};
  /// The instruction set with which the times of a CPU were measured; none:
  /// unknown, or another device's times.
  std::optional<core::instruction_set> measured_with{};
  /// Whether devices draw edits in full, so that a plan must not count with the
  /// time that `masked` saves. No file has it.
  bool edits_in_full = false;

  friend bool operator==(const profile&, const profile&) = default;
};

/// Splits "model@steps" or "model@steps/dtype".
/// Errors: ec::bad_config; the text names the part.
core::result<variant_profile> parse_variant(std::string_view name);

/// Returns the variant called `name`; the name of a model returns its first
/// variant.
std::optional<core::variant_id> find_variant(const profile& p,
                                             std::string_view name);

/// Returns the predicted time of one step over `batch` rows of `px`. It is
/// linear in batch and in pixels, both between and outside the nearest measured
/// points, and proportional if only one point exists. It never falls with batch
/// or pixels.
/// @pre the variant has a point and batch > 0
core::timespan step_time(const variant_profile& v, uint32_t batch,
                         core::extent px);

/// Returns the size of the image that `v` makes for the requested `px`: its
/// native size if `px` is empty.
core::extent image_of(const variant_profile& v, core::extent px);

/// Returns the size at which `v` draws a request: its native size if the
/// request names none, or if the variant draws only at that size and the
/// request accepts it.
core::extent drawn_px(const variant_profile& v, const core::request& wanted);

/// Returns the predicted time of preparing a request.
core::timespan prepare_time(const profile& p, const core::request& wanted);

/// Returns the time of a measured stage for an image of `px`.
core::timespan time_for(const stage_cost& of, core::extent px);

/// Returns the measured time of a stage for an image of `px`; none if it was
/// not measured.
std::optional<core::timespan> stage_time(const profile& p,
                                         std::string_view stage,
                                         core::extent px);

/// Checks that the profile measures only stages of these names.
/// Errors: ec::bad_config with the first other one.
core::result<void> check_stages(const profile& p,
                                std::span<const std::string_view> names);

/// Returns the shape of a latent of `v` for an image of `px`.
core::latent_shape latent_of(const variant_profile& v, core::extent px);

} // namespace atelier::planning
