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

/// A device whose models come and go, on a thread of its own: what runs is not
/// stopped by a loading.
/// Threads: as executor. The destructor waits for a loading in progress.
class loading_device final : public executor {
public:
  /// Where the models stand; its functions may be called from any thread, but
  /// `bring` from one.
  struct shelf {
    std::function<bool(const std::vector<core::variant_id>&)> has;
    std::function<core::error(const std::vector<core::variant_id>& wanted,
                              const std::vector<core::variant_id>& keep)>
      bring;
    /// Takes models out; they are freed with what it returns.
    std::function<std::vector<std::shared_ptr<const void>>(
      const std::vector<core::variant_id>&)>
      take_out;
  };

  /// @param there what is resident at the start
  loading_device(std::shared_ptr<executor> runs, shelf models,
                 std::vector<core::variant_id> there);
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
  void close(core::ticket who) override;

private:
  struct order {
    std::vector<core::variant_id> variants;
    std::vector<core::variant_id> keep;
  };

  void work(const std::stop_token& stop);

  const shelf models_;
  const std::vector<core::variant_id> there_;
  std::function<void(core::error)> loaded_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  /// The newest; guarded by the mutex.
  std::optional<order> next_;
  /// Models that its thread frees: that takes time. Likewise guarded.
  std::vector<std::shared_ptr<const void>> gone_;
  std::shared_ptr<executor> runs_;
  // Last: it ends before what it uses.
  std::jthread loader_;
};

} // namespace atelier::gpu::detail
