// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/timers.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu {

struct virtual_config {
  /// Tells how long texts, steps and decodings take.
  std::shared_ptr<const planning::profile> known;
  /// Spread of the times about the profile's, as a share of them; 0: none.
  double noise = 0;
  uint64_t seed = 0;
  /// Which of a request's runs an attempt is, by which times vary; empty: the
  /// attempt.
  std::function<uint32_t(core::ticket)> run_of = {};
  /// Loaded at the start; what else is run must be loaded first. Empty: all.
  std::vector<core::variant_id> resident = {};
  /// Scores a request's picture; empty: 0 for all.
  std::function<double(core::request_id, const std::string& judge)> score = {};
  /// Tells the masked share of a request that runs from its template's records;
  /// 1 for every other. Empty: 1 for all. A batch with a share below 1 takes
  /// the time of the profile's `masked` section for its variant, at the
  /// variant's own size; without that section an edit costs a full picture.
  std::function<double(core::request_id)> masked = {};
  /// Tells where in the profile's distribution of load times, 0..1, a loading
  /// of this variant lies. Empty: each takes the mean.
  std::function<double(core::variant_id)> load_part = {};
  /// How many times the profile's time the device takes now. Empty: 1.
  std::function<double()> pace = {};
  /// Told of each stretch of work as it ends, for accounts, with the variant
  /// that ran; none: others were loaded.
  std::function<void(std::optional<core::variant_id>, core::timespan)> busy =
    {};
};

/// A device in virtual time, without a thread: the test card's results after
/// the profile's durations. A run is one timer, however many steps it has: its
/// states appear in the slots when it ends, or when the device stops.
///
/// In a store that keeps no bytes only the counts of steps are published.
/// Threads: those that call it and its timers must be one at a time.
class virtual_executor final : public executor {
public:
  virtual_executor(virtual_config config, std::shared_ptr<core::timers> timers,
                   std::shared_ptr<ipc::slot_store> slots);
  ~virtual_executor() override;

  void connect(executor_events events) override;
  void open(const open_job& job) override;
  void run(const run_job& job) override;
  void interrupt() override;
  void decode(core::ticket who) override;
  void close(core::ticket who) override;
  bool load(const std::vector<core::variant_id>& variants,
            const std::vector<core::variant_id>& keep) override;

  /// Dies: publishes what is done by now, then does and says nothing more.
  void crash();

  /// Stands still: publishes what is done by now, then does and says nothing
  /// until `wake`. Jobs are queued meanwhile.
  void hang();

  /// Goes on in the midst of the step where it stood still.
  void wake();

  /// Make the step of `who` that has `step` steps before it fail, if it comes.
  void fail_step(core::ticket who, uint32_t step, core::error why);

private:
  struct device;
  // Shared with nobody; a timer that is out knows it weakly.
  std::shared_ptr<device> device_;
};

} // namespace atelier::gpu
