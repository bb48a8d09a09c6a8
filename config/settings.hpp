// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/core/planning_rhythm.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::config {

/// Where the actors live.
enum class process_mode : uint8_t {
  /// All actors in the host's process.
  single,
  /// One process for control, one for CPU work, one per device.
  split,
};

/// The fixed sizes of the shared-memory arena. A slot that is too small for a
/// request refuses that request at the door.
struct arena_settings {
  uint32_t state_slots = 32;
  uint64_t state_slot_bytes = 1280ull << 10;
  uint32_t image_slots = 16;
  uint64_t image_slot_bytes = 14ull << 20;
  uint32_t capture_slots = 0;
  uint64_t capture_slot_bytes = 512ull << 10;
  /// Of each direction of each process's pair.
  uint64_t ring_bytes = 1ull << 20;
};

/// Starting, watching and ending processes.
struct process_settings {
  process_mode mode = process_mode::single;
  /// The program of the other processes; empty: the installed one.
  std::string program;
  /// Cores of the CPU work's process, as "0-3,6"; empty: all.
  std::string cpu_cores;
  /// How long a process may set itself up, loading its models, before it is
  /// suspected; it need not give a sign meanwhile.
  core::timespan setup = std::chrono::minutes{5};
  /// How often a process is asked for a sign of life.
  core::timespan heartbeat = std::chrono::seconds{1};
  /// A process this long without a sign is suspected.
  core::timespan silence = std::chrono::seconds{5};
  /// A worker without a step for `step_factor` x the predicted time + `silence`
  /// is suspected.
  double step_factor = 8;
  /// A killed process whose exit is not confirmed after this keeps its slots
  /// quarantined, and its requests go on elsewhere.
  core::timespan confirm = std::chrono::seconds{5};
  /// Pause before a restart; it doubles to the most while deaths that no
  /// request explains follow each other within 10 s, or a start fails.
  core::timespan restart_first = std::chrono::milliseconds{200};
  core::timespan restart_most = std::chrono::seconds{30};
  /// How long stopping waits for running work.
  core::timespan grace = std::chrono::seconds{10};
};

/// One pool of CPU workers.
struct pool_settings {
  uint32_t workers = 2;
  /// Requests that a worker holds at a time, the running one included.
  uint32_t seats = 4;
  /// A request of this seed kills the process that works on it; 0: none does.
  uint32_t test_crash_seed = 0;
};

/// One model on disk, under the name that variants use.
struct model_settings {
  std::string name;
  /// A folder in diffusers' layout, or a single .safetensors file.
  std::string path;
  /// A folder or file whose autoencoder replaces the model's; empty: its own.
  std::string vae;
  /// Of weight files side by side, "fp16" takes *.fp16.safetensors.
  std::string weights;
  /// Guidance where a request names none; below 0: that of the model's kind.
  float guidance = -1;
  /// Where links in its folder may lead: "inside" or "anywhere".
  std::string links = "inside";
};

/// One device and what it may host.
struct device_settings {
  /// "cpu:N" or "cuda:N".
  std::string name = "cpu:0";
  /// Devices of one kind take equally long for the same work; empty: what
  /// stands before the colon in the name (device_kind.hpp).
  std::string kind;
  /// A profile whose costs hold for devices of that kind; empty: that of
  /// another device of the kind, else the planner's.
  std::string profile;
  /// Cores that its process may run on, as "0-3,6"; empty: all.
  std::string cores;
  /// What runs there: "torch" for models, "test_card", "auto" for what its
  /// variants need, or the name of a host's own.
  std::string executor = "auto";
  /// Names of variants that it may host. Empty: the test card's, or those of
  /// the shipped family; "auto" takes the test card where that is not there.
  std::vector<std::string> variants;
  /// Of the models that are resident at a time; 0: all are.
  uint64_t memory_bytes = 0;
  /// Rows of one step.
  uint32_t max_batch = 8;
  /// Requests that the worker holds at a time, waiting ones included.
  uint32_t seats = 16;
  /// Publish a row's state after every n steps.
  uint32_t publish_every = 1;
  /// Threads of the executor's arithmetic; 0: all cores.
  uint32_t threads = 0;
  /// Duration of one step of the test card; 0: as fast as it draws.
  core::timespan test_card_step = std::chrono::nanoseconds{0};
  /// Duration of making the test card, to stand for loading a model.
  core::timespan test_card_load = std::chrono::nanoseconds{0};
  /// Every so many steps of the test card one throws; 0: never.
  uint32_t test_card_fault_every = 0;
};

/// The hub's own bounds and pace.
struct scheduler_settings {
  /// How often late work is looked for.
  core::timespan tick = std::chrono::milliseconds{20};
  /// Dispatches of one request before it fails as unavailable.
  uint32_t attempts = 20;
  /// Each so long waited raises a request's priority by one.
  core::timespan ageing = std::chrono::seconds{30};
  /// When rows join a device's batch: "policy", as it says; "step", between any
  /// two steps; "whole_batch", when the one before ended; "single", one by one.
  std::string batching = "policy";
  /// A request goes on without what was asked of it (what a classifier says,
  /// what is near) after this time, or after this share of the time that it has
  /// until its deadline, whichever is shorter.
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
  /// A folder with one for each network that judges pictures, by its name;
  /// empty: none judges.
  std::string judges;
};

struct classifier_settings {
  /// A folder with what tells from a prompt how good each way to draw it will
  /// be; empty: nothing does.
  std::string folder;
};

struct planner_settings {
  /// A file that `atelier profile` wrote; empty: nothing is measured.
  std::string profile;
  /// A file that `atelier evaluate` wrote; empty: all pictures are worth as
  /// much, and nothing is known of judges.
  std::string quality;
  /// A file that `atelier plan -o` wrote, for the policy `fixed`; else empty.
  std::string plan;
  core::timespan period = core::planning_rhythm{}.period;
};

struct monitor_settings {
  /// Length of one counting window, and how many are kept.
  core::timespan window = core::planning_rhythm{}.window;
  uint32_t windows = core::planning_rhythm{}.windows;
};

/// Bounds what is remembered of answered requests for later ones.
struct cache_settings {
  /// Of all that is kept; 0: nothing is remembered, and nothing is looked for.
  uint64_t memory_bytes = 0;
  /// Requests that something is kept of.
  uint32_t entries = 10'000;
};

/// The server's door. What a request may ask for stands in `limits`.
struct http_settings {
  /// HOST:PORT; port 0: a free one. :PORT and PORT mean 127.0.0.1.
  std::string listen = "127.0.0.1:7860";
  /// Whom it serves without a key: "loopback", programs of this machine, to
  /// whose addresses alone it then listens; or "anywhere".
  std::string without_key = "loopback";
  /// File of keys; empty: none are asked for.
  std::string keys;
  /// PEM files; both empty: no TLS.
  std::string certificate;
  std::string private_key;
  /// Origins of pages that may use the API ("https://host[:port]"); none
  /// besides the server's own page by default.
  std::vector<std::string> origins;
  uint32_t threads = 2;
  uint32_t connections = 8192;
  /// Of one address (IPv6: of one /64); 0: 256, and no limit for this machine's
  /// own, from where a proxy may bring everybody.
  uint32_t connections_of_peer = 0;
  uint64_t header_bytes = 32ull << 10;
  uint64_t body_bytes = 64ull << 20;
  /// Of all bodies that are being read or worked on.
  uint64_t bodies_bytes = 512ull << 20;
  /// What may wait for a client that reads slowly.
  uint64_t unsent_bytes = 64ull << 20;
  /// From a request's first byte to its last.
  core::timespan read = std::chrono::seconds{30};
  /// Without a request, or without the client reading.
  core::timespan idle = std::chrono::seconds{75};
  /// Jobs known, ended ones included.
  uint32_t jobs = 10'000;
  /// Pictures of one call.
  uint32_t pictures = 64;
  /// Pictures kept for their clients, in memory and in files, and how long.
  uint64_t results_bytes = 256ull << 20;
  /// 0: in memory alone.
  uint64_t results_disk_bytes = 2048ull << 20;
  core::timespan results = std::chrono::hours{1};
  /// A call with an idempotency key goes on for so long without its client.
  core::timespan retry = std::chrono::seconds{10};
  /// on: asynchronous jobs outlive the server, in a file of the data folder.
  std::string journal = "off";
};

/// The file of what happened when, where one is wanted.
struct timeline_settings {
  /// Its most bytes; what comes later is counted.
  uint64_t file_bytes = 256ull << 20;
  /// Events that wait to be written; likewise.
  uint32_t events = 65'536;
};

struct log_settings {
  /// trace, debug, info, warn, error or off.
  std::string level = "warn";
};

/// Everything that a user can set, valid as a whole.
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
