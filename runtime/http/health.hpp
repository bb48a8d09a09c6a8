// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/image_service.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime::http {

/// The condition of the server: a snapshot that `refresh` takes, so that
/// reading it never waits.
/// Threads: any.
class health {
public:
  enum class stage : uint8_t {
    starting,
    running,
    /// The server ends: it finishes accepted requests and rejects new ones.
    draining,
    stopping,
  };

  health(std::shared_ptr<const image_service> of, std::string version,
         std::function<core::time_point()> clock);

  void enter(stage x);

  /// Enters stage::draining, which drain(false) does not cancel.
  /// @param until when the requests still open then are cut off
  void end(core::time_point until);

  /// Sets whether new work is rejected while accepted work continues, until the
  /// next call.
  void drain(bool wanted);

  /// Returns whether new work is rejected: because of drain, or because the
  /// server ends.
  bool draining() const;

  /// Takes a new snapshot of the engine; may block.
  void refresh();

  engine_status last() const;

  /// Returns "ok", "starting", "degraded" (no device's worker is alive with a
  /// model, or the process of the CPU work is down: no request can be answered
  /// until it is back), "draining" or "stopping".
  std::string_view word() const;

  /// Returns a reply with status 200 if the server is ok, otherwise 503; `down`
  /// names the parts that do no work, and `unloadable` the variants that
  /// devices could not load. Only authenticated callers see processes, hosted
  /// variants and reasons.
  reply_message reply(scope to) const;

private:
  std::string_view word_now() const;
  bool draining_now() const;

  const std::shared_ptr<const image_service> images_;
  const std::string version_;
  const std::function<core::time_point()> clock_;
  const core::time_point since_;

  mutable std::mutex mutex_;
  stage stage_ = stage::starting;
  bool draining_ = false;
  std::optional<core::time_point> ends_at_;
  engine_status last_;
};

/// Adds GET /health, which needs no key.
void add_health_route(route_table& to, std::shared_ptr<const health> how);

} // namespace atelier::runtime::http
