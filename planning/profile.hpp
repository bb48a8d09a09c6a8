// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/reuse/thresholds.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
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
  /// Steps that `took` is the median of; 0: nobody says.
  uint32_t samples = 0;

  friend bool operator==(const step_cost&, const step_cost&) = default;
};

/// How load times are distributed: linear between these shares of them, and
/// the outer ones beyond.
struct load_times {
  core::timespan p50{0};
  core::timespan p90{0};
  core::timespan p99{0};

  friend bool operator==(const load_times&, const load_times&) = default;
};

/// Returns the load time that a share `part`, 0..1, of all lies below.
core::timespan load_at(const load_times& of, double part);

/// Returns the mean of a distribution of load times.
core::timespan mean_of(const load_times& of);

/// What running a variant takes on devices of one kind.
struct running_costs {
  /// At least one point; any order.
  std::vector<step_cost> step;
  /// Once for each request.
  core::timespan text{0};
  core::timespan decode{0};
  /// The mean where `loads` is known.
  core::timespan load{0};
  std::optional<load_times> loads{};
  uint64_t memory_bytes = 0;
  /// Its times are a guess: nothing is refused, left out or called late for
  /// them.
  bool guessed = false;
  /// What a device draws that runs it; 0: not measured.
  double busy_watts = 0;

  friend bool operator==(const running_costs&, const running_costs&) = default;
};

/// What is known of one variant, and what running it takes where nobody says
/// more of a kind of device (profile::kinds).
struct variant_profile : running_costs {
  /// "model@steps" or "model@steps/dtype", as users write it.
  std::string name;
  std::string model;
  uint32_t steps = 0;
  core::dtype precision = core::dtype::float32;
  /// The size of pictures it was made for.
  core::extent native_px{512, 512};
  /// It draws at that size only; images of others are scaled.
  bool native_only = false;
  uint32_t latent_channels = 4;
  /// Pixels of a picture's side for each element of a latent's side.
  uint32_t latent_factor = 8;
  /// Mean quality of its pictures on the scale of the profile.
  double quality = 1;
  /// Whether `quality` was measured; without, it is 1 for every policy.
  bool rated = true;
  /// Pictures that `quality` is the mean of, and their standard deviation; 0
  /// pictures: it is taken at its word; 0 deviation: the most that values in
  /// 0..1 can have.
  uint32_t quality_pictures = 0;
  double quality_deviation = 0;
  /// How it runs where nobody says otherwise.
  core::sampler with = core::sampler::ddim;
  float guidance = 7.5f;
  bool karras = false;

  friend bool operator==(const variant_profile&,
                         const variant_profile&) = default;
};

/// How a ladder's levels make answers cheaper.
enum class ladder_kind : uint8_t {
  /// One variant that skips steps, from a cached latent.
  cached_latents,
  /// Whole variants, from noise.
  smaller_models,
};

/// One level of a ladder, and the quality of its pictures.
struct level_profile {
  core::variant_id variant;
  /// Steps left out at the start.
  uint32_t skip = 0;
  /// Mean over all prompts.
  double quality = 1;
  /// Mean over the prompts of each class; empty: `quality` for all.
  std::vector<double> class_quality;
  /// As quality_pictures and quality_deviation of a variant.
  uint32_t pictures = 0;
  double deviation = 0;

  friend bool operator==(const level_profile&, const level_profile&) = default;
};

/// Levels from the best to the fastest. A prompt's class is the fastest one
/// that keeps its quality.
struct ladder_profile {
  ladder_kind kind = ladder_kind::cached_latents;
  std::vector<level_profile> levels;
  /// Share of each class among the prompts that the classifier learned from;
  /// empty: unknown.
  std::vector<double> class_shares;
  /// Share of prompts whose class the classifier tells rightly; none: not
  /// measured.
  std::optional<double> accuracy{};

  friend bool operator==(const ladder_profile&,
                         const ladder_profile&) = default;
};

/// A plan that somebody made for all time.
struct fixed_cascade {
  double threshold = 0;
  uint32_t light = 1;
  uint32_t heavy = 1;
  uint32_t light_batch = 1;
  uint32_t heavy_batch = 1;

  friend bool operator==(const fixed_cascade&, const fixed_cascade&) = default;
};

/// The deadline of what has none, as far as plans look.
inline constexpr core::timespan no_deadline = std::chrono::hours{24};

/// A light variant, a judge, and a heavy variant for what does not pass.
struct cascade_profile {
  core::variant_id light;
  core::variant_id heavy;
  /// Name of the judging model, and its time for one picture.
  std::string judge;
  core::timespan judging{0};
  /// From arrival to the final picture.
  core::timespan deadline{std::chrono::seconds{5}};
  /// (threshold, share of light pictures whose confidence lies below it).
  std::vector<std::pair<double, double>> deferred;
  /// (share that the light variant answers, FID); lower is better.
  std::vector<std::pair<double, double>> fid;
  /// By point of `fid`: the standard error of its difference from the heavy
  /// variant's alone. Empty: the points are taken at their word.
  std::vector<double> fid_error{};
  /// What plans that never change take: one made elsewhere, and the highest
  /// rate, in requests a second, that one is made for; 0: unknown.
  std::optional<fixed_cascade> fixed{};
  double peak_rate = 0;

  friend bool operator==(const cascade_profile&,
                         const cascade_profile&) = default;
};

/// What a prompt is compared with.
enum class compared : uint8_t {
  nothing,
  prompts,
  pictures,
};

/// How near the best of earlier work is to a request: normal about a mean, cut
/// to 0..1.
struct nearness {
  double mean = 0;
  double spread = 0;
  /// Share of requests that find anything at all.
  double found = 1;

  friend bool operator==(const nearness&, const nearness&) = default;
};

/// What is measured of a predictor of hits: how often it says so of what would
/// be one, and of what would not.
struct hit_predictor {
  double recall = 1;
  double false_alarms = 0;

  friend bool operator==(const hit_predictor&, const hit_predictor&) = default;
};

/// What of earlier work may be started from, and how far along.
struct reuse_profile {
  /// Runs from scratch, and from latents.
  core::variant_id full;
  /// Others that refine a cached picture, by falling quality.
  std::vector<core::variant_id> small;
  /// Steps of a run that `skip` is counted of.
  uint32_t steps = 50;
  /// By similarity between prompts: start from a cached latent.
  skip_table latents;
  /// By similarity between prompt and picture, or what `images_by` says: noise
  /// a cached picture again.
  skip_table images;
  /// What the thresholds of `images` were measured with: the pictures
  /// themselves, or the prompts that they were drawn by.
  compared images_by = compared::pictures;
  /// Finding what is near.
  core::timespan retrieval{0};
  /// Between what `latents` or `images` compare; none: not measured.
  std::optional<nearness> near{};
  std::optional<hit_predictor> predictor{};

  friend bool operator==(const reuse_profile&, const reuse_profile&) = default;
};

/// Returns what a search for images to start from compares a prompt with: the
/// thresholds where the profile has none, too, are of pictures.
inline compared images_compared(const reuse_profile& x) {
  return x.images.empty() ? compared::pictures : x.images_by;
}

/// What is fitted for the edits of one variant: equal blocks, and lines for
/// their operations and bytes.
struct masked_profile {
  core::variant_id variant;
  uint32_t blocks = 0;
  uint32_t tokens = 0;
  uint32_t width = 0;
  uint32_t bytes_per_value = 2;
  /// Keys and values are recorded, not outputs.
  bool keys_values = false;
  /// Seconds for one operation, and besides them for one block.
  double compute_slope = 0;
  double compute_base = 0;
  /// Seconds for one byte, and besides them for one load.
  double load_slope = 0;
  double load_base = 0;
  /// The device chooses its blocks by the published plan (InstGenIE's
  /// Algorithm 1), not by the plan of the least time.
  bool published_plan = false;

  friend bool operator==(const masked_profile&,
                         const masked_profile&) = default;
};

/// What differs from the profile on devices of one kind.
struct kind_profile {
  /// The name that worker_view::device_kind has; never empty.
  std::string kind;
  /// By variant; none, or shorter than the profile's: it takes what the profile
  /// says, which is a guess on this kind.
  std::vector<std::optional<running_costs>> variants;
  /// What a device draws that runs nothing; 0: not measured.
  double idle_watts = 0;
  /// Judges' times for one picture, by the judge's name; one that is not listed
  /// takes what its cascade says.
  std::vector<std::pair<std::string, core::timespan>> judging;
  /// The edits that were measured; of other variants the profile's hold.
  std::vector<masked_profile> masked;

  friend bool operator==(const kind_profile&, const kind_profile&) = default;
};

/// What planning knows of the work: indexed by variant_id.
struct profile {
  std::vector<variant_profile> variants;
  core::timespan prepare{0};
  core::timespan finish{0};
  /// Decoding and scaling a million pixels of a source, besides `prepare`.
  core::timespan source{0};
  /// What a device draws that runs nothing; 0: not measured.
  double idle_watts = 0;
  /// At most one of each kind.
  std::vector<ladder_profile> ladders;
  std::vector<cascade_profile> cascades;
  std::optional<reuse_profile> reuse;
  std::vector<masked_profile> masked;
  /// Kinds of devices with costs of their own, each once; what is said above
  /// holds for the others. Empty: for all. kinds.hpp reads it.
  std::vector<kind_profile> kinds{};

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

/// Returns the size at which `v` draws what is asked for: its native one where
/// the request names none, or where it draws at that size only and the request
/// leaves it.
core::extent drawn_px(const variant_profile& v, const core::request& wanted);

/// Returns the predicted time of preparing a request.
core::timespan prepare_time(const profile& p, const core::request& wanted);

/// Returns the shape of a latent of `v` for a picture of `px`.
core::latent_shape latent_of(const variant_profile& v, core::extent px);

} // namespace atelier::planning
