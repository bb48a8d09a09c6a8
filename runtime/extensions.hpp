// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// What a host adds to Atelier: stages, policies, executors and families of
/// models of its own, in one place for its engine and for its worker program.
namespace atelier {

namespace gpu {
class executor;
struct family;
} // namespace gpu

namespace ipc {
class slot_store;
} // namespace ipc

namespace planning {
class any_stage;
class policy;
struct profile;
} // namespace planning

/// A stage of the host's own (<atelier/planning/stage.hpp>), and the one behind
/// which it stands: "prepare", "denoise", "finish" or another; empty: the last.
struct host_stage {
  std::shared_ptr<const planning::any_stage> stage;
  std::string after;
};

/// What an executor of the host's is made from.
struct executor_setup {
  /// The device's settings of these names.
  std::string device;
  std::vector<std::string> variants;
  uint32_t threads = 0;
  uint64_t memory_bytes = 0;
  /// The variants by number, with the shapes of their latents
  /// (<atelier/planning/profile.hpp>).
  std::shared_ptr<const planning::profile> profile;
  /// Where states and images of rows are (<atelier/ipc/slot_store.hpp>).
  std::shared_ptr<ipc::slot_store> slots;
};

/// An executor of the host's own (<atelier/gpu/device/executor.hpp>).
struct host_executor {
  /// What devices[].executor says: 1..64 of a-z, A-Z, 0-9, _, - and .
  std::string name;
  /// Called once for each such device, in the process where it works.
  std::function<std::shared_ptr<gpu::executor>(const executor_setup&)> make;
};

/// What a host adds. An engine gets it in engine_options::extend; the processes
/// of an engine in mode "split" get it where their program is the host's own:
///
///   int main(int count, char** arguments) {
///     return atelier::process_main(count, arguments, my_extensions());
///   }
///
/// with processes.program naming that program. What this code throws fails one
/// request, or the start, with a text that names whose code it was.
struct extensions {
  /// Of each request's path. Those in the background run in the engine's own
  /// process in either mode; others run in its CPU process. Stages with which
  /// requests could wait for slots for ever are refused, with the schedule that
  /// shows it.
  std::vector<host_stage> stages = {};
  /// Which policy.name may name (<atelier/planning/policy.hpp>). They run in
  /// the engine's own process in either mode, and are called from several
  /// threads. What one throws ends that decision alone: the plan in force
  /// stays, or the request is refused.
  std::vector<std::shared_ptr<const planning::policy>> policies = {};
  /// Which devices[].executor may name. What a call throws fails the rows of
  /// that call; what an executor's own threads throw, nobody can catch.
  std::vector<host_executor> executors = {};
  /// Families of models beside Atelier's own (<atelier/gpu/models/family.hpp>).
  /// They are known to the whole process from then on, for its lifetime, which
  /// the rows must have too. Without LibTorch in the build models of theirs can
  /// be described, and run by an executor of the host's.
  std::vector<const gpu::family*> families = {};
};

/// Runs a process of an engine, which starts it; never started by hand. Returns
/// the exit status. A process whose stages differ from the engine's ends the
/// engine's start, with both lists in the failure.
/// Threads: the main one of a program that does nothing else.
int process_main(int count, char** arguments, const extensions& own = {});

} // namespace atelier
