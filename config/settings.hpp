// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/core/planning_rhythm.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::config {

/// The processes in which the actors live.
enum class process_mode : uint8_t {
  /// All actors in the host's process.
  single,
  /// One process for control, one for CPU work, one per device.
  split,
};

/// The fixed sizes of the shared-memory arena. A request that needs a larger
/// slot is rejected on submission.
struct arena_settings {
  uint32_t state_slots = 32;
  uint64_t state_slot_bytes = 1280ull << 10;
  uint32_t image_slots = 16;
  uint64_t image_slot_bytes = 14ull << 20;
  uint32_t capture_slots = 0;
  uint64_t capture_slot_bytes = 512ull << 10;
  /// The ring size for each direction of each process's pair.
  uint64_t ring_bytes = 1ull << 20;
};

/// Starting, watching and ending processes.
struct process_settings {
  process_mode mode = process_mode::single;
  /// The program of the other processes; empty: the installed program.
  std::string program;
  /// Cores of the CPU work's process, such as "0-3,6"; empty: all.
  std::string cpu_cores;
  /// The fastest instruction set that all processes may use, by the names of
  /// core::instruction_set; "auto": the fastest that the processor has.
  std::string instruction_set = "auto";
  /// The maximum time for a process to set itself up and load its models before
  /// it is suspected; it need not answer heartbeats meanwhile.
  core::timespan setup = std::chrono::minutes{5};
  /// The interval of heartbeat messages to each process.
  core::timespan heartbeat = std::chrono::seconds{1};
  /// A process without an answer for this time is suspected.
  core::timespan silence = std::chrono::seconds{5};
  /// A worker without a step for `step_factor` x the predicted time + `silence`
  /// is suspected.
  double step_factor = 8;
  /// If the exit of a killed process is not confirmed in this time, its slots
  /// stay quarantined and its requests continue elsewhere.
  core::timespan confirm = std::chrono::seconds{5};
  /// The pause before a restart. It doubles up to the maximum while deaths
  /// without a request as their cause follow each other within 10 s, or a start
  /// fails.
  core::timespan restart_first = std::chrono::milliseconds{200};
  core::timespan restart_most = std::chrono::seconds{30};
  /// The time for running work to finish during shutdown.
  core::timespan grace = std::chrono::seconds{10};
};

/// One pool of CPU workers.
struct pool_settings {
  uint32_t workers = 2;
  /// Requests that a worker holds at a time, including the running one.
  uint32_t seats = 4;
  /// A request with this seed kills the process that works on it; 0: never.
  uint32_t test_crash_seed = 0;
};

/// One model on disk, under the name that variants use.
struct model_settings {
  std::string name;
  /// A folder in diffusers' layout, or a single .safetensors file.
  std::string path;
  /// A folder or file whose autoencoder replaces the model's; empty: its own.
  std::string vae;
  /// The variant of the weight files: "fp16" takes *.fp16.safetensors.
  std::string weights;
  /// The prediction of its denoiser and the spacing of its steps, as diffusers
  /// names them; "auto": what its files say.
  std::string prediction_type = "auto";
  std::string timestep_spacing = "auto";
  /// The default guidance; below 0: that of the model's kind.
  float guidance = -1;
  /// The allowed targets of links in its folder: "inside" or "anywhere".
  std::string links = "inside";
};

/// One device and the variants that it may host.
struct device_settings {
  /// "cpu:N" or "cuda:N".
  std::string name = "cpu:0";
  /// Devices of one kind take equally long for the same work; empty: the
  /// device's name up to the colon (device_kind.hpp).
  std::string kind;
  /// A profile whose costs hold for devices of that kind; empty: that of
  /// another device of the kind, otherwise the planner's.
  std::string profile;
  /// Cores that its process may run on, such as "0-3,6"; empty: all.
  std::string cores;
  /// The executor: "torch" for models, "test_card", "auto" for the one that its
  /// variants need, or a host's own name.
  std::string executor = "auto";
  /// Names of variants that it may host. Empty: those of the shipped family, or
  /// the test card's with the executor "test_card".
  std::vector<std::string> variants;
  /// The maximum memory of resident models; 0: all are resident.
  uint64_t memory_bytes = 0;
  /// Rows of one step.
  uint32_t max_batch = 8;
  /// Requests that the worker holds at a time, including waiting ones.
  uint32_t seats = 16;
  /// Publish a row's state after every n steps.
  uint32_t publish_every = 1;
  /// Threads of the executor's arithmetic; 0: all cores.
  uint32_t threads = 0;
  /// Duration of one step of the test card; 0: as fast as it draws.
  core::timespan test_card_step = std::chrono::nanoseconds{0};
  /// Duration of making the test card, which simulates loading a model.
  core::timespan test_card_load = std::chrono::nanoseconds{0};
  /// The number of test card steps between injected exceptions; 0: never.
  uint32_t test_card_fault_every = 0;
};

/// The scheduler's limits and intervals.
struct scheduler_settings {
  /// The interval of the check for late work.
  core::timespan tick = std::chrono::milliseconds{20};
  /// Dispatches of one request before it fails as unavailable.
  uint32_t attempts = 20;
  /// The waiting time that raises a request's priority by one.
  core::timespan ageing = std::chrono::seconds{30};
  /// The time when rows join a device's batch: "policy", as it says; "step",
  /// between any two steps; "whole_batch", when the previous one ended;
  /// "single", one by one.
  std::string batching = "policy";
  /// A request continues without its facts (a prompt's class, similar earlier
  /// work) after this time, or after this share of the time until its deadline,
  /// whichever is shorter.
  core::timespan facts = std::chrono::seconds{1};
  double facts_share = 0.2;
};

/// The actor system's threads.
struct actor_settings {
  /// Threads that run actors; 0: chosen from the pools and the cores.
  uint32_t threads = 0;
};

struct policy_settings {
  /// A policy's name, see planning/policies; "auto": planning::policy_for
  /// chooses one.
  std::string name = "auto";
  /// The deadline of a request whose client names none: "none", or "profile",
  /// that of the profile's first cascade. If `own_deadline` is above 0, it is
  /// the deadline instead. Both count from arrival to the answer.
  std::string deadline = "none";
  core::timespan own_deadline = std::chrono::milliseconds{0};
  /// A folder that contains a folder for each judge network, by name; empty: no
  /// judge.
  std::string judges;
};

struct classifier_settings {
  /// The folder of the classifier that predicts the quality of a prompt's image
  /// on each route; empty: no classifier.
  std::string folder;
};

struct planner_settings {
  /// A file that `atelier profile` wrote; empty: no measured costs.
  std::string profile;
  /// A file that `atelier evaluate` wrote; empty: all variants have the same
  /// quality, and nothing is known of judges.
  std::string quality;
  /// A file that `atelier plan -o` wrote, for the policy `fixed`; otherwise
  /// empty.
  std::string plan;
  core::timespan period = core::planning_rhythm{}.period;
};

struct monitor_settings {
  /// The length of one counting window, and the number of windows kept.
  core::timespan window = core::planning_rhythm{}.window;
  uint32_t windows = core::planning_rhythm{}.windows;
};

/// The limits of the cache of answered requests.
struct cache_settings {
  /// The maximum memory of the cache; 0: no cache and no search. With `folder`,
  /// that of copies of its payloads.
  uint64_t memory_bytes = 0;
  /// The maximum number of requests in the cache.
  uint32_t entries = 10'000;
  /// The most requests that a prompt's entries answer together; 0: no limit.
  uint32_t answers = 100;
  /// How many times reuse may be chained in work that is kept; 0: only work
  /// that began with noise is.
  uint32_t depth = 2;
  /// The share of requests that are drawn in full whatever is kept.
  double fresh = 0;
  /// What leaves a full cache first: fifo, lru or lcbfu.
  std::string eviction = "lru";
  /// How requests that do not say it use the cache: off, read, write or on.
  std::string use = "on";
  /// A folder of a CLIP model, whose text tower compares prompts, or of a
  /// sentence encoder; empty: prompts are compared by their words.
  std::string encoder;
  /// What searches compare a prompt with: prompts, or images.
  std::string compares = "prompts";
  /// The maximum number of prompts whose vectors stay in memory.
  uint32_t encoder_memo = 1000;
  /// Where the cache outlives the server; empty: in memory alone.
  std::string folder;
  /// The maximum size of the cache in `folder`.
  uint64_t disk_bytes = 10ull << 30;
  /// The share of the cache that is reserved in equal parts for all tenants.
  double tenant_floor = 0.25;
  /// The number of tenants among which the whole cache is divided in fixed
  /// equal parts; 0: it is not divided.
  uint32_t tenants = 0;
  /// The maximum number of requests whose results wait to be stored; 0: each is
  /// stored before the next search.
  uint32_t pending = 16;
  /// The longest waits for the disk of `folder` to return and to store a
  /// result, and the time for which a disk that was late several times is left
  /// out.
  core::timespan disk_wait = std::chrono::milliseconds{250};
  core::timespan disk_write_wait = std::chrono::seconds{5};
  core::timespan disk_retry = std::chrono::seconds{30};
};

/// The HTTP server. `limits` has the limits of a request.
struct http_settings {
  /// HOST:PORT; port 0: a free one. :PORT and PORT mean 127.0.0.1.
  std::string listen = "127.0.0.1:7860";
  /// Clients that need no key: "loopback", local programs, and the server then
  /// listens only on their addresses; or "anywhere".
  std::string without_key = "loopback";
  /// File of keys; empty: no keys.
  std::string keys;
  /// PEM files; both empty: no TLS.
  std::string certificate;
  std::string private_key;
  /// Origins of pages that may use the API ("https://host[:port]"), in addition
  /// to the server's own page.
  std::vector<std::string> origins;
  /// Addresses and networks of proxies. Only what they say of a client, by
  /// Forwarded or X-Forwarded-*, is believed.
  std::vector<std::string> trusted_proxies;
  /// The file that gets a line for each request; "-": standard output, empty:
  /// none.
  std::string access_log;
  uint32_t threads = 2;
  uint32_t connections = 8192;
  /// Connections of one address (IPv6: of one /64); 0: 256, and no limit for
  /// this machine's own addresses, because a proxy may forward all clients from
  /// there.
  uint32_t connections_of_peer = 0;
  uint64_t header_bytes = 32ull << 10;
  uint64_t body_bytes = 64ull << 20;
  /// The maximum memory of all bodies that are being received or processed.
  uint64_t bodies_bytes = 512ull << 20;
  /// The maximum unsent data for a slow client.
  uint64_t unsent_bytes = 64ull << 20;
  /// The maximum memory of all replies and events that wait to be read.
  uint64_t replies_bytes = 512ull << 20;
  /// The maximum time from a request's first byte to its last.
  core::timespan read = std::chrono::seconds{30};
  /// The maximum time without a request, or without the client reading.
  core::timespan idle = std::chrono::seconds{75};
  /// The maximum number of jobs, including finished ones.
  uint32_t jobs = 10'000;
  /// The maximum number of images in one call.
  uint32_t images = 64;
  /// The maximum size of all images that one call returns, in units of
  /// 1024x1024 pixels.
  uint32_t answer_mpx = 256;
  /// The maximum time by the clock of the server's own work on the files of
  /// one call, as a multiple of `limits.decode`.
  double decode_factor = 40;
  /// Limits of the images kept for their clients, in memory and in files, and
  /// the time that they are kept.
  uint64_t results_bytes = 256ull << 20;
  /// 0: images are kept only in memory.
  uint64_t results_disk_bytes = 2048ull << 20;
  core::timespan results = std::chrono::hours{1};
  /// The time that a call with an idempotency key continues without its client.
  core::timespan retry = std::chrono::seconds{10};
  /// on: asynchronous jobs survive a restart, in a file of the data folder.
  std::string journal = "off";
};

/// The timeline file with the events of a run.
struct timeline_settings {
  /// Its maximum size; later events are counted.
  uint64_t file_bytes = 256ull << 20;
  /// The maximum number of events that wait to be written; more are counted.
  uint32_t events = 65'536;
};

struct log_settings {
  /// trace, debug, info, warn, error or off.
  std::string level = "warn";
};

/// All settings of a user, valid as a whole.
struct settings {
  core::limits limits;
  arena_settings arena;
  process_settings processes;
  pool_settings preprocess;
  pool_settings postprocess;
  std::vector<model_settings> models;
  std::vector<device_settings> devices = {device_settings{}};
  scheduler_settings scheduler;
  actor_settings actors;
  policy_settings policy;
  classifier_settings classifier;
  planner_settings planner;
  monitor_settings monitor;
  cache_settings cache;
  http_settings http;
  timeline_settings timeline;
  log_settings log;
};

} // namespace atelier::config
