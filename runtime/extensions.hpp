// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// The extensions that a host adds to Atelier: its own stages, policies,
/// executors and families of models, in one place for its engine and its worker
/// program.
namespace atelier {

namespace gpu {
class executor;
struct family;
} // namespace gpu

namespace index {
class kept_work;
} // namespace index

namespace ipc {
class slot_store;
} // namespace ipc

namespace planning {
class any_stage;
class policy;
struct profile;
} // namespace planning

/// A host's stage (<atelier/planning/stage.hpp>), and the name of the stage
/// before it: "prepare", "denoise", "finish" or another; empty: the last.
struct host_stage {
  std::shared_ptr<const planning::any_stage> stage;
  std::string after;
};

/// The arguments for making a host's executor.
struct executor_setup {
  /// The device's settings with the same names.
  std::string device;
  std::vector<std::string> variants;
  uint32_t threads = 0;
  uint64_t memory_bytes = 0;
  /// The variants by number, with the shapes of their latents
  /// (<atelier/planning/profile.hpp>).
  std::shared_ptr<const planning::profile> profile;
  /// The slots with the states and images of rows
  /// (<atelier/ipc/slot_store.hpp>).
  std::shared_ptr<ipc::slot_store> slots;
};

/// A host's executor (<atelier/gpu/device/executor.hpp>).
struct host_executor {
  /// The name in devices[].executor: 1..64 of a-z, A-Z, 0-9, _, - and .
  std::string name;
  /// The engine calls it once for each such device, in the device's process.
  std::function<std::shared_ptr<gpu::executor>(const executor_setup&)> make;
};

/// A host's extensions. An engine receives them in engine_options::extend; the
/// processes of an engine in mode "split" receive them if their program is the
/// host's own:
///
///   int main(int count, char** arguments) {
///     return atelier::process_main(count, arguments, my_extensions());
///   }
///
/// The configuration's processes.program names that program. An exception of
/// this code fails one request, or the start, with a text that names the code.
///
/// Threads: those of the engine. With engine_options::caller_runs_actors =
/// true, also those that call engine::submit, inside that call: a lock that is
/// held there and taken here would wait for itself. None of this code may stop
/// or destroy the engine.
struct extensions {
  /// Stages of each request's path. Background stages run in the engine's own
  /// process in either mode; others run in its CPU process. Stages that could
  /// deadlock over slots are rejected, with a schedule that shows it.
  std::vector<host_stage> stages = {};
  /// Policies that policy.name may name (<atelier/planning/policy.hpp>). They
  /// run in the engine's own process in either mode, and several threads call
  /// them. An exception ends only that decision: the plan in force stays, or
  /// the request is rejected. `replan` runs on threads of its own and may take
  /// long: nothing waits for it, neither a start, beyond 5 s, nor a stop, after
  /// which it may still run. All other decisions must not block.
  std::vector<std::shared_ptr<const planning::policy>> policies = {};
  /// Executors that devices[].executor may name. An exception of a call fails
  /// the rows of that call; exceptions in an executor's own threads cannot be
  /// caught.
  std::vector<host_executor> executors = {};
  /// Families of models in addition to Atelier's own
  /// (<atelier/gpu/models/family.hpp>). The whole process knows them from then
  /// on, for its lifetime, so the rows must live as long, also if the start
  /// fails. In a build without
  /// LibTorch, their models can be described, and run by a host's executor.
  std::vector<const gpu::family*> families = {};
  /// The cache of answered requests (<atelier/index/kept_work.hpp>): gets the
  /// configured one, and returns the one that the engine uses, which may wrap
  /// it. The engine calls it once while it starts, in its own process in either
  /// mode, if the configuration has a cache. An exception of the host's cache
  /// finds, returns or keeps nothing.
  std::function<std::shared_ptr<index::kept_work>(
    std::shared_ptr<index::kept_work>)>
    cache = {};
};

/// Runs a process of an engine, which starts it; users never start it. Returns
/// the exit status. If its stages differ from the engine's, the engine's start
/// fails with both lists.
/// Threads: the main thread of a program that does nothing else.
int process_main(int count, char** arguments, const extensions& own = {});

} // namespace atelier
