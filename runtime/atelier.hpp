// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/extensions.hpp>

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

/// Atelier inside a host program: the one header that a host includes.
namespace atelier {

/// Returns the version as "major.minor.patch".
std::string_view version();

/// Says why something was not done.
struct failure {
  /// Stable name for programs: invalid_argument, bad_config, not_found,
  /// overloaded, deadline_missed, cancelled, poison, unavailable, ...
  std::string code;
  /// A sentence with the field, the value and the allowed range.
  std::string text;
  /// With `overloaded`: when to come back.
  std::chrono::nanoseconds retry_after{0};
};

/// What `result::value` throws; `what()` is the failure's text.
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

/// What was asked for, or why it was not done: a std::variant of both.
template <class T>
class result : public std::variant<T, failure> {
public:
  using std::variant<T, failure>::variant;

  explicit operator bool() const noexcept {
    return this->index() == 0;
  }

  /// Return what was asked for. Throw `failed` where it was not done.
  T& value() & {
    return require(), std::get<0>(*this);
  }

  const T& value() const& {
    return require(), std::get<0>(*this);
  }

  T value() && {
    return require(), std::get<0>(std::move(*this));
  }

  /// Returns why it was not done.
  /// @pre it was not: else std::bad_variant_access is thrown
  const failure& why() const {
    return std::get<1>(*this);
  }

private:
  void require() const {
    if (this->index() != 0)
      throw failed{std::get<1>(*this)};
  }
};

/// What is held against a request whose worker's process died while it worked
/// on it: such a request is tried again alone, and after two such trials that
/// ended so it fails as `poison`.
struct suspicion {
  /// Where it died: preparing, denoising or finishing; the stage of its route,
  /// and the steps that it had.
  std::string phase = "preparing";
  uint32_t stage = 0;
  uint32_t steps = 0;
  /// Trials since it last got further, one about to begin included; 0: nothing
  /// is held against it.
  uint32_t trials = 0;
};

/// What to know of an image beside its pixels.
struct note {
  /// Stable name for programs: unknown_word, background_colour_only,
  /// object_colour_only, not_drawable, prompt_cut, prompt_syntax, mask_scaled,
  /// image_scaled, size_not_native, guidance, field_ignored.
  std::string code;
  /// A sentence.
  std::string text;

  friend bool operator==(const note&, const note&) = default;
};

/// One picture wanted. Empty fields are chosen by the policy.
struct generation {
  /// UTF-8; empty is valid and means an unconditional picture.
  std::string prompt;
  std::string negative;
  /// PNG, JPEG or WebP to start from instead of noise alone; empty: none.
  /// It is turned upright by its EXIF orientation, loses its transparency, and
  /// is scaled to the picture's size, whatever its proportions.
  std::vector<uint8_t> image;
  /// Likewise: repaint where it is white (the upper half of luma, after
  /// scaling), keep the image elsewhere. Needs an image.
  std::vector<uint8_t> mask;
  /// Multiples of 8; both 0: that of the image, rounded down and within the
  /// limits, else the model's own.
  uint32_t width = 0;
  uint32_t height = 0;
  /// False: a model that draws at its own size only draws at that size all the
  /// same. None or true: it draws at its own, and the picture is scaled by the
  /// larger factor of both sides and cut to the middle.
  std::optional<bool> native_only;
  /// None: a fresh one, told in the picture.
  std::optional<uint64_t> seed;
  std::optional<uint32_t> steps;
  std::optional<float> guidance;
  /// 0..1: pulls the guided prediction's deviation to that of the unguided one.
  std::optional<float> guidance_rescale;
  /// DDIM's share of fresh noise in each step, 0..1.
  std::optional<float> eta;
  /// Karras' spacing of sigmas, where the sampler has sigmas.
  std::optional<bool> karras;
  /// With an image: the share of the steps that run, of which it leaves one at
  /// least; at most 1 (none: 0.8, or 1 with a mask or where 0.8 leaves none).
  std::optional<float> strength;
  /// By name, such as ddim: docs/http-api.md names them all.
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
  /// From submission on; none: no deadline.
  std::optional<std::chrono::nanoseconds> deadline;
  /// The same bits whatever else the engine does.
  bool deterministic = false;
  /// After every so many steps a preview comes with callbacks::progressed; 0:
  /// none. They do not change the picture; with a model they cost time.
  uint32_t preview_every = 0;
  /// What the picture is to tell first of how it was made: what the host did
  /// with its own client's wishes. At most 16, of the codes of `note`.
  std::vector<note> notes;
  /// What the caller calls the request in its own traces, such as a W3C
  /// traceparent: at most 128 printable ASCII characters. It stands with the
  /// request in the timeline (engine_options::timeline), and in the answer.
  std::string trace;
  /// Who asks, by a name that the host gives, such as that of a key; empty:
  /// nobody in particular. For accounts: the client does not see it.
  std::string tenant = {};
  /// What an engine before held against it, as callbacks::suspected told.
  suspicion suspected;
};

/// Where a request's time went.
struct timings {
  std::chrono::nanoseconds queue{0};
  /// Both are 0 until a stage of an engine does so.
  std::chrono::nanoseconds classify{0};
  std::chrono::nanoseconds retrieve{0};
  std::chrono::nanoseconds preprocess{0};
  std::chrono::nanoseconds text{0};
  std::chrono::nanoseconds denoise{0};
  std::chrono::nanoseconds decode{0};
  std::chrono::nanoseconds postprocess{0};
  /// From submission to the begin of the first step; not a part of the sum.
  std::chrono::nanoseconds first_step{0};
  std::chrono::nanoseconds total{0};
};

/// A level of one of the profile's ladders, which lead from the best way to
/// draw to the fastest.
struct ladder_level {
  /// "smaller_models" or "cached_latents".
  std::string ladder;
  /// 0 is the best.
  uint32_t level = 0;
  /// The variant that the level runs.
  std::string variant;

  friend bool operator==(const ladder_level&, const ladder_level&) = default;
};

/// A finished picture with everything needed to make it again.
struct picture {
  uint64_t request = 0;
  /// The encoded file, parameters in its metadata.
  std::vector<uint8_t> bytes;
  std::string format;
  uint64_t seed = 0;
  std::string prompt;
  std::string negative;
  std::string model;
  std::string variant;
  std::string route;
  std::string sampler;
  /// Of the whole schedule; with a strength below 1 fewer run.
  uint32_t steps = 0;
  /// Steps that were really run, repeated ones after a death included.
  uint32_t steps_run = 0;
  float guidance = 0;
  float guidance_rescale = 0;
  float eta = 0;
  bool karras = false;
  /// 1 where the picture starts from noise alone.
  float strength = 1;
  uint32_t width = 0;
  uint32_t height = 0;
  /// The size at which it was drawn: another one where it was scaled.
  uint32_t drawn_width = 0;
  uint32_t drawn_height = 0;
  /// Of `bytes`, in hexadecimal.
  std::string sha256;
  /// What to know of how it was made: words that the model does not know, a
  /// prompt cut short, a mask that was scaled. At most 16.
  std::vector<note> notes;
  /// Of each ladder the fastest level that the prompt was predicted to
  /// tolerate; empty where the policy did not ask, or nobody could tell.
  std::vector<ladder_level> prompt_class;
  /// As generation::trace.
  std::string trace;
  timings took;
};

/// Each accepted request is answered exactly once, with one of these.
using answer = result<picture>;

/// What a picture looks like on its way, small: how the model sees it after a
/// step.
struct preview {
  uint32_t step = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  /// Three bytes a pixel, row by row; empty where there is no preview.
  std::vector<uint8_t> rgb;
};

/// How far a request is, in steps that really run.
struct progress {
  uint64_t request = 0;
  uint32_t steps_done = 0;
  uint32_t steps = 0;
  /// As generation::preview_every asks. Best effort: one that was overtaken
  /// while it was fetched is left out.
  atelier::preview preview;
};

/// Called from the engine's callback thread, one at a time; they may block, but
/// later answers wait meanwhile. They may submit and cancel; they must not stop
/// or destroy the engine.
struct callbacks {
  std::function<void(const progress&)> progressed;
  /// For callers that hand a request in again after their own end: what is held
  /// against it changed. It is not tried alone before `go_on` was called, from
  /// any thread, once that is written down.
  std::function<void(const suspicion&, std::function<void()> go_on)> suspected;
  std::function<void(const answer&)> answered;
};

/// An accepted request.
struct submission {
  uint64_t request = 0;
  std::future<answer> result;
};

/// One device worker.
struct worker_status {
  std::string device;
  std::vector<std::string> variants;
  bool alive = false;
  /// Requests that it holds, and may hold.
  uint32_t running = 0;
  uint32_t seats = 0;
  /// Most rows of one step.
  uint32_t max_batch = 0;
  /// It loads variants, and takes nothing meanwhile.
  bool loading = false;
  /// It takes several times as long as others for the same steps: plans do
  /// without it for ten minutes.
  bool slow = false;
  /// Devices of one kind take equally long for the same work.
  std::string kind = {};
};

/// One process of the engine.
struct process_status {
  std::string role;
  int32_t pid = 0;
  uint32_t restarts = 0;
  bool alive = false;
  /// It is set up and answers: until then it does no work.
  bool ready = false;
  /// How long it had its workers, in all its lives.
  std::chrono::nanoseconds up_time{0};
};

/// How many times took how long.
struct duration_status {
  /// Upper bounds in seconds, and how many were within each and above the one
  /// before; the last of `counts` is of those above all bounds.
  std::vector<double> bounds;
  std::vector<uint64_t> counts;
  std::chrono::nanoseconds sum{0};
};

/// Handlers of one kind of actor that waited inside the engine.
struct handler_status {
  std::string actor;
  /// Since the start, in the engine's processes and this one.
  uint64_t blocked = 0;
};

/// Words of one kind that a model knows, as object_colours.
struct word_group {
  std::string name;
  std::vector<std::string> words;
  /// Words with the meaning of others: "disk" of "circle".
  std::vector<std::pair<std::string, std::string>> also;
};

/// One way to draw that the engine knows, and how it runs where a request says
/// nothing else.
struct variant_status {
  /// As "base@50", which generation::variant takes.
  std::string name;
  /// What generation::model takes; several variants may share it.
  std::string model;
  uint32_t steps = 0;
  float guidance = 0;
  std::string sampler;
  bool karras = false;
  uint32_t width = 0;
  uint32_t height = 0;
  /// Its model draws at that size only; images of others are scaled.
  bool native_only = false;
  /// The guidance beyond which its images get worse, where its model says so.
  std::optional<float> most_guidance = std::nullopt;
  /// The words that its model was made for; null: any.
  std::shared_ptr<const std::vector<word_group>> vocabulary = nullptr;
};

/// One way by which the plan in force answers requests.
struct route_status {
  /// As picture::route.
  std::string name;
  /// Of each stage, in order, the variants that may run it.
  std::vector<std::vector<std::string>> stages;
  /// Which of the plan's thresholds its judge's scores are compared with.
  std::optional<uint32_t> threshold{};
  /// The part of the requests of each class that takes it, 0..1; empty where
  /// the policy decides of each request by itself.
  std::vector<double> shares;
};

/// Costs that plans go by.
struct profile_status {
  /// The kind of device that the costs hold for; empty: every kind that has no
  /// entry of its own.
  std::string kind;
  /// The costs as a profile's file (JSON); the object stays the same until they
  /// change.
  std::shared_ptr<const std::string> text;
};

/// How often a stage of the requests' path was left out: it failed, was late,
/// or found nobody free. The requests went on without.
struct stage_status {
  std::string name;
  uint64_t left_out = 0;
};

/// What is remembered of answered requests.
struct cache_status {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  /// What it may hold at most.
  uint64_t most_entries = 0;
  uint64_t most_bytes = 0;
  /// Searches that found anything alike, and those that did not.
  uint64_t hits = 0;
  uint64_t misses = 0;
  /// Entries that made room for others, and those whose bytes were not what was
  /// kept.
  uint64_t evicted = 0;
  uint64_t torn = 0;
  /// States that devices captured for it.
  uint64_t captured = 0;
};

/// A snapshot for people and dashboards.
struct engine_status {
  uint64_t accepted = 0;
  uint64_t answered = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t refused = 0;
  uint32_t waiting = 0;
  uint32_t running = 0;
  uint32_t slots_in_use = 0;
  uint32_t slots = 0;
  /// Of the failed: dropped for their deadline.
  uint64_t late = 0;
  /// Requests that went on elsewhere from a published state.
  uint64_t resumed = 0;
  uint64_t workers_lost = 0;
  uint64_t steps_run = 0;
  /// Steps by their rows: [1] counts those of one; the last one all larger.
  std::vector<uint64_t> batches;
  /// Dispatches put off because the arena was full.
  uint64_t slot_waits = 0;
  /// Images that their judge failed at; each was drawn again by the next
  /// variant of its route.
  uint64_t judge_failures = 0;
  /// Times that workers changed their variants.
  uint64_t loads = 0;
  /// Every stage of the requests' path, in order.
  std::vector<stage_status> stages;
  /// None where nothing is remembered (cache.memory_mib = 0).
  std::optional<cache_status> cache;
  /// Name of the policy in use, and whether `policy.name` is "auto", so that it
  /// was chosen by what is served.
  std::string policy;
  bool policy_is_automatic = false;
  /// Of the plan in force; rises with each new one.
  uint64_t plan_version = 0;
  /// Its ways.
  std::vector<route_status> routes;
  /// Of its judges' scores, and by threshold the share of images that it
  /// expects below; empty where the policy does not say.
  std::vector<double> thresholds;
  std::vector<double> deferred;
  /// Requests a second taken on, by class; infinite: all; empty: no bound.
  std::vector<double> admitted_rates;
  /// By it the workers cannot do all that is asked for.
  bool saturated = false;
  /// What the plan cannot meet, such as a deadline; empty: nothing is known of
  /// that kind.
  std::string infeasible;
  /// What plans go by: what the engine started with, with the times measured
  /// since in place of it. The first one holds for devices of any kind, the
  /// others for those of one.
  std::vector<profile_status> profiles;
  /// Variants that host_model wants to be there, and away.
  std::vector<std::string> wanted;
  std::vector<std::string> sent_away;
  std::vector<worker_status> workers;
  std::vector<process_status> processes;
  /// From the death of a process to the first step of a request that it worked
  /// on, and to the next encoded picture, where any request was open.
  duration_status until_step;
  duration_status until_picture;
  /// Handlers that took over 2 ms and waited meanwhile; those without any are
  /// left out. Actors are to compute or to wait for messages, nothing else.
  std::vector<handler_status> blocked_handlers;
};

/// What an engine starts from.
struct engine_options {
  /// TOML file; empty: the defaults.
  std::string config_file;
  /// "key.path=value", applied after the file, in order.
  std::vector<std::string> set;
  /// Whether the thread that calls submit may run actors that are idle, which
  /// saves their wake-ups. A thread that serves sockets should not.
  bool caller_runs_actors = true;
  /// Where to write what happens, as Chrome's trace events that Perfetto
  /// (https://ui.perfetto.dev) shows; empty: nowhere. A timeline that is there
  /// is replaced, any other file is not. The configuration's `timeline` bounds
  /// it.
  std::string timeline = {};
  /// What the host adds. With `processes.mode` "split", stages outside the
  /// background, executors and families need a worker program of the host's
  /// own, which `processes.program` names (process_main).
  extensions extend = {};
};

/// Runs Atelier's actors, here or in processes of its own.
/// Threads: all members may be called from any thread; none is called back
/// while the destructor has returned.
class engine {
public:
  /// Starts all actors and waits until every configured worker is ready and the
  /// policy has planned for the devices, or has taken 5 s for it: then requests
  /// go by its default plan until it has.
  /// Errors: bad_config (every fault at once, a line each; also an extension
  ///         that is null or has a name that is taken), incompatible (the
  ///         processes' program has other stages), out_of_resources,
  ///         unavailable, io_failed; those of a process that cannot be set up,
  ///         with its part's name.
  static result<std::unique_ptr<engine>> start(const engine_options& options);

  /// Stops without waiting: what is not answered yet is answered `stopping`.
  ~engine();

  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Hands in a request. Refused at once: no callback, no future.
  /// Errors: invalid_argument, bad_payload (an image that is none), not_found,
  ///         overloaded, stopping.
  result<submission> submit(const generation& wanted, callbacks calls = {});

  /// Takes a request back; it is answered `cancelled` at the next step unless
  /// it was answered before. False where it is not known (any more).
  bool cancel(uint64_t request);

  engine_status status() const;

  /// The variants that it was configured with; the first one draws where a
  /// request names none. Waits for nobody.
  std::vector<variant_status> variants() const;

  /// Wants a model on a device from now on, beside what it hosts, as soon as
  /// one has room for it; or away from all devices, as soon as no request runs
  /// with it and until one asks for it. `status` tells what is wished for, and
  /// which variants the workers have.
  /// Errors: not_found (no such model), out_of_resources (no device may host
  ///         it, or none has the memory for it alone), stopping.
  std::optional<failure> host_model(const std::string& model, bool there);

  /// Refuses new work, waits at most `grace` for what runs, then stops.
  /// True where everything accepted was answered.
  bool stop(std::chrono::nanoseconds grace);

private:
  struct impl;
  explicit engine(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier
