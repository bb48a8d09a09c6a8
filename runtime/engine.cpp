// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/handler_watch.hpp>
#include <atelier/atelier.hpp>
#include <atelier/config/device_kind.hpp>
#include <atelier/config/load.hpp>
#include <atelier/core/tenant.hpp>
#include <atelier/core/version.hpp>
#include <atelier/gpu/captions/scene_vocabulary.hpp>
#include <atelier/index/key.hpp>
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/runtime/detail/engine_impl.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/own_thread.hpp>
#include <atelier/runtime/shipped_models.hpp>

#include <caf/send.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <utility>

namespace atelier {

namespace {

using core::ec;
using runtime::detail::borrowed_thread;

/// Adds the counts of one process.
void add(std::vector<handler_status>& to,
         const std::vector<actors::blocked_handlers>& more) {
  for (const auto& x : more) {
    const auto at = std::find_if(
      to.begin(), to.end(), [&](const auto& y) { return y.actor == x.actor; });
    if (at != to.end())
      at->blocked += x.count;
    else
      to.push_back({x.actor, x.count});
  }
}

template <class Counts>
void add(std::vector<figure_status>& to,
         std::span<const core::counted_figure<Counts>> rows,
         const Counts& from) {
  for (const auto& x : rows)
    to.push_back({x.is.name, from.*x.count, x.is.metric, x.is.label});
}

duration_status told(const actors::duration_counts& x) {
  return {{x.bounds.begin(), x.bounds.end()},
          {x.buckets.begin(), x.buckets.end()},
          x.sum};
}

std::vector<stage_status> stages_of(const planning::pipeline& all,
                                    const std::vector<uint64_t>& left_out) {
  std::vector<stage_status> out;
  for (size_t i = 0; i < all.size(); ++i)
    out.push_back({std::string{all.at(i).row().name},
                   i < left_out.size() ? left_out[i] : 0});
  return out;
}

/// Returns the rates of a predictor for the profile, in hundredths, if enough
/// predictions were checked.
std::optional<planning::hit_predictor> rates_of(
  const planning::prediction_tally& x) {
  if (x.checked < planning::enough_predictions || !x.has_rates())
    return std::nullopt;
  const auto rounded = [](double share) {
    return std::round(share * 100) / 100;
  };
  return planning::hit_predictor{rounded(x.recall()),
                                 rounded(x.false_alarms())};
}

predictor_status predictor_of(const index::prediction_counts& now) {
  predictor_status out;
  out.said_hits = now.said_hits;
  out.said_misses = now.said_misses;
  out.checked = now.checked;
  const auto& last = now.recent;
  out.samples = last.checked;
  if (last.right_hits + last.false_hits > 0)
    out.precision = last.precision();
  if (last.right_hits + last.missed_hits > 0)
    out.recall = last.recall();
  if (last.false_hits + last.right_misses > 0)
    out.false_alarms = last.false_alarms();
  out.trainings = now.trainings;
  out.failures = now.failures;
  out.trained_keys = now.trained_spaces;
  return out;
}

cache_status cache_of(const config::cache_settings& most,
                      planning::compared compares,
                      const index::kept_counts& now,
                      const index::prediction_counts& predictions,
                      const actors::counters& counts) {
  cache_status out;
  out.entries = now.entries;
  out.bytes = now.bytes;
  out.most_entries = most.entries;
  out.most_bytes = most.folder.empty() ? most.memory_bytes : most.disk_bytes;
  out.hits = now.hits;
  out.misses = now.misses;
  out.evicted = now.evicted;
  out.torn = now.dropped_torn;
  out.evicted_payloads = now.evicted_payloads;
  out.spent = now.spent;
  out.captured = counts.captured;
  out.checked = now.searches_checked;
  out.agreed = now.searches_agreed;
  out.failures = now.failed;
  out.pending = now.pending;
  out.overflowed = now.overflowed;
  out.encoded = now.encoder.encoded;
  out.recalled = now.encoder.recalled;
  out.encoded_images = now.encoder.images;
  if (compares == planning::compared::images)
    out.compares = "images";
  out.reads_left_out = now.reads_left_out;
  out.writes_left_out = now.writes_left_out;
  out.predictor = predictor_of(predictions);
  return out;
}

/// @param known the variants of the engine, by whose numbers keys name them
cache_entry entry_of(const index::kept_entry& x,
                     const planning::profile& known) {
  cache_entry out;
  out.entry = x.number;
  out.tenant = core::digits_of(x.whose);
  out.prompt_sha256 = x.text_sha256;
  out.prompt = x.text;
  if (const auto how = index::recipe_in(x.key);
      how && how->variant.value < known.variants.size()) {
    const auto& variant = known.variants[how->variant.value];
    out.model = variant.model;
    out.variant = variant.name;
    const auto px = core::answered_px(*how);
    out.width = px.width;
    out.height = px.height;
  }
  out.steps = x.steps;
  out.image = x.has_image;
  out.depth = x.depth;
  out.bytes = x.bytes;
  out.answers = x.answers;
  out.saved_steps = x.saved_steps;
  out.made = x.made;
  out.tier = x.is_in_memory ? "memory" : "disk";
  return out;
}

/// Returns the words for which a model was made, if it states them.
std::shared_ptr<const std::vector<word_group>> vocabulary_of(
  const gpu::model_traits& of) {
  if (of.captions != gpu::caption_kind::scenes)
    return nullptr;
  // Never destroyed, as other threads may ask while the process exits.
  static const auto& scenes = *new auto([] {
    auto out = std::make_shared<std::vector<word_group>>();
    for (const auto& from : gpu::scene_vocabulary()) {
      auto& to = out->emplace_back();
      to.name = from.name;
      for (const auto& x : from.words) {
        to.words.emplace_back(x.word);
        for (const auto other : x.also)
          to.also.emplace_back(other, x.word);
      }
    }
    return std::shared_ptr<const std::vector<word_group>>{std::move(out)};
  }());
  return scenes;
}

/// Withdraws a request that the scheduler did not receive.
class entered_request {
public:
  entered_request(runtime::completions& where, core::request_id id)
    : where_(&where), id_(id) {}

  entered_request(const entered_request&) = delete;
  entered_request& operator=(const entered_request&) = delete;

  ~entered_request() {
    if (where_ != nullptr)
      where_->withdraw(id_);
  }

  void is_received() {
    where_ = nullptr;
  }

private:
  runtime::completions* where_;
  const core::request_id id_;
};

/// Returns the kind of a device of the settings.
std::string kind_of(const config::settings& x, const std::string& device) {
  const auto at = std::find_if(x.devices.begin(), x.devices.end(),
                               [&](const auto& d) { return d.name == device; });
  return at != x.devices.end() ? config::device_kind(*at) : std::string{};
}

} // namespace

std::string_view version() {
  return core::version();
}

std::string tenant_digits(std::string_view name) {
  return core::digits_of(core::tenant_of(name));
}

engine::engine(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

engine::~engine() {
  // Another process has none of the threads that the end waits for.
  if (impl_->belongs_elsewhere()) {
    [[maybe_unused]] const auto* forgotten = impl_.release();
    return;
  }
  // The callback thread delivers the last answers: it must not wait for itself.
  auto* const clients = impl_->clients.get();
  if (clients != nullptr && clients->is_callback_thread())
    clients->destroy_later(std::move(impl_));
}

core::result<void> engine::impl::begin(const engine_options& options) {
  auto admitted = runtime::admit(options.extend);
  if (!admitted)
    return admitted.why();
  auto overrides = options.set;
  for (const auto& [key, text] : options.values)
    overrides.push_back(config::text_override(key, text));
  auto loaded =
    config::load(options.config_file, overrides, admitted->executor_names());
  if (!loaded)
    return config::to_error(loaded.faults);
  auto complete = runtime::with_shipped_models(std::move(loaded.values));
  if (!complete)
    return complete.why();
  settings = std::move(*complete);
  caller_runs_actors =
    options.caller_runs_actors.value_or(!admitted->is_called_by_actors());
  timeline = options.timeline;
  if (options.log)
    log_to = [to = options.log](core::log_level level, std::string_view text) {
      to(core::to_string(level), text);
    };
  const auto& how = settings.processes;
  if (const auto what = runtime::needs_own_program(*admitted);
      how.mode == config::process_mode::split && how.program.empty()
      && !what.empty())
    return core::fail(
      ec::bad_config,
      "processes.program: {} of the host runs in the engine's processes, so "
      "that this option must name a program of the host whose main returns "
      "atelier::process_main(argc, argv, extensions); otherwise set "
      "processes.mode to \"single\"",
      what);
  own = std::move(*admitted);
  return begin();
}

result<std::unique_ptr<engine>> engine::start(const engine_options& options) {
  std::unique_ptr<impl> x;
  const auto begun = runtime::on_own_thread([&] {
    x = std::make_unique<impl>();
    auto done = x->begin(options);
    if (!done)
      x.reset();
    return done;
  });
  if (!begun)
    return runtime::to_failure(begun.why());
  return std::unique_ptr<engine>{new engine{std::move(x)}};
}

result<submission> engine::submit(const generation& wanted, callbacks calls) {
  auto& x = *impl_;
  if (const auto why = x.belongs_elsewhere())
    return runtime::to_failure(*why);
  const runtime::rundown::visit inside{x.entrance};
  if (!inside)
    return runtime::to_failure(
      core::fail(ec::stopping, "the engine is stopping"));
  const auto most = x.settings.limits.requests;
  const auto full = [&] {
    // Until a tenth of the open requests has been answered, at the recent rate.
    const auto wait = core::from_seconds(x.clients->seconds_per_answer()
                                         * static_cast<double>(most) / 10);
    return runtime::to_failure(
      core::fail(ec::overloaded,
                 "{} requests are accepted and not answered, the limit "
                 "(limits.requests) is {}",
                 x.clients->open(), most),
      std::clamp<core::timespan>(wait, std::chrono::seconds{1},
                                 std::chrono::hours{1}));
  };
  const auto whose = core::tenant_of(wanted.tenant);
  if (!x.clients->admits(whose, most))
    return full();
  if (x.clients->open() == 0)
    x.rouse();
  const core::request_id id{x.next_id++};
  uint64_t seed = 0;
  if (!wanted.seed) {
    // 32 bits, which every other program that draws by seed also accepts.
    std::random_device entropy;
    seed = entropy();
  }
  auto made = runtime::to_request(wanted, x.settings, *x.known, id, seed,
                                  std::chrono::steady_clock::now());
  if (!made)
    return runtime::to_failure(made.why());
  made->wants_progress = static_cast<bool>(calls.progressed);
  const auto held = runtime::to_suspicion(wanted.suspected);
  if (!held)
    return runtime::to_failure(held.why());
  const bool keeps_suspicion = static_cast<bool>(calls.suspected);
  submission s;
  s.request = id.value;
  auto result = x.clients->expect(id, std::move(calls), whose, most);
  if (!result)
    return full();
  s.result = std::move(*result);
  entered_request entered{*x.clients, id};
  actors::submit order{std::make_shared<const core::request>(std::move(*made)),
                       *held, keeps_suspicion};
  if (!x.caller_runs_actors) {
    caf::anon_send(x.control.scheduler, std::move(order));
    entered.is_received();
    return s;
  }
  // This thread is awake: it runs the scheduler itself if that is idle.
  const borrowed_thread host;
  actors::inline_unit here{*x.sys};
  here.deliver(x.control.scheduler, std::move(order));
  entered.is_received();
  return s;
}

bool engine::cancel(uint64_t request) {
  if (impl_->belongs_elsewhere())
    return false;
  const runtime::rundown::visit inside{impl_->hall};
  if (!inside || !impl_->clients->knows(core::request_id{request}))
    return false;
  caf::anon_send(impl_->control.scheduler,
                 actors::cancel_request{core::request_id{request}});
  return true;
}

engine_status engine::status() const {
  if (impl_->belongs_elsewhere()) {
    engine_status unknown;
    unknown.is_stale = true;
    return unknown;
  }
  const runtime::rundown::visit inside{impl_->hall};
  if (!inside)
    return impl_->last_status();
  auto got =
    impl_->ask_status<actors::scheduler_actor, actors::scheduler_status>(
      impl_->control.scheduler);
  const auto lines =
    impl_
      ->ask_status<actors::supervisor_actor, std::vector<actors::process_line>>(
        impl_->control.supervisor);
  if (!got || !lines)
    return impl_->last_status();
  engine_status s;
  s.accepted = got->counts.arrived - got->counts.refused;
  s.answered = got->counts.answered;
  s.failed = got->counts.failed;
  s.cancelled = got->counts.cancelled;
  s.refused = got->counts.refused;
  s.waiting = got->waiting;
  s.running = got->running;
  s.slots_in_use = got->slots_in_use;
  s.slots = got->slots;
  s.batches = got->counts.batches;
  s.stages = stages_of(*impl_->stages, got->counts.stages_left_out);
  add<actors::counters>(s.figures, actors::counted_figures, got->counts);
  const auto kept = impl_->kept ? impl_->kept->counts() : index::kept_counts{};
  add<index::kept_counts>(s.figures, index::counted_figures, kept);
  std::optional<planning::hit_predictor> measured;
  if (impl_->kept) {
    const auto predictions = impl_->predicts->counts();
    measured = rates_of(predictions.recent);
    s.cache = cache_of(impl_->settings.cache, impl_->kept->compares(), kept,
                       predictions, got->counts);
  }
  s.policy = impl_->policy->name();
  s.policy_is_automatic =
    impl_->settings.policy.name == planning::automatic_name;
  impl_->tell_plan(*got->plan, s);
  s.profiles = impl_->texts_of(std::move(got->profile), measured);
  s.until_step = told(got->recovery.until_step);
  s.until_image = told(got->recovery.until_image);
  for (const auto& w : got->workers) {
    s.workers.push_back({w.device, w.variants, true, w.seats_taken, w.seats,
                         w.max_batch, w.loading, w.slow,
                         kind_of(impl_->settings, w.device)});
    for (const auto& x : w.failed)
      s.unloadable.push_back(
        {w.device, impl_->profile->variants.at(x.variant.value).name,
         std::string{core::to_string(x.why.code)}, x.why.text});
  }
  for (const auto& p : *lines) {
    // The control process is the first one.
    const core::process_id who{static_cast<uint32_t>(s.processes.size()) + 1};
    s.processes.push_back({p.part, p.pid, p.restarts, p.alive, p.ready,
                           got->recovery.ready[who], p.refusal.text});
    add(s.blocked_handlers, p.blocked);
  }
  add(s.blocked_handlers, actors::count_blocked_handlers());
  if (impl_->processes)
    s.reports_dropped = impl_->processes->dropped_reports();
  impl_->keep_status(s);
  return s;
}

std::vector<variant_status> engine::variants() const {
  std::vector<variant_status> all;
  const auto& known = impl_->known->costs.variants;
  for (size_t i = 0; i < known.size(); ++i) {
    const auto& v = known[i];
    const auto& traits = impl_->known->traits[i];
    all.push_back({v.name, v.model, v.steps, v.guidance,
                   std::string{core::to_string(v.sampler)}, v.karras,
                   v.native_px.width, v.native_px.height, v.native_only,
                   traits.most_guidance, vocabulary_of(traits),
                   v.lcm_steps == core::share_steps::cut});
  }
  return all;
}

result<std::vector<cache_entry>> engine::cache_entries(
  const cache_query& which) const {
  if (const auto why = impl_->belongs_elsewhere())
    return runtime::to_failure(*why);
  const runtime::rundown::visit inside{impl_->hall};
  if (!inside)
    return runtime::to_failure(core::fail(ec::stopping, "the engine stops"));
  if (!impl_->kept)
    return runtime::to_failure(core::fail(
      ec::not_found, "the engine has no cache (cache.memory_mib is 0)"));
  index::entry_page page{which.after, which.most, std::nullopt};
  if (which.tenant)
    page.whose = core::tenant_of(*which.tenant);
  const auto found = impl_->kept->list(page);
  if (!found)
    return runtime::to_failure(found.why());
  std::vector<cache_entry> out;
  for (const auto& x : *found)
    out.push_back(entry_of(x, impl_->known->costs));
  return out;
}

result<void> engine::host_model(const std::string& model, bool there) {
  if (const auto why = impl_->belongs_elsewhere())
    return runtime::to_failure(*why);
  const runtime::rundown::visit inside{impl_->hall};
  if (!inside)
    return runtime::to_failure(
      core::fail(core::ec::stopping, "the engine stops"));
  const auto& all = impl_->profile->variants;
  actors::wish_hosting wish{{}, there};
  for (uint32_t v = 0; v < all.size(); ++v)
    if (all[v].model == model)
      wish.variants.emplace_back(v);
  if (wish.variants.empty())
    return runtime::to_failure(
      core::fail(core::ec::not_found, "model not found: '{}'", model));
  if (there)
    std::erase_if(wish.variants, [&](core::variant_id v) {
      const auto& x = all[v.value];
      return std::none_of(
        impl_->settings.devices.begin(), impl_->settings.devices.end(),
        [&](const config::device_settings& d) {
          const bool may =
            d.variants.empty()
            || std::find(d.variants.begin(), d.variants.end(), x.name)
                 != d.variants.end();
          return may
              && (d.memory_bytes == 0
                  || memory_on(*impl_->profile, v, config::device_kind(d))
                       <= d.memory_bytes);
        });
    });
  if (wish.variants.empty())
    return runtime::to_failure(core::fail(
      core::ec::out_of_resources,
      "model '{}': no device may host it by 'variants', or has the memory for "
      "it by 'memory_mib'",
      model));
  caf::anon_send(impl_->control.scheduler, wish);
  caf::anon_send(impl_->control.planner, std::move(wish));
  return {};
}

bool engine::stop(std::chrono::nanoseconds grace) {
  if (impl_->belongs_elsewhere())
    return false;
  impl_->entrance.close();
  if (impl_->clients->is_callback_thread())
    return false;
  const bool all = impl_->clients->wait_until_empty(grace);
  impl_->end();
  return all;
}

} // namespace atelier
