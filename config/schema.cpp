// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/schema.hpp>
#include <atelier/core/error.hpp>

#include <fmt/format.h>

namespace atelier::config {

namespace {

constexpr std::string_view modes[] = {"single", "split"};
constexpr std::string_view off_or_on[] = {"off", "on"};
constexpr std::string_view keyless_from[] = {"loopback", "anywhere"};
constexpr std::string_view link_targets[] = {"inside", "anywhere"};
constexpr std::string_view batchings[] = {"policy", "step", "whole_batch",
                                          "single"};
constexpr std::string_view levels[] = {"trace", "debug", "info",
                                       "warn",  "error", "off"};

constexpr double hour_ms = 3'600'000;
constexpr double day_s = 86'400;
constexpr double most_slots = 65'536;
/// 64 GiB in KiB.
constexpr double most_slot_kib = 67'108'864;

constexpr section all_sections[] = {
  {"limits", "What one request may ask for, and how much may wait."},
  {"arena", "Fixed sizes of the shared memory. A request that does not fit its "
            "slot is refused."},
  {"processes", "Starting, watching and ending processes."},
  {"preprocess", "CPU workers that prepare requests."},
  {"postprocess", "CPU workers that encode pictures."},
  {models_section, "One table per model on disk."},
  {devices_section, "One table per device. A file with one such table replaces "
                    "the default device."},
  {"scheduler", "Bounds and pace of the scheduler."},
  {"actors", "Threads of the actor system."},
  {"policy", "How requests are answered."},
  {"classifier", "What tells from a prompt how much it tolerates."},
  {"planner", "When plans are made."},
  {"monitor", "How demand is counted."},
  {"cache", "What is remembered of answered requests, for policies that let "
            "later ones start from it."},
  {"http", "The server's door: 'atelier serve'."},
  {"timeline", "The file of --timeline: what happened when."},
  {"log", "What is told on standard error."},
};

constexpr repetition all_repetitions[] = {
  {models_section, "model", 0, most_models,
   [](const settings& x) { return x.models.size(); },
   [](settings& x, size_t n) { x.models.assign(n, model_settings{}); },
   [](settings& x) { x.models.emplace_back(); }},
  {devices_section, "device", 1, most_devices,
   [](const settings& x) { return x.devices.size(); },
   [](settings& x, size_t n) { x.devices.assign(n, device_settings{}); },
   [](settings& x) { x.devices.emplace_back(); }},
};

#define ATELIER_AT(member)                                                     \
  [](settings& x, size_t) -> place { return &x.member; }
#define ATELIER_AT_MODEL(member)                                               \
  [](settings& x, size_t i) -> place { return &x.models[i].member; }
#define ATELIER_AT_DEVICE(member)                                              \
  [](settings& x, size_t i) -> place { return &x.devices[i].member; }

const option all_options[] = {
  {"limits", "prompt_bytes",
   "Longest prompt, and longest negative prompt, in UTF-8.",
   ATELIER_AT(limits.prompt_bytes), 1, 16'777'216},
  {"limits", "steps", "Most denoising steps of one request.",
   ATELIER_AT(limits.steps), 1, 10'000},
  {"limits", "guidance", "Largest guidance scale.", ATELIER_AT(limits.guidance),
   1, 1'000},
  {"limits", "side_px", "Longest side of a picture.",
   ATELIER_AT(limits.side_px), core::grid_px, 65'536},
  {"limits", "picture_px", "Largest picture, width times height.",
   ATELIER_AT(limits.picture_px), core::grid_px* core::grid_px, 4'294'967'296},
  {"limits", "requests", "Most requests accepted and not yet answered.",
   ATELIER_AT(limits.requests), 1, 10'000'000},
  {"limits", "queue_s",
   "Most predicted time until all of those are answered; beyond it a request "
   "is refused with the time to come back.",
   ATELIER_AT(limits.queue), 0.001, day_s},
  {"limits", "request_mib",
   "Most memory that the texts of those requests hold.",
   ATELIER_AT(limits.request_bytes), 1, 1'048'576},
  {"limits", "source_kib",
   "Largest file of an image that a request starts from, and of its mask.",
   ATELIER_AT(limits.source_bytes), 1, 4'194'303},
  {"limits", "source_px",
   "Largest such image, and mask: what decoding it may take.",
   ATELIER_AT(limits.source_px), 1, 4'294'967'296},
  {"limits", "decode_ms",
   "Longest time that decoding and scaling the files of one request may take; "
   "no more than half of processes.silence_ms counts.",
   ATELIER_AT(limits.decode), 1, 60'000},
  {"limits", "sources_mib",
   "Most memory that such files of those requests hold; at least twice "
   "source_kib.",
   ATELIER_AT(limits.sources_bytes), 1, 1'048'576},

  {"arena", "state_slots", "Slots for running latents.",
   ATELIER_AT(arena.state_slots), 2, most_slots},
  {"arena", "state_slot_kib", "Size of one of them.",
   ATELIER_AT(arena.state_slot_bytes), 4, most_slot_kib, form::multiple_of_64},
  {"arena", "image_slots", "Slots for pictures, as pixels or encoded.",
   ATELIER_AT(arena.image_slots), 2, most_slots},
  {"arena", "image_slot_kib", "Size of one of them.",
   ATELIER_AT(arena.image_slot_bytes), 4, most_slot_kib, form::multiple_of_64},
  {"arena", "capture_slots", "Slots for latents kept for a cache.",
   ATELIER_AT(arena.capture_slots), 0, most_slots},
  {"arena", "capture_slot_kib", "Size of one of them.",
   ATELIER_AT(arena.capture_slot_bytes), 4, most_slot_kib,
   form::multiple_of_64},
  {"arena", "ring_kib",
   "Size of the message ring of each direction of each process.",
   ATELIER_AT(arena.ring_bytes), 64, 1'048'576, form::power_of_two},

  {"processes", "mode",
   "All actors in one process, or split into one process for control, one for "
   "CPU work and one per device.",
   ATELIER_AT(processes.mode), 0, 0, form::any, modes},
  {"processes", "program",
   "Program of the other processes; empty: the installed one.",
   ATELIER_AT(processes.program)},
  {"processes", "cpu_cores",
   "Cores that the process of the CPU work may run on, as \"0-3,6\"; empty: "
   "all. Needs mode \"split\".",
   ATELIER_AT(processes.cpu_cores), 0, 0, form::core_set},
  {"processes", "setup_ms",
   "How long a process may take to start and load its models.",
   ATELIER_AT(processes.setup), 1, hour_ms},
  {"processes", "heartbeat_ms",
   "How often a process is asked for a sign of life.",
   ATELIER_AT(processes.heartbeat), 1, hour_ms},
  {"processes", "silence_ms",
   "A process that is set up and this long without a sign is suspected; at "
   "least twice the heartbeat.",
   ATELIER_AT(processes.silence), 2, hour_ms},
  {"processes", "step_factor",
   "A worker without a step for this many times the predicted time, plus "
   "silence_ms, is suspected.",
   ATELIER_AT(processes.step_factor), 1, 1'000},
  {"processes", "confirm_ms",
   "How long the exit of a killed process is awaited before its requests go on "
   "elsewhere.",
   ATELIER_AT(processes.confirm), 1, hour_ms},
  {"processes", "restart_first_ms",
   "Pause before a restart. It doubles while deaths that no request explains "
   "are at most 10 s apart.",
   ATELIER_AT(processes.restart_first), 1, hour_ms},
  {"processes", "restart_most_ms", "Longest pause before a restart.",
   ATELIER_AT(processes.restart_most), 1, hour_ms},
  {"processes", "grace_ms", "How long stopping waits for running work.",
   ATELIER_AT(processes.grace), 0, hour_ms},

// NOLINTBEGIN(bugprone-macro-parentheses): a member's name, not a value.
#define ATELIER_POOL(pool)                                                      \
  {#pool, "workers", "Workers of the pool.", ATELIER_AT(pool.workers), 1, 256}, \
    {#pool,                                                                     \
     "seats",                                                                   \
     "Requests that a worker holds at a time, the running one included.",       \
     ATELIER_AT(pool.seats),                                                    \
     1,                                                                         \
     4'096},                                                                    \
  {                                                                             \
#    pool, "test_crash_seed",                                                   \
      "The process crashes when it works on a request of this seed, to "        \
      "rehearse that; 0: never.",                                               \
      ATELIER_AT(pool.test_crash_seed), 0, 4'294'967'295                        \
  }
  ATELIER_POOL(preprocess),
  ATELIER_POOL(postprocess),
#undef ATELIER_POOL
  // NOLINTEND(bugprone-macro-parentheses)

  {models_section, "name", "The name that variants and requests use.",
   ATELIER_AT_MODEL(name), 0, 0, form::nonempty},
  {models_section, "path",
   "A folder in diffusers' layout, or a single .safetensors file.",
   ATELIER_AT_MODEL(path), 0, 0, form::nonempty},
  {models_section, "vae",
   "A folder or file whose autoencoder replaces the model's; empty: its own.",
   ATELIER_AT_MODEL(vae)},
  {models_section, "weights",
   "Of weight files side by side, \"fp16\" takes those named so; empty: those "
   "without such a name.",
   ATELIER_AT_MODEL(weights)},
  {models_section, "guidance",
   "Guidance where a request names none; -1: that of the model's kind.",
   ATELIER_AT_MODEL(guidance), -1, 1'000},
  {models_section, "links",
   "Where links in its folder may lead: inside, into another model's folder "
   "beside it and into the blobs of its Hugging Face cache; or anywhere, for "
   "models that you trust.",
   ATELIER_AT_MODEL(links), 0, 0, form::any, link_targets},

  {devices_section, "name", "The device; no two tables name the same.",
   ATELIER_AT_DEVICE(name), 0, 0, form::device_name},
  {devices_section, "kind",
   "Devices of one kind take equally long for the same work; empty: what "
   "stands "
   "before the colon in the name.",
   ATELIER_AT_DEVICE(kind), 0, 0, form::kind_name},
  {devices_section, "profile",
   "A file that 'atelier profile' wrote on such a device: its costs hold for "
   "all "
   "devices of the kind, those of planner.profile for the others.",
   ATELIER_AT_DEVICE(profile)},
  {devices_section, "cores",
   "Cores that its process may run on, as \"0-3,6\"; empty: all. Needs "
   "processes.mode \"split\".",
   ATELIER_AT_DEVICE(cores), 0, 0, form::core_set},
  {devices_section, "executor",
   "What runs there; auto: what its variants need. In a host, also the name of "
   "an executor of its own.",
   ATELIER_AT_DEVICE(executor), 0, 0, form::any, executors},
  {devices_section, "variants",
   "Models with their steps and element type that it may host; empty: those of "
   "the shipped family, or without it the test card.",
   ATELIER_AT_DEVICE(variants), 0, 0, form::variant_list},
  {devices_section, "memory_mib",
   "Most memory of the models that are resident at a time: the least recently "
   "used leave for others; 0: all variants are resident.",
   ATELIER_AT_DEVICE(memory_bytes), 0, 16'777'216},
  {devices_section, "max_batch", "Most rows of one step; at most the seats.",
   ATELIER_AT_DEVICE(max_batch), 1, 1'024},
  {devices_section, "seats",
   "Requests that the worker holds at a time, waiting ones included.",
   ATELIER_AT_DEVICE(seats), 1, 4'096},
  {devices_section, "publish_every",
   "Publish a row's state after every so many steps.",
   ATELIER_AT_DEVICE(publish_every), 1, 10'000},
  {devices_section, "threads",
   "Threads of the executor's arithmetic; 0: all cores.",
   ATELIER_AT_DEVICE(threads), 0, 1'024},
  {devices_section, "test_card_step_ms",
   "Duration of one step of the test card; 0: as fast as it draws.",
   ATELIER_AT_DEVICE(test_card_step), 0, hour_ms},
  {devices_section, "test_card_load_ms",
   "Duration of making the test card; stands for loading a model.",
   ATELIER_AT_DEVICE(test_card_load), 0, hour_ms},
  {devices_section, "test_card_fault_every",
   "Every so many steps of the test card one throws, in turn as out of memory "
   "and as an unknown fault, to rehearse faults; 0: never.",
   ATELIER_AT_DEVICE(test_card_fault_every), 0, 1'000'000},

  {"scheduler", "tick_ms", "How often late work is looked for.",
   ATELIER_AT(scheduler.tick), 0.1, 60'000},
  {"scheduler", "attempts",
   "Dispatches of one request before it fails as unavailable.",
   ATELIER_AT(scheduler.attempts), 1, 1'000},
  {"scheduler", "ageing_s",
   "Each so long waited raises a request's priority by one.",
   ATELIER_AT(scheduler.ageing), 0.001, day_s},
  {"scheduler", "batching",
   "When requests join a device's batch: as the policy says, between any two "
   "steps, when the whole batch before ended, or one by one. The last two are "
   "there to compare with.",
   ATELIER_AT(scheduler.batching), 0, 0, form::any, batchings},
  {"scheduler", "facts_ms",
   "A request goes on without what its policy asked of it (what it tolerates, "
   "what is near) when no answer came in this time.",
   ATELIER_AT(scheduler.facts), 0.1, 60'000},
  {"scheduler", "facts_share",
   "Of a request with a deadline: in this share of the time that it has left, "
   "if that is shorter.",
   ATELIER_AT(scheduler.facts_share), 0, 1},

  {"actors", "threads",
   "Threads that run actors; 0: chosen from the pools and the cores.",
   ATELIER_AT(actors.threads), 0, 1'024},

  {"policy", "name",
   "Name of the policy; docs/policies.md lists them. \"auto\": 'atelier' for "
   "several models that nothing relates, else 'vanilla'.",
   ATELIER_AT(policy.name), 0, 0, form::nonempty},
  {"policy", "judges",
   "A folder with one for each network that judges pictures, by its name; "
   "empty: the shipped family's.",
   ATELIER_AT(policy.judges)},

  {"classifier", "folder",
   "A folder as 'atelier train export' writes it for the classifier: it "
   "expects "
   "of a prompt how good its picture will be in each way to draw it; empty: "
   "the "
   "shipped one where the shipped models are hosted, else none.",
   ATELIER_AT(classifier.folder)},

  {"planner", "profile",
   "A file that 'atelier profile' wrote for this machine; empty: durations are "
   "guessed from the models' sizes.",
   ATELIER_AT(planner.profile)},
  {"planner", "quality",
   "A file that 'atelier evaluate' wrote: what pictures of the variants are "
   "worth, and what judges let pass; empty: the shipped family's.",
   ATELIER_AT(planner.quality)},
  {"planner", "plan",
   "A file that 'atelier plan -o' wrote, to answer by with policy.name = "
   "\"fixed\"; else empty.",
   ATELIER_AT(planner.plan)},
  {"planner", "period_s", "Time between two plans.", ATELIER_AT(planner.period),
   0.01, day_s},

  {"monitor", "window_s", "Length of one counting window.",
   ATELIER_AT(monitor.window), 0.01, day_s},
  {"monitor", "windows", "How many windows are kept.",
   ATELIER_AT(monitor.windows), 1, 10'000},

  {"cache", "memory_mib",
   "Most memory of what is kept; beyond it the least recently used leaves. 0: "
   "nothing is remembered.",
   ATELIER_AT(cache.memory_bytes), 0, 16'777'216},
  {"cache", "entries", "Most requests that something is kept of.",
   ATELIER_AT(cache.entries), 1, 10'000'000},

  {"http", "listen",
   "HOST:PORT to listen to; port 0 takes a free one. Without HOST it is "
   "127.0.0.1: programs of this machine only.",
   ATELIER_AT(http.listen), 0, 0, form::endpoint},
  {"http", "without_key",
   "Who is served without a key: programs of this machine, which an address "
   "beyond it then refuses to start with, or anybody.",
   ATELIER_AT(http.without_key), 0, 0, form::any, keyless_from},
  {"http", "keys",
   "File of keys, a line \"NAME user|admin SHA256 [PER_MINUTE]\" each; empty: "
   "none are asked for.",
   ATELIER_AT(http.keys)},
  {"http", "certificate", "TLS: a chain of certificates, as PEM.",
   ATELIER_AT(http.certificate)},
  {"http", "private_key", "TLS: its private key, as PEM.",
   ATELIER_AT(http.private_key)},
  {"http", "origins",
   "Origins of web pages that may use the APIs, as \"https://host:port\".",
   ATELIER_AT(http.origins), 0, 0, form::origin_list},
  {"http", "threads", "Threads that serve connections.",
   ATELIER_AT(http.threads), 1, 64},
  {"http", "connections", "Most connections at a time.",
   ATELIER_AT(http.connections), 1, 1'000'000},
  {"http", "connections_of_peer",
   "Most connections of one address (IPv6: of one /64) at a time; 0: 256, and "
   "no limit for this machine's own addresses, from where a proxy may bring "
   "everybody.",
   ATELIER_AT(http.connections_of_peer), 0, 1'000'000},
  {"http", "header_kib", "Largest head of a request.",
   ATELIER_AT(http.header_bytes), 1, 1'024},
  {"http", "body_mib", "Largest body of a request.",
   ATELIER_AT(http.body_bytes), 1, 4'096},
  {"http", "bodies_mib",
   "Most memory that all bodies hold at a time; at least body_mib.",
   ATELIER_AT(http.bodies_bytes), 1, 1'048'576},
  {"http", "unsent_mib",
   "Most that waits for a client that reads slowly; then it is disconnected.",
   ATELIER_AT(http.unsent_bytes), 1, 4'096},
  {"http", "read_ms", "How long sending a request may take.",
   ATELIER_AT(http.read), 1, hour_ms},
  {"http", "idle_ms", "How long a connection may rest, and a client not read.",
   ATELIER_AT(http.idle), 1, hour_ms},
  {"http", "jobs", "Jobs known, ended ones included.", ATELIER_AT(http.jobs), 1,
   10'000'000},
  {"http", "pictures", "Most pictures of one call.", ATELIER_AT(http.pictures),
   1, 1'024},
  {"http", "results_mib",
   "Pictures of jobs that ended, in memory: until they are in files, or where "
   "they cannot be.",
   ATELIER_AT(http.results_bytes), 1, 1'048'576},
  {"http", "results_disk_mib",
   "Those in files, in the folder results of the data folder; 0: none.",
   ATELIER_AT(http.results_disk_bytes), 0, 1'048'576},
  {"http", "results_s", "How long they are kept.", ATELIER_AT(http.results), 1,
   day_s},
  {"http", "retry_ms",
   "How long a call with an Idempotency-Key goes on after its client went, for "
   "the client to come again.",
   ATELIER_AT(http.retry), 0, hour_ms},
  {"http", "journal",
   "on: jobs outlive the server. Each is on the disk, in jobs.sqlite of the "
   "data "
   "folder, before it is answered 202, and what was open is drawn after the "
   "next "
   "start. Needs results_disk_mib.",
   ATELIER_AT(http.journal), 0, 0, form::any, off_or_on},

  {"timeline", "file_mib",
   "Largest file; what happens later is left out and counted.",
   ATELIER_AT(timeline.file_bytes), 1, 1'048'576},
  {"timeline", "events",
   "Most events that wait to be written; those beyond are left out and "
   "counted.",
   ATELIER_AT(timeline.events), 1, 16'777'216},

  {"log", "level", "The least severe messages that are told.",
   ATELIER_AT(log.level), 0, 0, form::any, levels},
};

#undef ATELIER_AT
#undef ATELIER_AT_MODEL
#undef ATELIER_AT_DEVICE

constexpr unit units[] = {
  {"_ms", "milliseconds", 1e6},     {"_s", "seconds", 1e9},
  {"_bytes", "bytes", 1},           {"_kib", "KiB", 1024},
  {"_mib", "MiB", 1024.0 * 1024.0}, {"_px", "pixels", 1},
};

constexpr unit no_unit;

template <class T>
constexpr bool is_pointer_to(const place& x) {
  return std::holds_alternative<T*>(x);
}

} // namespace

std::span<const option> options() {
  return all_options;
}

option widened_by(std::span<const std::string_view> choices, option x) {
  if (x.choices.data() == executors)
    x.choices = choices;
  return x;
}

std::span<const section> sections() {
  return all_sections;
}

kind kind_of(const option& x) {
  // The type of the member decides, so that no option can claim another.
  static settings sample = [] {
    settings one;
    for (const auto& r : all_repetitions)
      r.assign(one, 1);
    return one;
  }();
  const place where = x.at(sample, 0);
  if (is_pointer_to<core::timespan>(where))
    return kind::duration;
  if (!x.choices.empty())
    return kind::choice;
  if (is_pointer_to<std::string>(where))
    return kind::text;
  if (is_pointer_to<std::vector<std::string>>(where))
    return kind::text_list;
  if (is_pointer_to<float>(where) || is_pointer_to<double>(where))
    return kind::real;
  const auto suffix = unit_of(x).suffix;
  const bool in_bytes =
    suffix == "_bytes" || suffix == "_kib" || suffix == "_mib";
  return in_bytes ? kind::byte_size : kind::integer;
}

const unit& unit_of(const option& x) {
  for (const auto& u : units)
    if (x.name.ends_with(u.suffix))
      return u;
  return no_unit;
}

std::span<const repetition> repetitions() {
  return all_repetitions;
}

const repetition* repetition_of(std::string_view section) {
  for (const auto& r : all_repetitions)
    if (r.section == section)
      return &r;
  return nullptr;
}

size_t count_of(const option& x, const settings& values) {
  const auto* r = repetition_of(x.section);
  return r != nullptr ? r->count(values) : 1;
}

std::string key_of(const option& x, size_t index) {
  if (repetition_of(x.section) != nullptr)
    return fmt::format("{}[{}].{}", x.section, index, x.name);
  return fmt::format("{}.{}", x.section, x.name);
}

instance option_at(const settings& values, const void* member) {
  instance found;
  for (const auto& x : all_options)
    for (size_t i = 0; i < count_of(x, values); ++i)
      if (std::visit([&](const auto* at) { return at == member; },
                     look_at(x, values, i)))
        found = {&x, i};
  ATELIER_EXPECTS(found.what, "the member is an option's");
  return found;
}

place look_at(const option& x, const settings& values, size_t index) {
  // The accessors only compute an address; the callers only read through it.
  return x.at(const_cast<settings&>(values), index);
}

} // namespace atelier::config
