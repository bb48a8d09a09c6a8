// SPDX-License-Identifier: Apache-2.0
// The whole interface of a host. Long, because a host reads requests, answers,
// status and the engine in one place.
#pragma once

#include <atelier/extensions.hpp>
#include <atelier/version.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// Atelier inside a host program: the only header that a host includes. Long,
/// because a host program reads and includes one file, without any other header
/// of the project.
namespace atelier {

/// Returns the version as "major.minor.patch".
std::string_view version();

/// The reason of a failure.
struct failure {
  /// Stable name for programs: invalid_argument, bad_config, not_found,
  /// overloaded, deadline_missed, cancelled, poison, unavailable, ...
  std::string code;
  /// A sentence with the field, the value and the allowed range.
  std::string text;
  /// With `overloaded`: the time after which to retry.
  std::chrono::nanoseconds retry_after{0};
  /// The number of the accepted request that failed; 0: no request was
  /// accepted.
  uint64_t request = 0;
};

/// The exception of `result::value`; `what()` is the failure's text.
class failed : public std::runtime_error {
public:
  explicit failed(failure reason)
    : std::runtime_error(reason.text), why_(std::move(reason)) {}

  const failure& why() const noexcept {
    return why_;
  }

private:
  failure why_;
};

/// The result of a call, or its failure: a std::variant of both.
template <class T>
class [[nodiscard]] result : public std::variant<T, failure> {
public:
  using std::variant<T, failure>::variant;

  explicit operator bool() const noexcept {
    return this->index() == 0;
  }

  /// Returns the result of the call. Throws `failed` if the call failed.
  T& value() & {
    return require(), std::get<0>(*this);
  }

  const T& value() const& {
    return require(), std::get<0>(*this);
  }

  T value() && {
    return require(), std::get<0>(std::move(*this));
  }

  /// Returns the failure.
  /// @pre the call failed; otherwise throws std::bad_variant_access
  const failure& why() const {
    return std::get<1>(*this);
  }

private:
  void require() const {
    if (this->index() != 0)
      throw failed{std::get<1>(*this)};
  }
};

/// The success of a call without a value, or its failure.
template <>
class [[nodiscard]] result<void>
  : public std::variant<std::monostate, failure> {
public:
  using std::variant<std::monostate, failure>::variant;

  explicit operator bool() const noexcept {
    return this->index() == 0;
  }

  /// Throws `failed` if the call failed.
  void value() const {
    if (this->index() != 0)
      throw failed{std::get<1>(*this)};
  }

  /// Returns the failure.
  /// @pre the call failed; otherwise throws std::bad_variant_access
  const failure& why() const {
    return std::get<1>(*this);
  }
};

/// The evidence against a request whose worker's process died while it worked
/// on it. Such a request is tried again alone; it fails as `poison` after two
/// trials that ended in the same way.
struct suspicion {
  /// Where the process died: preparing, denoising or finishing; the stage of
  /// the route, and the completed steps.
  std::string phase = "preparing";
  uint32_t stage = 0;
  uint32_t steps = 0;
  /// Trials since the request last progressed, including one about to begin; 0:
  /// there is no evidence.
  uint32_t trials = 0;
  /// The number of the request, from callbacks::suspected; otherwise ignored.
  uint64_t request = 0;
};

/// A fact about an image for the client.
struct note {
  /// Stable name for programs: unknown_word, background_colour_only,
  /// object_colour_only, not_drawable, prompt_cut, prompt_syntax, mask_scaled,
  /// image_scaled, size_not_native, guidance, field_ignored, from_cache,
  /// sampler_replaced.
  std::string code;
  /// A sentence.
  std::string text;

  friend bool operator==(const note&, const note&) = default;
};

/// A request for one image. The policy chooses the values of empty fields.
struct generation {
  /// UTF-8; empty is valid and means an unconditional image.
  std::string prompt;
  std::string negative;
  /// A PNG, JPEG or WebP image to start from; empty: only noise. The image is
  /// rotated upright by its EXIF orientation, loses its transparency, and is
  /// scaled to the output size, whatever its proportions.
  std::vector<uint8_t> image;
  /// A mask in the same formats: white areas are repainted (the upper half of
  /// luma, after scaling), the others are kept. It needs an image.
  std::vector<uint8_t> mask;
  /// Multiples of 8. Both 0: the image's size, rounded down and within the
  /// limits; without an image, the model's own size.
  uint32_t width = 0;
  uint32_t height = 0;
  /// False: a model with one native size draws at the requested size anyway.
  /// None or true: the model draws at its own size, and the image is scaled by
  /// the larger factor of both sides and cut to the middle.
  std::optional<bool> native_only;
  /// None: a random seed, returned with the image.
  std::optional<uint64_t> seed;
  std::optional<uint32_t> steps;
  std::optional<float> guidance;
  /// 0..1: reduces the guided prediction's deviation to that of the unguided
  /// one.
  std::optional<float> guidance_rescale;
  /// DDIM's share of new noise in each step, 0..1.
  std::optional<float> eta;
  /// Uses Karras' spacing of sigmas, if the sampler has sigmas.
  std::optional<bool> karras;
  /// Where the steps lie: model (as the model says), leading, trailing,
  /// linspace or sgm_uniform; not together with Karras' spacing.
  std::string spacing = "model";
  /// With an image: the share of the steps that run, at most 1; at least one
  /// step runs. None: 0.8, or 1 with a mask or if 0.8 leaves no step.
  std::optional<float> strength;
  /// With an image: how the strength counts steps. diffusers: steps x strength;
  /// webui: one more for samplers with sigmas, so that any strength runs a
  /// step.
  std::string strength_rule = "diffusers";
  /// A sampler's name, such as ddim: docs/http-api.md lists them all.
  std::optional<std::string> sampler;
  std::optional<std::string> model;
  std::optional<std::string> variant;
  /// png, jpeg or webp.
  std::string format = "png";
  /// 1..100, for jpeg and webp.
  uint32_t quality = 95;
  /// low, normal or high.
  std::string priority = "normal";
  /// torch_cpu or philox.
  std::string noise = "torch_cpu";
  /// plain (none: plain) or webui: reads (word:1.3), [word], BREAK and prompts
  /// of several chunks in the prompt and the negative prompt.
  std::optional<std::string> prompt_syntax;
  /// original, no_norm, ignore or off; implies the web UI's syntax.
  std::optional<std::string> emphasis;
  /// 1..12: the text encoder's layer that is used, counted from the last.
  std::optional<uint32_t> clip_skip;
  /// The time from submission; none: as the configuration says
  /// (policy.deadline_ms, policy.deadline), by default no deadline.
  std::optional<std::chrono::nanoseconds> deadline;
  /// Produces the same bits whatever else the engine does.
  bool deterministic = false;
  /// off, read, write or on. None: as cache.use says, but the cache is not read
  /// for a deterministic request, nor for a seed that the client chose.
  std::optional<std::string> cache;
  /// Starts only from earlier work whose prompts are at least that similar:
  /// from the lowest threshold of the profile to 1.
  std::optional<float> cache_similarity;
  /// The host drew `seed`, its client chose none: the cache may be read.
  bool seed_drawn = false;
  /// The number of steps between previews in callbacks::progressed; 0: none.
  /// Previews do not change the image; with a model they cost time.
  uint32_t preview_every = 0;
  /// Notes about the request that the image reports first, such as the host's
  /// changes to its client's parameters. At most 16, with the codes of `note`.
  std::vector<note> notes;
  /// The caller's id of the request in its own traces, such as a W3C
  /// traceparent: at most 128 printable ASCII characters. The timeline
  /// (engine_options::timeline) and the answer contain it.
  std::string trace;
  /// The client's name for accounts, chosen by the host, such as the name of a
  /// key; empty: no name. The client does not see it.
  std::string tenant = {};
  /// The tenant's share of devices, 1 to 1000: a tenant with share N gets N
  /// parts of their time where one with share 1 gets one, while both have work.
  /// All requests of a tenant have the same share, or else the newest counts.
  uint32_t share = 1;
  /// The evidence of an earlier engine, as callbacks::suspected reported it.
  suspicion suspected;
};

/// The parts of a request's latency.
struct timings {
  std::chrono::nanoseconds queue{0};
  /// The wait for the prompt's class.
  std::chrono::nanoseconds classify{0};
  /// The wait for earlier work in the cache, and for the class if both were
  /// asked for at the same time.
  std::chrono::nanoseconds retrieve{0};
  std::chrono::nanoseconds preprocess{0};
  std::chrono::nanoseconds text{0};
  std::chrono::nanoseconds denoise{0};
  std::chrono::nanoseconds decode{0};
  std::chrono::nanoseconds postprocess{0};
  /// From submission to the start of the first step; not a part of the sum.
  std::chrono::nanoseconds first_step{0};
  std::chrono::nanoseconds total{0};
};

/// A level of one of the profile's ladders, which lead from the best quality to
/// the fastest.
struct ladder_level {
  /// "smaller_models" or "cached_latents".
  std::string ladder;
  /// 0 is the best.
  uint32_t level = 0;
  /// The variant that the level runs.
  std::string variant;

  friend bool operator==(const ladder_level&, const ladder_level&) = default;
};

/// The earlier work that an image started from.
struct reuse {
  /// "latent": the state of an earlier image's run; "image": an earlier image.
  std::string kind;
  /// The number of the cache's entry while the engine runs. It does not show
  /// how many entries there were before.
  uint64_t entry = 0;
  /// The similarity of both prompts, or of the prompt and the image, as
  /// cache.compares says; 0..1.
  double similarity = 0;
  /// The denoising steps that this saved.
  uint32_t steps = 0;

  friend bool operator==(const reuse&, const reuse&) = default;
};

/// A finished image with all parameters needed to make it again.
struct generated_image {
  uint64_t request = 0;
  /// The encoded file, with parameters in its metadata.
  std::vector<uint8_t> bytes;
  std::string format;
  uint64_t seed = 0;
  std::string prompt;
  std::string negative;
  std::string model;
  std::string variant;
  std::string route;
  std::string sampler;
  /// Steps of the whole schedule; with a strength below 1 fewer run.
  uint32_t steps = 0;
  /// Steps that actually ran, including repeated steps after a death.
  uint32_t steps_run = 0;
  float guidance = 0;
  float guidance_rescale = 0;
  float eta = 0;
  bool karras = false;
  std::string spacing = "model";
  std::string strength_rule = "diffusers";
  uint32_t clip_skip = 1;
  /// 1 if the image starts only from noise.
  float strength = 1;
  uint32_t width = 0;
  uint32_t height = 0;
  /// The size at which the model drew; it differs if the image was scaled.
  uint32_t drawn_width = 0;
  uint32_t drawn_height = 0;
  /// The hash of `bytes`, in hexadecimal.
  std::string sha256;
  /// Notes on how the image was made: unknown words, a truncated prompt, a
  /// scaled mask. At most 16.
  std::vector<note> notes;
  /// The fastest level of each ladder that the prompt was predicted to
  /// tolerate; empty if the policy did not ask or no prediction was available.
  std::vector<ladder_level> prompt_class;
  /// None: the image started from noise, or from its request's image.
  std::optional<reuse> reused;
  /// The value of generation::trace.
  std::string trace;
  timings took;
};

/// The outcome of a request. Each accepted request has exactly one.
using answer = result<generated_image>;

/// The former name of `generated_image`, for programs written with it.
using picture = generated_image;

/// A small preview of an unfinished image: the model's prediction after a step.
struct preview {
  uint32_t step = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  /// Three bytes a pixel, row by row; empty if there is no preview.
  std::vector<uint8_t> rgb;
};

/// The progress of a request, in steps that actually run.
struct progress {
  uint64_t request = 0;
  uint32_t steps_done = 0;
  uint32_t steps = 0;
  /// The preview requested by generation::preview_every. Best effort: a preview
  /// is left out if a newer one replaced it while it was read.
  atelier::preview preview;
};

/// The engine's callback thread calls these, one at a time, until the engine
/// is destroyed. They may throw, which is logged, and block, which delays later
/// callbacks and the futures of their requests but nothing else. They may call
/// any function of the engine: `stop` only refuses new requests there, and
/// returns false. If one destroys the engine, or the destruction of its
/// captures does, the engine ends after the call.
struct callbacks {
  /// The newest progress: a report that a newer one has overtaken is left out.
  std::function<void(const progress&)> progressed;
  /// For callers that submit a request again after their own restart: the
  /// evidence against the request changed. The request is not tried alone until
  /// `go_on` is called, from any thread, after the caller has saved the
  /// evidence, or until its last copy is destroyed.
  std::function<void(const suspicion&, std::function<void()> go_on)> suspected;
  /// Called once. Both alternatives of the answer have the request's number,
  /// which `submit` may return later.
  std::function<void(const answer&)> answered;
};

/// An accepted request.
struct submission {
  uint64_t request = 0;
  /// Ready before callbacks::answered is called.
  std::future<answer> result;
};

/// The status of one device worker.
struct worker_status {
  std::string device;
  std::vector<std::string> variants;
  bool alive = false;
  /// The requests that it holds, and their maximum.
  uint32_t running = 0;
  uint32_t seats = 0;
  /// Maximum number of rows in one step.
  uint32_t max_batch = 0;
  /// The worker is loading variants and takes no rows meanwhile.
  bool loading = false;
  /// The worker takes several times as long as others for the same steps: plans
  /// ignore it for ten minutes.
  bool slow = false;
  /// The kind of the device: devices of one kind take equally long for the same
  /// work.
  std::string kind = {};
};

/// A variant that a device could not load.
struct unloadable_status {
  std::string device;
  std::string variant;
  /// The reason, like `code` and `text` of a failure.
  std::string code;
  std::string reason;
};

/// The status of one process of the engine.
struct process_status {
  std::string role;
  int32_t pid = 0;
  uint32_t restarts = 0;
  bool alive = false;
  /// The process is set up and answers: until then it does no work.
  bool ready = false;
  /// The total time that its workers were available, in all its lives.
  std::chrono::nanoseconds up_time{0};
  /// Why it cannot be started or set up, with the remedy; empty if it can.
  std::string fault = {};
};

/// A histogram of durations.
struct duration_status {
  /// The upper bounds in seconds, and the count within each bound and above the
  /// previous one; the last of `counts` is above all bounds.
  std::vector<double> bounds;
  std::vector<uint64_t> counts;
  std::chrono::nanoseconds sum{0};
};

/// Handlers of one kind of actor that blocked inside the engine.
struct handler_status {
  std::string actor;
  /// Counts since the start, in the engine's processes and this one.
  uint64_t blocked = 0;
};

/// Words of one kind that a model knows, such as object_colours.
struct word_group {
  std::string name;
  std::vector<std::string> words;
  /// Words with the meaning of others: "disk" for "circle".
  std::vector<std::pair<std::string, std::string>> also;
};

/// A variant that the engine knows, and its default parameters.
struct variant_status {
  /// The name of the variant, such as "base@50", which generation::variant
  /// takes.
  std::string name;
  /// The name that generation::model takes; several variants may share it.
  std::string model;
  uint32_t steps = 0;
  float guidance = 0;
  std::string sampler;
  bool karras = false;
  uint32_t width = 0;
  uint32_t height = 0;
  /// The only size at which its model draws; other images are scaled.
  bool native_only = false;
  /// The guidance above which its images get worse, if its model says so.
  std::optional<float> most_guidance = std::nullopt;
  /// The words for which its model was made; null: any.
  std::shared_ptr<const std::vector<word_group>> vocabulary = nullptr;
  /// With the sampler `lcm`, a strength leaves out the first steps, as in most
  /// of diffusers' pipelines; otherwise all steps lie within its share.
  bool lcm_leaves_out = false;
};

/// A route by which the plan in force answers requests.
struct route_status {
  /// The same value as image::route.
  std::string name;
  /// The variants that may run each stage, in order.
  std::vector<std::vector<std::string>> stages;
  /// The index of the plan's threshold for its judge's scores.
  std::optional<uint32_t> threshold{};
  /// The share of each class's requests on this route, 0..1; empty if the
  /// policy decides for each request individually.
  std::vector<double> shares;
};

/// Costs that plans use.
struct profile_status {
  /// The kind of device that the costs apply to; empty: every kind without an
  /// entry of its own.
  std::string kind;
  /// The costs as a profile file (JSON); the object stays the same until the
  /// costs change.
  std::shared_ptr<const std::string> text;
};

/// The number of times a stage of the requests' path was left out, because it
/// failed, was late, or found no free worker. The requests continued without
/// it.
struct stage_status {
  std::string name;
  uint64_t left_out = 0;
};

/// What the predictor of matches did, for policies that have one.
struct predictor_status {
  /// Predictions for requests that asked before they searched.
  uint64_t said_hits = 0;
  uint64_t said_misses = 0;
  /// Searches since the start that showed whether a prediction was right, and
  /// how many of them the measured rates are of: the last thousand.
  uint64_t checked = 0;
  uint64_t samples = 0;
  /// The share of predicted hits that hit, and that of hits that were
  /// predicted; none: not measured yet.
  std::optional<double> precision;
  std::optional<double> recall;
  /// The share of misses for which a hit was predicted; none: not measured yet.
  std::optional<double> false_alarms;
  /// Trainings since the start, those that failed, and the API keys (the
  /// clients without a key count as one) that have a trained predictor.
  uint64_t trainings = 0;
  uint64_t failures = 0;
  uint64_t trained_keys = 0;
};

/// The status of the cache of answered requests.
struct cache_status {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  /// The cache's limit.
  uint64_t most_entries = 0;
  uint64_t most_bytes = 0;
  /// Searches with and without an entry that the policy can use and that is
  /// similar enough for it.
  uint64_t hits = 0;
  uint64_t misses = 0;
  /// Entries that made room for others, and entries whose bytes had changed.
  uint64_t evicted = 0;
  uint64_t torn = 0;
  /// States and images that made room while their entries stayed.
  uint64_t evicted_payloads = 0;
  /// Entries that left because they had answered as many requests as
  /// cache.answers allows.
  uint64_t spent = 0;
  /// States that devices captured for the cache.
  uint64_t captured = 0;
  /// Searches of the index that were repeated by comparing all entries, and
  /// those of them whose best entry was as similar.
  uint64_t checked = 0;
  uint64_t agreed = 0;
  /// Failed operations of the disk and of the encoders.
  uint64_t failures = 0;
  /// Requests whose results wait to be stored, and those whose results were not
  /// stored: cache.pending others waited, or too many came during indexing.
  uint64_t pending = 0;
  uint64_t overflowed = 0;
  /// What a search compares a prompt with: prompts or images.
  std::string compares = "prompts";
  /// Prompts that the text encoder's network read, and prompts whose vectors
  /// were still in memory; and images that the image encoder's network read.
  uint64_t encoded = 0;
  uint64_t recalled = 0;
  uint64_t encoded_images = 0;
  /// The disk of cache.folder failed or was too slow and is left out for a
  /// while: nothing is found, or nothing is kept.
  bool reads_left_out = false;
  bool writes_left_out = false;
  predictor_status predictor;
};

/// An entry of the cache of answered requests.
struct cache_entry {
  /// The number by which reuse::entry names it.
  uint64_t entry = 0;
  /// The digits of generation::tenant (see tenant_digits); empty: no name.
  std::string tenant;
  /// The SHA-256 of the prompt in hexadecimal, and the prompt itself, which
  /// only a cache with a folder keeps.
  std::string prompt_sha256;
  std::optional<std::string> prompt;
  /// The model and the variant, and the size of the image; empty and 0 if the
  /// entry belongs to models that this engine does not have.
  std::string model;
  std::string variant;
  uint32_t width = 0;
  uint32_t height = 0;
  /// The numbers of steps after which states are kept, rising.
  std::vector<uint32_t> steps;
  bool image = false;
  /// How many times reuse was chained to make it.
  uint32_t depth = 0;
  /// The size by which the entry counts, in bytes.
  uint64_t bytes = 0;
  /// The requests that it answered since the start, and the number of steps
  /// that all of them skipped.
  uint64_t answers = 0;
  uint64_t saved_steps = 0;
  /// Seconds since 1970.
  int64_t made = 0;
  /// "memory", or "disk" if some of it is only there.
  std::string tier;
};

/// Selects a page of the cache's entries.
struct cache_query {
  /// Only entries with higher numbers, by rising number.
  uint64_t after = 0;
  /// The maximum number of entries.
  uint32_t most = 100;
  /// Only entries of one tenant, by the name in generation::tenant, which may
  /// be empty; none: of all.
  std::optional<std::string> tenant;
};

/// Returns the digits of a tenant's name, as cache_entry::tenant has them: the
/// first 32 hexadecimal digits of its SHA-256; empty for an empty name.
std::string tenant_digits(std::string_view name);

/// A figure of the engine, such as "late" (failed requests that missed their
/// deadline); most only rise. Its texts live as long as the process.
struct figure_status {
  std::string_view name;
  uint64_t value = 0;
  /// Its name in docs/metrics.md, which says what it counts; and its label if
  /// several figures share that, such as "outcome=built".
  std::string_view metric = {};
  std::string_view label = {};
};

/// A snapshot for people and dashboards.
struct engine_status {
  /// The engine has stopped, or did not answer within a few seconds: this is
  /// the last snapshot that it gave, empty if it gave none.
  bool is_stale = false;
  uint64_t accepted = 0;
  uint64_t answered = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t refused = 0;
  uint32_t waiting = 0;
  uint32_t running = 0;
  uint32_t slots_in_use = 0;
  uint32_t slots = 0;
  /// Steps by their number of rows: [1] counts steps of one row; the last
  /// element counts all larger steps.
  std::vector<uint64_t> batches;
  /// All stages of the requests' path, in order.
  std::vector<stage_status> stages;
  /// None if the cache is off (cache.memory_mib = 0).
  std::optional<cache_status> cache;
  /// The name of the policy in use, and whether `policy.name` is "auto", so
  /// that the served models determined it.
  std::string policy;
  bool policy_is_automatic = false;
  /// The number of the plan in force; each new plan has a higher one.
  uint64_t plan_version = 0;
  /// The routes of the plan.
  std::vector<route_status> routes;
  /// The thresholds of the plan's judges, and the share of images that it
  /// expects below each; empty if the policy does not say.
  std::vector<double> thresholds;
  std::vector<double> deferred;
  /// Accepted requests a second, by class; infinite: all; empty: no limit.
  std::vector<double> admitted_rates;
  /// The policy's reasons for the plan, a sentence each; its value, if the
  /// policy compares plans by a number.
  std::vector<std::string> reasons;
  std::optional<double> objective;
  /// By the plan, the workers cannot serve the whole demand.
  bool saturated = false;
  /// The requirement that the plan cannot meet, such as a deadline; empty: none
  /// is known.
  std::string infeasible;
  /// The costs that plans use: the initial costs, replaced by the times
  /// measured since. The first entry holds for devices of any kind, the others
  /// for one kind.
  std::vector<profile_status> profiles;
  /// Variants that host_model asks to load, and to unload.
  std::vector<std::string> wanted;
  std::vector<std::string> sent_away;
  std::vector<worker_status> workers;
  /// The variants that devices could not load when they last tried. Requests
  /// that only they can serve fail with the reason.
  std::vector<unloadable_status> unloadable = {};
  std::vector<process_status> processes;
  /// The time from the death of a process to the first step of a request that
  /// it worked on, and to the next encoded image, if any request was open.
  duration_status until_step;
  duration_status until_image;
  /// Handlers that took over 2 ms and blocked meanwhile; kinds without any are
  /// left out. Actors must either compute or wait for messages.
  std::vector<handler_status> blocked_handlers;
  /// Reports that a process wrote in the name of another one, or that answered
  /// no order of its own; they are dropped.
  uint64_t reports_dropped = 0;
  /// All other figures.
  std::vector<figure_status> figures = {};

  /// Returns the value of one of `figures`; 0 if it has no such name.
  uint64_t figure(std::string_view name) const {
    for (const auto& x : figures)
      if (x.name == name)
        return x.value;
    return 0;
  }
};

/// The settings for starting an engine.
struct engine_options {
  /// TOML file; empty: the defaults.
  std::string config_file;
  /// "key.path=value", applied after the file, in order.
  std::vector<std::string> set;
  /// Keys and texts, applied after `set`, in order: the value is the text as it
  /// is, whatever its characters, such as {"cache.folder", "2024-11-28"}.
  std::vector<std::pair<std::string, std::string>> values = {};
  /// Receives the lines of the log from `log.level` on, with the level's name;
  /// empty: standard error does. Called by a thread of the log, one line at a
  /// time, also with the lines of the process's other engines. It must not call
  /// the engine. Worker processes (`processes.mode` "split") still write to
  /// standard error.
  std::function<void(std::string_view level, std::string_view text)> log = {};
  /// Whether the thread that calls submit may run idle actors, which saves
  /// their wake-ups. A thread that serves sockets must not. None: yes, unless
  /// the host has extensions that actors call, so that none of its code runs
  /// inside submit.
  std::optional<bool> caller_runs_actors = std::nullopt;
  /// The file for a timeline of events, as Chrome's trace events that Perfetto
  /// (https://ui.perfetto.dev) shows; empty: no file. An existing timeline is
  /// replaced, any other file is kept. The configuration's `timeline` limits
  /// it.
  std::string timeline = {};
  /// The host's own code. With `processes.mode` "split", stages outside the
  /// background, executors and families need the host's own worker program,
  /// which `processes.program` names (process_main).
  extensions extend = {};
};

/// Runs Atelier's actors, in this process or in separate ones.
/// Threads: all members may be called from any thread. No callback runs after
/// the destructor has returned, unless a callback called the destructor. In a
/// process forked from the one that started the engine, every call fails
/// (`unavailable`) or returns nothing, and the destructor leaves the engine
/// alone.
class engine {
public:
  /// Starts all actors. Waits until every configured worker is ready and the
  /// policy has planned for the devices. If the policy takes longer than 5 s
  /// for that, the engine starts with the policy's default plan. Errors:
  /// bad_config (all faults at once, a line each; also an extension that is
  /// null or has a name in use), incompatible (the processes' program has other
  /// stages), out_of_resources, unavailable, io_failed; the errors of a process
  /// whose setup fails, with its part's name.
  static result<std::unique_ptr<engine>> start(const engine_options& options);

  /// Stops without waiting for open requests, which are answered `stopping`,
  /// and waits for the callbacks.
  ~engine();

  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Submits a request. A rejected request has no callback and no future.
  /// Errors: invalid_argument, bad_payload (not an image), not_found,
  /// overloaded, stopping.
  result<submission> submit(const generation& wanted, callbacks calls = {});

  /// Cancels a request; it is answered `cancelled` at the next step unless it
  /// was answered before. Returns false if the request is unknown or already
  /// answered.
  [[nodiscard]] bool cancel(uint64_t request);

  /// Returns a snapshot. Waits for it, at most a few seconds.
  engine_status status() const;

  /// Returns the configured variants; the first one is the default. Does not
  /// block.
  std::vector<variant_status> variants() const;

  /// Returns a page of the cache's entries. May wait for a disk.
  /// Errors: not_found (the engine has no cache), io_failed, stopping.
  result<std::vector<cache_entry>> cache_entries(
    const cache_query& which) const;

  /// Requests a model on a device, beside the hosted models, as soon as a
  /// device has room for it; or its removal from all devices, as soon as no
  /// request uses it and until a request names it. `status` shows these wishes
  /// and the workers' variants.
  /// Errors: not_found (no such model), out_of_resources (no device may host
  /// it, or none has enough memory even for this model only), stopping.
  result<void> host_model(const std::string& model, bool there);

  /// Rejects new requests, waits at most `grace` for the open ones, then stops.
  /// Requests that have an image by then get it, the others are answered
  /// `stopping`. Waits at most a few seconds longer for callbacks that block;
  /// they continue afterwards. Returns true if every accepted request was
  /// answered within `grace`; false, at once, on the callback thread, where it
  /// only rejects new requests.
  [[nodiscard]] bool stop(std::chrono::nanoseconds grace);

private:
  struct impl;
  explicit engine(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier
