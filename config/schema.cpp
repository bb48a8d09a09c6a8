// SPDX-License-Identifier: Apache-2.0
// The table of all configuration options. Long, because it is one table: each
// option's name, range, default and text are read together.
#include <atelier/config/schema.hpp>
#include <atelier/core/error.hpp>
#include <atelier/core/eviction_rule.hpp>
#include <atelier/core/parameters.hpp>

#include <fmt/format.h>

namespace atelier::config {

namespace {

constexpr std::string_view modes[] = {"single", "split"};
constexpr std::string_view instruction_sets[] = {"auto", "portable", "avx2",
                                                 "avx512", "avx512_bf16"};
constexpr std::string_view off_or_on[] = {"off", "on"};
constexpr std::string_view keyless_from[] = {"loopback", "anywhere"};
constexpr std::string_view link_targets[] = {"inside", "anywhere"};
constexpr std::string_view predictions[] = {"auto", "epsilon", "v_prediction",
                                            "sample"};
constexpr std::string_view spacings[] = {"auto", "leading", "trailing",
                                         "linspace"};
constexpr std::string_view batchings[] = {"policy", "step", "whole_batch",
                                          "single"};
constexpr std::string_view deadlines[] = {"none", "profile"};
constexpr std::string_view comparisons[] = {"prompts", "images"};
constexpr std::string_view levels[] = {"trace", "debug", "info",
                                       "warn",  "error", "off"};

constexpr double hour_ms = 3'600'000;
constexpr double day_s = 86'400;
constexpr double most_slots = 65'536;
/// 64 GiB in KiB.
constexpr double most_slot_kib = 67'108'864;

constexpr section all_sections[] = {
  {"limits", "Limits of one request, and of the queue."},
  {"arena", "Fixed sizes of the shared memory. A request that does not fit its "
            "slot is rejected."},
  {"processes", "Starting, monitoring and ending processes."},
  {"preprocess", "CPU workers that prepare requests."},
  {"postprocess", "CPU workers that encode images."},
  {models_section, "One table per model on disk."},
  {devices_section, "One table per device. A file with one such table replaces "
                    "the default device."},
  {"scheduler", "Limits and intervals of the scheduler."},
  {"actors", "Threads of the actor system."},
  {"policy", "How requests are answered."},
  {"classifier", "The network that predicts a prompt's difficulty."},
  {"planner", "When plans are made."},
  {"monitor", "How demand is counted."},
  {"cache", "Cache of answered requests, for policies that start later "
            "requests from earlier work."},
  {"http", "The HTTP server: 'atelier serve'."},
  {"timeline", "The file of --timeline, with the events of a run."},
  {"log", "Messages on standard error."},
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
   "Maximum length of a prompt, and of a negative prompt, in UTF-8.",
   ATELIER_AT(limits.prompt_bytes), 1, 16'777'216},
  {"limits", "steps", "Maximum number of denoising steps of one request.",
   ATELIER_AT(limits.steps), 1, 10'000},
  {"limits", "guidance", "Maximum guidance scale.", ATELIER_AT(limits.guidance),
   1, 1'000},
  {"limits", "side_px", "Maximum length of an image's longer side.",
   ATELIER_AT(limits.side_px), core::grid_px, 65'536},
  {"limits", "picture_px", "Maximum size of an image, width times height.",
   ATELIER_AT(limits.picture_px), core::grid_px* core::grid_px, 4'294'967'296},
  {"limits", "requests",
   "Maximum number of open requests. All keys together may reach twice this "
   "limit and the other limits on open requests; one key may not.",
   ATELIER_AT(limits.requests), 1, 10'000'000},
  {"limits", "queue_s",
   "Maximum predicted time until all open requests are answered; above it a "
   "request is rejected with a retry time.",
   ATELIER_AT(limits.queue), 0.001, day_s},
  {"limits", "request_mib", "Maximum memory for the texts of open requests.",
   ATELIER_AT(limits.request_bytes), 1, 1'048'576},
  {"limits", "source_kib",
   "Maximum size of a request's input image file, and of its mask file.",
   ATELIER_AT(limits.source_bytes), 1, 4'194'303},
  {"limits", "source_px",
   "Maximum size of an input image, and of a mask, width times height.",
   ATELIER_AT(limits.source_px), 1, 4'294'967'296},
  {"limits", "decode_ms",
   "Maximum time for decoding and scaling the files of one request; values "
   "above half of processes.silence_ms count as half of it.",
   ATELIER_AT(limits.decode), 1, 60'000},
  {"limits", "sources_mib",
   "Maximum memory for the input files of open requests; at least twice "
   "source_kib.",
   ATELIER_AT(limits.sources_bytes), 1, 1'048'576},

  {"arena", "state_slots", "Slots for running latents.",
   ATELIER_AT(arena.state_slots), 2, most_slots},
  {"arena", "state_slot_kib", "Size of a state slot.",
   ATELIER_AT(arena.state_slot_bytes), 4, most_slot_kib, form::multiple_of_64},
  {"arena", "image_slots", "Slots for images, as pixels or encoded.",
   ATELIER_AT(arena.image_slots), 2, most_slots},
  {"arena", "image_slot_kib", "Size of an image slot.",
   ATELIER_AT(arena.image_slot_bytes), 4, most_slot_kib, form::multiple_of_64},
  {"arena", "capture_slots", "Slots for latents kept for a cache.",
   ATELIER_AT(arena.capture_slots), 0, most_slots},
  {"arena", "capture_slot_kib", "Size of a capture slot.",
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
   "Program of the other processes; empty: the installed program.",
   ATELIER_AT(processes.program), 0, 0, form::path},
  {"processes", "cpu_cores",
   "Cores for the process of the CPU work, such as \"0-3,6\"; empty: all. "
   "Needs mode \"split\".",
   ATELIER_AT(processes.cpu_cores), 0, 0, form::core_set},
  {"processes", "instruction_set",
   "Fastest instruction set of the processor that all processes may use; auto: "
   "the fastest that it has. A set that it lacks is refused at the start.",
   ATELIER_AT(processes.instruction_set), 0, 0, form::any, instruction_sets},
  {"processes", "setup_ms",
   "Maximum time for a process to start and load its models.",
   ATELIER_AT(processes.setup), 1, hour_ms},
  {"processes", "heartbeat_ms",
   "Interval of the heartbeat messages to each process.",
   ATELIER_AT(processes.heartbeat), 1, hour_ms},
  {"processes", "silence_ms",
   "Time without a heartbeat after which a process is suspected; at least "
   "twice the heartbeat.",
   ATELIER_AT(processes.silence), 2, hour_ms},
  {"processes", "step_factor",
   "A worker without a step for this many times the predicted time, plus "
   "silence_ms, is suspected.",
   ATELIER_AT(processes.step_factor), 1, 1'000},
  {"processes", "confirm_ms",
   "Maximum wait for the exit of a killed process before its requests continue "
   "elsewhere.",
   ATELIER_AT(processes.confirm), 1, hour_ms},
  {"processes", "restart_first_ms",
   "Pause before a restart. It doubles if deaths without a request as their "
   "cause are at most 10 s apart.",
   ATELIER_AT(processes.restart_first), 1, hour_ms},
  {"processes", "restart_most_ms", "Maximum pause before a restart.",
   ATELIER_AT(processes.restart_most), 1, hour_ms},
  {"processes", "grace_ms", "Time for running work to finish during shutdown.",
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
   ATELIER_AT_MODEL(path), 0, 0, form::nonempty_path},
  {models_section, "vae",
   "A folder or file whose autoencoder replaces the model's; empty: its own.",
   ATELIER_AT_MODEL(vae), 0, 0, form::path},
  {models_section, "weights",
   "Variant of the weight files, such as \"fp16\"; empty: the files without a "
   "variant name.",
   ATELIER_AT_MODEL(weights)},
  {models_section, "prediction_type",
   "What its denoiser predicts, for models whose files do not say it; auto: "
   "what its files say, otherwise the usual one of its kind.",
   ATELIER_AT_MODEL(prediction_type), 0, 0, form::any, predictions},
  {models_section, "timestep_spacing",
   "Spacing of the steps: trailing for models distilled to a few steps (Turbo, "
   "Lightning, Hyper), whose single files do not say it; auto: what its files "
   "say, otherwise the usual one of its kind.",
   ATELIER_AT_MODEL(timestep_spacing), 0, 0, form::any, spacings},
  {models_section, "guidance",
   "Default guidance; -1: that of the model's kind.",
   ATELIER_AT_MODEL(guidance), -1, 1'000},
  {models_section, "links",
   "Allowed targets of links in the model's folder: inside (another model's "
   "folder beside it and the blobs of its Hugging Face cache), or anywhere, "
   "for models that you trust.",
   ATELIER_AT_MODEL(links), 0, 0, form::any, link_targets},

  {devices_section, "name", "The device; every table needs a different one.",
   ATELIER_AT_DEVICE(name), 0, 0, form::device_name},
  {devices_section, "kind",
   "Kind of device: devices of one kind take equally long for the same work. "
   "Empty: the device's name up to the colon.",
   ATELIER_AT_DEVICE(kind), 0, 0, form::kind_name},
  {devices_section, "profile",
   "Profile that 'atelier profile' wrote on such a device: its costs hold for "
   "all devices of the kind, those of planner.profile for the others.",
   ATELIER_AT_DEVICE(profile), 0, 0, form::path},
  {devices_section, "cores",
   "Cores for the device's process, such as \"0-3,6\"; empty: all. Needs "
   "processes.mode \"split\".",
   ATELIER_AT_DEVICE(cores), 0, 0, form::core_set},
  {devices_section, "executor",
   "The executor; auto: the one that the variants need. Host programs can add "
   "their own names.",
   ATELIER_AT_DEVICE(executor), 0, 0, form::any, executors},
  {devices_section, "variants",
   "Models that the device may host, with their steps and element type; empty: "
   "those of the shipped family.",
   ATELIER_AT_DEVICE(variants), 0, 0, form::variant_list},
  {devices_section, "memory_mib",
   "Maximum memory for resident models: the least recently used are unloaded "
   "for others; 0: all variants are resident.",
   ATELIER_AT_DEVICE(memory_bytes), 0, 16'777'216},
  {devices_section, "max_batch",
   "Maximum number of rows in one step; at most the seats.",
   ATELIER_AT_DEVICE(max_batch), 1, 1'024},
  {devices_section, "seats",
   "Requests that the worker holds at a time, waiting ones included.",
   ATELIER_AT_DEVICE(seats), 1, 4'096},
  {devices_section, "publish_every",
   "Number of steps between publications of a row's state.",
   ATELIER_AT_DEVICE(publish_every), 1, 10'000},
  {devices_section, "threads",
   "Threads of the executor's arithmetic; 0: all cores.",
   ATELIER_AT_DEVICE(threads), 0, 1'024},
  {devices_section, "test_card_step_ms",
   "Duration of one step of the test card; 0: as fast as it draws.",
   ATELIER_AT_DEVICE(test_card_step), 0, hour_ms},
  {devices_section, "test_card_load_ms",
   "Duration of making the test card; simulates loading a model.",
   ATELIER_AT_DEVICE(test_card_load), 0, hour_ms},
  {devices_section, "test_card_fault_every",
   "Number of test card steps between injected exceptions, alternating between "
   "out of memory and an unknown fault; 0: never.",
   ATELIER_AT_DEVICE(test_card_fault_every), 0, 1'000'000},

  {"scheduler", "tick_ms", "Interval of the check for late work.",
   ATELIER_AT(scheduler.tick), 0.1, 60'000},
  {"scheduler", "attempts",
   "Dispatches of one request before it fails as unavailable.",
   ATELIER_AT(scheduler.attempts), 1, 1'000},
  {"scheduler", "ageing_s",
   "Waiting time that raises a request's priority by one.",
   ATELIER_AT(scheduler.ageing), 0.001, day_s},
  {"scheduler", "batching",
   "When requests join a device's batch: as the policy says, between any two "
   "steps, when the previous batch ended, or one by one. The last two exist "
   "for comparisons.",
   ATELIER_AT(scheduler.batching), 0, 0, form::any, batchings},
  {"scheduler", "facts_ms",
   "Maximum wait for the facts that a policy asks for (a prompt's difficulty, "
   "similar earlier work); the request then continues without them.",
   ATELIER_AT(scheduler.facts), 0.1, 60'000},
  {"scheduler", "facts_share",
   "Maximum wait for facts as a share of the time until a request's deadline; "
   "the shorter wait applies.",
   ATELIER_AT(scheduler.facts_share), 0, 1},

  {"actors", "threads",
   "Threads that run actors; 0: chosen from the pools and the cores.",
   ATELIER_AT(actors.threads), 0, 1'024},

  {"policy", "name",
   "Name of the policy; docs/policies.md lists them. \"auto\": 'atelier' for "
   "several unrelated models, otherwise 'vanilla'.",
   ATELIER_AT(policy.name), 0, 0, form::nonempty},
  {"policy", "deadline",
   "Deadline of a request that names no deadline_ms, as OpenAI's and the web "
   "UI's clients do not: none, or deadline_ms of the profile's first cascade, "
   "which plans keep.",
   ATELIER_AT(policy.deadline), 0, 0, form::any, deadlines},
  {"policy", "deadline_ms",
   "The same deadline in milliseconds from arrival to the answer; 0: "
   "policy.deadline says it.",
   ATELIER_AT(policy.own_deadline), 0, day_s * 1000},
  {"policy", "judges",
   "Folder that contains a folder for each judge network, by name; empty: the "
   "shipped family's.",
   ATELIER_AT(policy.judges), 0, 0, form::path},

  {"classifier", "folder",
   "Folder that 'atelier train export' wrote for the classifier, which "
   "predicts the quality of a prompt's image on each route; empty: the shipped "
   "one if the shipped models are hosted, otherwise none.",
   ATELIER_AT(classifier.folder), 0, 0, form::path},

  {"planner", "profile",
   "Profile that 'atelier profile' wrote for this machine; empty: durations "
   "are estimated from the models' sizes.",
   ATELIER_AT(planner.profile), 0, 0, form::path},
  {"planner", "quality",
   "File that 'atelier evaluate' wrote, with the quality of the variants and "
   "the judges' pass rates; empty: the shipped family's.",
   ATELIER_AT(planner.quality), 0, 0, form::path},
  {"planner", "plan",
   "Plan that 'atelier plan -o' wrote, for policy.name = \"fixed\"; otherwise "
   "empty.",
   ATELIER_AT(planner.plan), 0, 0, form::path},
  {"planner", "period_s", "Time between two plans.", ATELIER_AT(planner.period),
   0.01, day_s},

  {"monitor", "window_s", "Length of one counting window.",
   ATELIER_AT(monitor.window), 0.01, day_s},
  {"monitor", "windows", "Number of windows kept.", ATELIER_AT(monitor.windows),
   1, 10'000},

  {"cache", "memory_mib",
   "Maximum memory of the cache. 0: no cache. With cache.folder: maximum "
   "memory "
   "of copies of what is in the folder; the least recently used are removed "
   "first.",
   ATELIER_AT(cache.memory_bytes), 0, 16'777'216},
  {"cache", "entries", "Maximum number of requests in the cache.",
   ATELIER_AT(cache.entries), 1, 10'000'000},
  {"cache", "answers",
   "Maximum number of requests that the entries of a prompt answer together; "
   "then they leave, so that neither one image nor copies of it shape all "
   "similar ones. 0: no limit.",
   ATELIER_AT(cache.answers), 0, 1'000'000'000},
  {"cache", "depth",
   "Maximum number of times that reuse is chained in what is kept: what is "
   "made of the last of the chain is answered, but not kept, because each pass "
   "loses quality. 0: only work that began with noise is kept.",
   ATELIER_AT(cache.depth), 0, 1'000},
  {"cache", "fresh",
   "Share of the requests that are drawn in full although similar work may be "
   "kept, so that the cache is renewed and what reuse costs and saves stays "
   "measured; some policies draw another share so on their own.",
   ATELIER_AT(cache.fresh), 0, 1},
  {"cache", "eviction",
   "What leaves a full cache first: fifo (the oldest entry), lru (the entry "
   "that was unused for longest) or lcbfu (the state or image whose uses "
   "skipped the fewest steps altogether; of equal ones the one that was unused "
   "for longest).",
   ATELIER_AT(cache.eviction), 0, 0, form::any, core::server_eviction_rules},
  {"cache", "use",
   "How requests use the cache unless they say it: off, read (start from "
   "earlier requests' work), write (leave work for later ones) or on (both). A "
   "seed or deterministic in a request keeps the cache from being read.",
   ATELIER_AT(cache.use), 0, 0, form::any, core::cache_use_names},
  {"cache", "encoder",
   "Folder of a CLIP model, such as models/scorer, whose text encoder compares "
   "prompts, or of a sentence encoder (BERT). Empty: prompts are compared by "
   "their words.",
   ATELIER_AT(cache.encoder), 0, 0, form::path},
  {"cache", "compares",
   "What a prompt is compared with: prompts (those of earlier requests) or "
   "images (those in the cache, for policies such as crs). Images need the "
   "folder of a CLIP model in cache.encoder, whose image encoder reads them.",
   ATELIER_AT(cache.compares), 0, 0, form::any, comparisons},
  {"cache", "encoder_memo",
   "Maximum number of prompts whose vectors stay in memory, so that "
   "cache.encoder runs once for the search and the storing of a prompt. "
   "However long a prompt is, it takes 4 bytes for each number of its vector "
   "and about 200 more. 0: none.",
   ATELIER_AT(cache.encoder_memo), 0, 1'000'000},
  {"cache", "folder",
   "Folder in which the cache outlives the server, with its prompts; its "
   "parent "
   "folder must exist. Empty: in memory only.",
   ATELIER_AT(cache.folder), 0, 0, form::path},
  {"cache", "disk_mib", "Disk quota of cache.folder.",
   ATELIER_AT(cache.disk_bytes), 1, 1'073'741'824},
  {"cache", "tenant_floor",
   "Share of the cache that is reserved in equal parts for the API keys that "
   "have anything in it: another key's images never take it.",
   ATELIER_AT(cache.tenant_floor), 0, 1},
  {"cache", "tenants",
   "Number of API keys among which the whole cache (entries, memory_mib, "
   "disk_mib, encoder_memo) is divided in fixed equal parts, so that no key "
   "can tell by its own entries what others store. 0: what a key does not "
   "use, others do; see tenant_floor.",
   ATELIER_AT(cache.tenants), 0, 1'000'000},
  {"cache", "pending",
   "Maximum number of requests whose results wait for the disk of cache.folder "
   "or for the image encoder (cache.compares) to be stored, while searches "
   "continue; the results of more requests are not stored. 0: each is stored "
   "at "
   "once, and searches wait for it.",
   ATELIER_AT(cache.pending), 0, 256},
  {"cache", "disk_wait_ms",
   "Maximum time that a request waits for the disk of cache.folder; a slower "
   "answer counts as a failure.",
   ATELIER_AT(cache.disk_wait), 1, 60'000},
  {"cache", "disk_write_wait_ms",
   "Maximum time for storing a request's results on the disk of cache.folder, "
   "for which no request waits; a slower disk counts as a failure.",
   ATELIER_AT(cache.disk_write_wait), 1, 60'000},
  {"cache", "disk_retry_s",
   "Time for which the disk of cache.folder is left out after three failures "
   "in a row.",
   ATELIER_AT(cache.disk_retry), 0.001, day_s},

  {"http", "listen",
   "HOST:PORT to listen on; port 0 takes a free one. Without HOST it is "
   "127.0.0.1: local programs only.",
   ATELIER_AT(http.listen), 0, 0, form::endpoint},
  {"http", "without_key",
   "Clients that need no key: loopback (local programs only; other listening "
   "addresses are rejected at startup), or anywhere (all clients).",
   ATELIER_AT(http.without_key), 0, 0, form::any, keyless_from},
  {"http", "keys",
   "File of keys, a line \"NAME user|admin SHA256 [LIMIT...] [share=N]\" each; "
   "empty: no keys.",
   ATELIER_AT(http.keys), 0, 0, form::path},
  {"http", "certificate", "TLS: the certificate chain, as PEM.",
   ATELIER_AT(http.certificate), 0, 0, form::path},
  {"http", "private_key", "TLS: the private key, as PEM.",
   ATELIER_AT(http.private_key), 0, 0, form::path},
  {"http", "origins",
   "Origins of web pages that may use the APIs, such as \"https://host:port\".",
   ATELIER_AT(http.origins), 0, 0, form::origin_list},
  {"http", "trusted_proxies",
   "Addresses and networks of proxies, such as \"127.0.0.1\" or "
   "\"10.0.0.0/8\", "
   "whose Forwarded or X-Forwarded-For, -Proto and -Host say who the client is "
   "and which address it uses. These fields of others have no effect.",
   ATELIER_AT(http.trusted_proxies), 0, 0, form::network_list},
  {"http", "access_log",
   "File that gets a line for each request; \"-\": standard output, empty: "
   "none.",
   ATELIER_AT(http.access_log), 0, 0, form::path},
  {"http", "threads", "Threads that serve connections.",
   ATELIER_AT(http.threads), 1, 64},
  {"http", "connections", "Maximum number of connections.",
   ATELIER_AT(http.connections), 1, 1'000'000},
  {"http", "connections_of_peer",
   "Maximum number of connections from one address (IPv6: one /64); 0: 256, "
   "and no limit for this machine's own addresses, because a proxy may forward "
   "all clients from there.",
   ATELIER_AT(http.connections_of_peer), 0, 1'000'000},
  {"http", "header_kib", "Maximum size of a request's head.",
   ATELIER_AT(http.header_bytes), 1, 1'024},
  {"http", "body_mib", "Maximum size of a request's body.",
   ATELIER_AT(http.body_bytes), 1, 4'096},
  {"http", "bodies_mib",
   "Maximum memory for all bodies together; at least body_mib.",
   ATELIER_AT(http.bodies_bytes), 1, 1'048'576},
  {"http", "unsent_mib",
   "Maximum unsent data for a slow client before it is disconnected.",
   ATELIER_AT(http.unsent_bytes), 1, 4'096},
  {"http", "replies_mib",
   "Maximum memory for all replies and events that wait to be read.",
   ATELIER_AT(http.replies_bytes), 1, 1'048'576},
  {"http", "read_ms", "Maximum time for receiving a request.",
   ATELIER_AT(http.read), 1, hour_ms},
  {"http", "idle_ms",
   "Maximum time that a connection may be idle, or a client may stop reading.",
   ATELIER_AT(http.idle), 1, hour_ms},
  {"http", "jobs", "Maximum number of jobs, including finished ones.",
   ATELIER_AT(http.jobs), 1, 10'000'000},
  {"http", "pictures", "Maximum number of images in one call.",
   ATELIER_AT(http.images), 1, 1'024},
  {"http", "answer_mpx",
   "Maximum size of all images that one call returns, in units of 1024x1024 "
   "pixels.",
   ATELIER_AT(http.answer_mpx), 1, 1'048'576},
  {"http", "decode_factor",
   "The server's own work on the files of a call, such as its mask, may take "
   "limits.decode_ms of processor time, and this many times as long by the "
   "clock.",
   ATELIER_AT(http.decode_factor), 0.001, 1'000},
  {"http", "results_mib",
   "Memory for images of finished jobs that are not in files yet, or cannot "
   "be.",
   ATELIER_AT(http.results_bytes), 1, 1'048'576},
  {"http", "results_disk_mib",
   "Disk quota for images of finished jobs, in the folder results of the data "
   "folder; 0: no files.",
   ATELIER_AT(http.results_disk_bytes), 0, 1'048'576},
  {"http", "results_s", "Time that finished jobs' images are kept.",
   ATELIER_AT(http.results), 1, day_s},
  {"http", "retry_ms",
   "Time that a call with an Idempotency-Key continues after its client "
   "disconnected, so that the client can retry.",
   ATELIER_AT(http.retry), 0, hour_ms},
  {"http", "journal",
   "on: jobs survive a restart of the server. Each job is on disk, in "
   "jobs.sqlite of the data folder, before its 202 reply, and open jobs "
   "continue after the next start. Needs results_disk_mib.",
   ATELIER_AT(http.journal), 0, 0, form::any, off_or_on},

  {"timeline", "file_mib",
   "Maximum file size; later events are dropped and counted.",
   ATELIER_AT(timeline.file_bytes), 1, 1'048'576},
  {"timeline", "events",
   "Maximum number of events waiting to be written; more are dropped and "
   "counted.",
   ATELIER_AT(timeline.events), 1, 16'777'216},

  {"log", "level", "Least severe level that is printed.", ATELIER_AT(log.level),
   0, 0, form::any, levels},
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
  static auto& sample = *new auto([] {
    settings one;
    for (const auto& r : all_repetitions)
      r.assign(one, 1);
    return one;
  }());
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
  ATELIER_EXPECTS(found.option, "the member is an option's");
  return found;
}

place look_at(const option& x, const settings& values, size_t index) {
  // The accessors only compute an address; the callers only read through it.
  return x.at(const_cast<settings&>(values), index);
}

} // namespace atelier::config
