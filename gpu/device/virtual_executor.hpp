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
  /// Provides the durations of text encodings, steps and decodings.
  std::shared_ptr<const planning::profile> known;
  /// Spread of the durations about the profile's, relative to them; 0: none.
  double noise = 0;
  uint64_t seed = 0;
  /// Returns the number of an attempt's run, which the variation of durations
  /// depends on; empty: the attempt's number.
  std::function<uint32_t(core::ticket)> run_of = {};
  /// Variants loaded at the start; others must be loaded before they run, which
  /// takes time unless a variant of the same weights is there. Empty: all.
  std::vector<core::variant_id> resident = {};
  /// Scores a request's image; empty: 0 for all.
  std::function<double(core::request_id, const std::string& judge)> score = {};
  /// Returns the masked share of a request that runs from its template's
  /// records, and 1 for every other. Empty: 1 for all. A batch with a share
  /// below 1 takes the time in the profile's `masked` section for its variant,
  /// at the variant's own size; without that section an edit costs as much as a
  /// full image.
  std::function<double(core::request_id)> masked = {};
  /// Returns the quantile, 0..1, of this variant's loading in the profile's
  /// distribution of load times. Empty: every loading takes the mean.
  std::function<double(core::variant_id)> load_part = {};
  /// Returns the factor by which the device is slower than the profile. Empty:
  /// 1.
  std::function<double()> pace = {};
  /// Called at the end of each stretch of work, for accounting, with the
  /// variant that ran, or none if others were loaded.
  std::function<void(std::optional<core::variant_id>, core::timespan)> busy =
    {};
};

/// A device in virtual time, without a thread: it returns the test card's
/// results after the profile's durations. A run is one timer, however many
/// steps it has: its states appear in the slots when it ends or when the device
/// stops.
///
/// In a store that keeps no bytes, only step counts are published.
/// Threads: calls to it and to its timers must be serialized.
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
  void call(std::function<void()> work) override;
  void close(core::ticket who) override;
  bool load(const std::vector<core::variant_id>& variants,
            const std::vector<core::variant_id>& keep) override;

  /// Crashes: publishes the steps done by now, then ignores and reports
  /// nothing.
  void crash();

  /// Hangs: publishes the steps done by now, then neither runs nor reports
  /// anything until `wake`. Jobs are queued meanwhile.
  void hang();

  /// Continues in the middle of the step at which it hung.
  void wake();

  /// Makes the step of `who` that follows `step` others fail, if it runs.
  void fail_step(core::ticket who, uint32_t step, core::error why);

private:
  struct device;
  // Not shared; a pending timer holds a weak reference.
  std::shared_ptr<device> device_;
};

} // namespace atelier::gpu
