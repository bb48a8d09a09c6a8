// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/device/executor.hpp>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace atelier::gpu::detail {

/// A device that loads and unloads models on a separate thread, so that loading
/// does not stop running jobs.
/// Threads: as executor. The destructor waits for a loading in progress.
class loading_device final : public executor {
public:
  /// Holds the models. Its functions may be called from any thread, except that
  /// `bring` is called from one thread only.
  struct shelf {
    std::function<bool(const std::vector<core::variant_id>&)> has;
    std::function<load_report(const std::vector<core::variant_id>& wanted,
                              const std::vector<core::variant_id>& keep)>
      bring;
    /// Removes models; they are freed with the result.
    std::function<std::vector<std::shared_ptr<const void>>(
      const std::vector<core::variant_id>&)>
      take_out;
  };

  /// @param there variants resident at the start
  /// @param failed variants that could not be loaded then
  loading_device(std::shared_ptr<executor> runs, shelf models,
                 std::vector<core::variant_id> there,
                 std::vector<load_failure> failed);
  ~loading_device() override;

  void connect(executor_events events) override;
  void rouse() override;
  void open(const open_job& job) override;
  void run(const run_job& job) override;
  void interrupt() override;
  void decode(core::ticket who) override;
  bool load(const std::vector<core::variant_id>& variants,
            const std::vector<core::variant_id>& keep) override;
  void forget(const std::vector<core::variant_id>& variants) override;
  bool loads_beside() const override;
  std::vector<core::variant_id> resident() const override;
  std::vector<load_failure> failed_at_start() const override;
  void call(std::function<void()> work) override;
  void close(core::ticket who) override;

private:
  struct order {
    std::vector<core::variant_id> variants;
    std::vector<core::variant_id> keep;
  };

  void work(const std::stop_token& stop);

  const shelf models_;
  const std::vector<core::variant_id> there_;
  const std::vector<load_failure> failed_;
  std::function<void(load_report)> loaded_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  /// The newest order; guarded by the mutex.
  std::optional<order> next_;
  /// Models for the loader thread to free, which takes time; guarded by the
  /// mutex.
  std::vector<std::shared_ptr<const void>> gone_;
  std::shared_ptr<executor> runs_;
  // Declared last, so that it ends before the members that it uses.
  std::jthread loader_;
};

} // namespace atelier::gpu::detail
