// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stage_path.hpp>
#include <atelier/actors/stages/classify.hpp>
#include <atelier/actors/stages/fetch.hpp>
#include <atelier/actors/stages/mask.hpp>
#include <atelier/actors/stages/remember.hpp>
#include <atelier/actors/stages/search.hpp>
#include <atelier/config/device_kind.hpp>
#include <atelier/core/eviction_rule.hpp>
#include <atelier/index/memory.hpp>
#include <atelier/index/store/store.hpp>
#include <atelier/index/timely.hpp>
#include <atelier/index/veiled.hpp>
#include <atelier/planning/grouping.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/schedule_search.hpp>
#include <atelier/runtime/kept_scope.hpp>
#include <atelier/runtime/make_classifier.hpp>
#include <atelier/runtime/make_executor.hpp>
#include <atelier/runtime/make_image_encoder.hpp>
#include <atelier/runtime/make_text_encoder.hpp>
#include <atelier/runtime/pipeline.hpp>
#include <atelier/runtime/thread_offload.hpp>

#include <caf/atom.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace atelier::runtime {

std::optional<planning::joining> joining_of(std::string_view batching) {
  if (batching == "step")
    return planning::joining::step;
  if (batching == "whole_batch")
    return planning::joining::whole_batch;
  if (batching == "single")
    return planning::joining::single;
  return std::nullopt;
}

system_config::system_config(size_t threads) {
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", threads);
  set("logger.file-verbosity", caf::atom("quiet"));
  add_message_types<caf::id_block::atelier>();
}

namespace {

/// @pre the settings are valid
core::eviction_rule rule_of(const config::cache_settings& x) {
  return core::eviction_rule_named(x.eviction).value();
}

index::cache_bounds bounds_of(const config::cache_settings& x, uint64_t bytes) {
  return {bytes, x.entries, x.answers, rule_of(x), x.tenant_floor, x.tenants};
}

} // namespace

std::shared_ptr<index::kept_work> kept_elsewhere(const config::settings& x) {
  if (x.cache.memory_bytes == 0)
    return nullptr;
  return std::make_shared<index::memory>(
    bounds_of(x.cache, x.cache.memory_bytes));
}

namespace {

core::result<std::shared_ptr<index::store>> store_of(
  const config::settings& x, std::span<const std::string> digests,
  std::shared_ptr<const index::text_encoder> encoder,
  std::shared_ptr<const index::image_encoder> images) {
  index::store_options with{{bounds_of(x.cache, x.cache.disk_bytes)}};
  with.folder = x.cache.folder;
  with.scope = kept_scope(x, digests);
  with.encoder = std::move(encoder);
  with.images = std::move(images);
  with.memory_bytes = x.cache.memory_bytes;
  with.retry = x.cache.disk_retry;
  auto made = index::store::open(std::move(with));
  if (!made)
    return core::fail(core::ec::bad_config, "cache.folder: {}",
                      made.why().text);
  return made;
}

} // namespace

core::result<std::shared_ptr<index::kept_work>> kept_work_of(
  const config::settings& x, std::span<const std::string> digests) {
  if (x.cache.memory_bytes == 0)
    return std::shared_ptr<index::kept_work>{};
  auto encoder = make_text_encoder(x);
  if (!encoder)
    return encoder.why();
  auto images = make_image_encoder(x, **encoder);
  if (!images)
    return images.why();
  const bool reads_images = *images != nullptr;
  index::queue_bounds queue;
  queue.most = x.cache.pending;
  std::shared_ptr<index::kept_work> kept;
  if (x.cache.folder.empty()) {
    kept =
      std::make_shared<index::memory>(bounds_of(x.cache, x.cache.memory_bytes),
                                      std::move(*encoder), std::move(*images));
    // Storing in memory alone takes no time for which anything could wait.
    if (reads_images)
      kept = std::make_shared<index::timely_work>(std::move(kept), queue);
  } else {
    auto stored = store_of(x, digests, std::move(*encoder), std::move(*images));
    if (!stored)
      return stored.why();
    index::disk_pace pace;
    pace.read_wait = x.cache.disk_wait;
    pace.write_wait = x.cache.disk_write_wait;
    pace.retry = x.cache.disk_retry;
    kept = std::make_shared<index::timely_work>(std::move(*stored), queue,
                                                std::move(pace));
  }
  return std::shared_ptr<index::kept_work>{std::make_shared<index::veiled_work>(
    std::move(kept), index::number_veil::random())};
}

std::shared_ptr<index::match_prediction> match_prediction_of(
  const config::settings& x, std::shared_ptr<index::kept_work> kept) {
  // Outcomes that all namespaces together remember.
  constexpr size_t most_outcomes = 16'384;
  index::prediction_limits most;
  most.entries = std::min<size_t>(x.cache.entries, most.entries);
  if (x.cache.tenants > 0) {
    most.first_come = true;
    most.spaces =
      std::min<size_t>(x.cache.tenants, most_outcomes / most.least_outcomes);
    most.outcomes = std::min(most.outcomes, most_outcomes / most.spaces);
  }
  // Each namespace waits at most once for each of its two predictors.
  auto thread = std::make_unique<thread_offload>(1, 2 * most.spaces);
  return std::make_shared<index::match_prediction>(std::move(kept),
                                                   std::move(thread), 0, most);
}

core::result<std::shared_ptr<const planning::pipeline>> stages_of(
  const config::settings& x, const std::vector<actors::added_stage>& more,
  const std::shared_ptr<index::kept_work>& kept,
  const std::shared_ptr<index::match_prediction>& predicts) {
  actors::standard_stages from;
  // Sides are bounded only by the pixels: a panorama is also an image.
  from.sources.side_px = UINT32_MAX;
  from.sources.picture_px = x.limits.source_px;
  // A worker that decodes gives no sign of life meanwhile.
  from.longest_decoding = std::min(x.limits.decode, x.processes.silence / 2);
  from.test_crash_preparing = x.preprocess.test_crash_seed;
  from.test_crash_finishing = x.postprocess.test_crash_seed;
  const auto& pace = x.scheduler;
  using planning::make_stage;
  if (!x.classifier.folder.empty())
    from.classify = make_stage(actors::classify_stage{
      [x] { return make_classifier(x); }, pace.facts, pace.facts_share});
  from.mask = make_stage(actors::mask_stage{from.sources, from.longest_decoding,
                                            pace.facts, pace.facts_share});
  if (kept) {
    if (x.arena.capture_slots == 0)
      return core::fail(core::ec::bad_config,
                        "cache.memory_mib: the cache needs capture slots, but "
                        "arena.capture_slots is 0");
    from.search = make_stage(actors::search_stage{
      kept, predicts, pace.facts, pace.facts_share, x.cache.fresh});
    from.fetch = make_stage(actors::fetch_stage{kept});
    from.remember = make_stage(actors::remember_stage{kept, x.cache.depth});
  }
  auto made = actors::standard_pipeline(from, more);
  if (!made || more.empty())
    return made;
  if (auto sound =
        planning::check(**made, {x.arena.state_slots, x.arena.image_slots,
                                 x.arena.capture_slots});
      !sound)
    return sound.why();
  return made;
}

namespace {

/// Sends the scheduler's orders to the workers of its own process, or to those
/// of others.
class either_process : public actors::handoff {
public:
  either_process(std::shared_ptr<actors::worker_directory> here,
                 std::shared_ptr<actors::handoff> others)
    : here_(std::move(here)), others_(std::move(others)) {}

  core::result<void> send(const actors::worker_address& to,
                          actors::work what) override {
    if (to.process == ipc::process_life{})
      return here_->send(to, std::move(what));
    return others_->send(to, std::move(what));
  }

  void settle() override {
    here_->settle();
    others_->settle();
  }

private:
  std::shared_ptr<actors::worker_directory> here_;
  std::shared_ptr<actors::handoff> others_;
};

/// Spawns the pools for whose role `chosen` is true.
std::vector<caf::actor> spawn_pools(caf::actor_system& sys,
                                    const part_context& with,
                                    bool (*chosen)(actors::role)) {
  std::vector<caf::actor> all;
  for (const auto& size : pools_of(with.settings, with.stages)) {
    if (!chosen(size.of))
      continue;
    auto some =
      actors::spawn_pool(sys, *with.workers, with.self, size,
                         {{}, 1, with.stages, with.slots, with.scheduler});
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

} // namespace

std::vector<actors::pool_size> pools_of(
  const config::settings& x,
  const std::shared_ptr<const planning::pipeline>& stages) {
  using actors::role;
  // Facts that arrive later than their budget are useless.
  constexpr uint32_t classifier_seats = 64;
  // The first remembers, too (asides::order). Orders are short, and each
  // worker processes its own one by one.
  constexpr uint32_t recall_workers = 2;
  constexpr uint32_t recall_seats = 256;
  std::vector<actors::pool_size> all{
    {role::preprocess, x.preprocess.workers, x.preprocess.seats},
    {role::postprocess, x.postprocess.workers, x.postprocess.seats}};
  const actors::stage_path path{stages};
  if (path.has_stage_of(role::classifier))
    all.push_back({role::classifier, 1, classifier_seats});
  if (path.has_stage_of(role::recall))
    all.push_back({role::recall, recall_workers, recall_seats});
  if (path.has_stage_of(role::device_stage))
    all.push_back(
      {role::device_stage, static_cast<uint32_t>(x.devices.size()), 1});
  return all;
}

std::vector<caf::actor> spawn_recall(caf::actor_system& sys,
                                     const part_context& with) {
  return spawn_pools(
    sys, with, [](actors::role of) { return of == actors::role::recall; });
}

std::vector<caf::actor> spawn_cpu_pools(caf::actor_system& sys,
                                        const part_context& with) {
  return spawn_pools(sys, with, [](actors::role of) {
    return of != actors::role::recall && of != actors::role::device_stage;
  });
}

control_actors spawn_control(caf::actor_system& sys, const part_context& with,
                             const control_context& control) {
  const auto& s = with.settings;
  actors::control_config x;
  x.reports = control.scheduler;
  x.watch = control.watch;
  x.scheduler.tick = s.scheduler.tick;
  auto& scheduling = x.scheduler.tables;
  scheduling.limits = s.limits;
  scheduling.pace = s.scheduler;
  scheduling.processes = s.processes;
  scheduling.arena = control.arena;
  scheduling.slots = {s.arena.state_slots, s.arena.image_slots,
                      s.arena.capture_slots};
  scheduling.policy = control.policy;
  scheduling.profile = with.profile;
  scheduling.initial_plan = control.first_plan;
  scheduling.stages = with.stages;
  scheduling.join = joining_of(s.scheduler.batching);
  auto& ports = x.scheduler.ports;
  ports.slots = with.slots;
  ports.workers = with.workers;
  if (control.others)
    ports.workers =
      std::make_shared<either_process>(with.workers, control.others);
  ports.clients = control.clients;
  ports.drawing = control.drawing;
  x.monitor.window = s.monitor.window;
  x.monitor.windows = s.monitor.windows;
  x.planner.offload = control.offload;
  x.planner.period = s.planner.period;
  x.supervisor.host = control.processes;
  if (control.processes)
    x.supervisor.parts = process_parts(s);
  x.supervisor.settings = s.processes;
  return actors::spawn_control(sys, std::move(x));
}

core::result<device_part> spawn_device(caf::actor_system& sys,
                                       const part_context& with,
                                       const config::device_settings& device,
                                       uint32_t index) {
  const auto kind = config::device_kind(device);
  const auto seen = with.profile->kinds.empty()
                    ? with.profile
                    : std::make_shared<const planning::profile>(
                      planning::seen_on(*with.profile, kind));
  // Only models can end a process while they are loaded.
  const bool bare = with.bare && device.executor == "torch";
  auto made = make_executor(with.settings, device, seen, with.slots,
                            with.executors, bare, with.digests);
  if (!made)
    return made.why();
  device_part x;
  x.device = std::move(*made);
  actors::denoise_step_config c;
  c.self = {with.self, actors::role::denoise_step, index};
  c.device = device.name;
  c.kind = kind;
  c.may_host = device.variants;
  c.weights = planning::weights_of(*with.profile);
  c.memory_bytes = device.memory_bytes;
  c.failed = x.device->failed_at_start();
  for (const auto v : x.device->resident())
    c.variants.push_back(with.profile->variants.at(v.value).name);
  if (c.variants.empty() && !bare) {
    c.variants = device.variants;
    std::erase_if(c.variants, [&](const std::string& name) {
      return std::ranges::any_of(c.failed, [&](const auto& f) {
        return with.profile->variants.at(f.variant.value).name == name;
      });
    });
  }
  c.seats = device.seats;
  c.max_batch = device.max_batch;
  c.publish_every = device.publish_every;
  // Events of a host's executor come from any thread.
  const bool hosts =
    std::ranges::find(with.executors, device.executor, &host_executor::name)
    != with.executors.end();
  c.on_executor_thread = !hosts;
  c.device_executor = x.device;
  c.scheduler = with.scheduler;
  actors::device_stage_config stages;
  stages.self = {with.self, actors::role::device_stage, index};
  stages.device = device.name;
  stages.stages = with.stages;
  stages.slots = with.slots;
  stages.scheduler = with.scheduler;
  stages.device_executor = x.device;
  stages.on_executor_thread = c.on_executor_thread;
  x.actor = actors::spawn_device(sys, *with.workers, std::move(c));
  if (actors::stage_path{with.stages}.has_stage_of(actors::role::device_stage))
    x.stages =
      actors::spawn_device_stage(sys, *with.workers, std::move(stages));
  return x;
}

std::vector<std::string> process_parts(const config::settings& x) {
  if (x.processes.mode == config::process_mode::single)
    return {};
  std::vector<std::string> parts{"cpu"};
  for (const auto& device : x.devices)
    parts.push_back(device.name);
  return parts;
}

size_t control_threads(
  const config::settings& x,
  const std::shared_ptr<const planning::pipeline>& stages) {
  if (x.actors.threads != 0)
    return x.actors.threads;
  const size_t scheduler_and_others =
    actors::stage_path{stages}.has_stage_of(actors::role::recall) ? 3 : 2;
  if (x.processes.mode == config::process_mode::split)
    return scheduler_and_others;
  return scheduler_and_others + cpu_threads(x);
}

size_t cpu_threads(const config::settings& x) {
  if (x.actors.threads != 0)
    return x.actors.threads;
  // One more worker finds facts.
  return size_t{x.preprocess.workers} + x.postprocess.workers + 1;
}

} // namespace atelier::runtime
