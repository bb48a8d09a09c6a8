// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/image_service.hpp>

#include <memory>
#include <shared_mutex>
#include <vector>

namespace atelier::runtime::http {

/// An engine behind the server. The server may start before it and outlive it;
/// without an engine, every request is rejected as `unavailable`.
class engine_images : public image_service {
public:
  /// Makes an engine draw from now on. The engine must have been started with
  /// caller_runs_actors = false.
  void attach(std::unique_ptr<engine> x);

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override;

  bool cancel(uint64_t request) override;

  engine_status status() const override;

  std::vector<variant_status> variants() const override;

  atelier::result<std::vector<cache_entry>> cache_entries(
    const cache_query& which) const override;

  atelier::result<void> host_model(const std::string& model,
                                   bool there) override;

  /// Stops the engine as engine::stop does; returns true if no engine is
  /// attached. A second call with a shorter grace shortens the first one.
  bool stop(std::chrono::nanoseconds grace);

private:
  std::shared_ptr<engine> get() const;

  mutable std::shared_mutex mutex_;
  std::shared_ptr<engine> engine_;
};

} // namespace atelier::runtime::http
