// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/runtime/http/picture_service.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime::http {

/// How the server is: a snapshot that `refresh` takes, so that asking for it
/// waits for nobody.
/// Threads: any.
class health {
public:
  enum class stage : uint8_t {
    starting,
    running,
    /// The server ends: what was accepted is finished, nothing else is taken.
    draining,
    stopping,
  };

  health(std::shared_ptr<const picture_service> of, std::string version,
         std::function<core::time_point()> clock);

  void enter(stage x);

  /// Enters stage::draining, which no drain(false) takes back.
  /// @param until when what is still open then is cut off
  void end(core::time_point until);

  /// Whether new work is refused while what runs goes on, until it is said
  /// otherwise.
  void drain(bool wanted);

  /// Whether new work is refused: by drain, or as the server ends.
  bool draining() const;

  /// Asks the engine; may block.
  void refresh();

  engine_status last() const;

  /// "ok", "starting", "degraded" (no device's worker is alive, or the process
  /// of the CPU work is down: nothing can be answered until it is back),
  /// "draining" or "stopping".
  std::string_view word() const;

  /// 200 where it is ok, else 503; `down` names the parts that do no work.
  /// Processes and variants are told to those that are known.
  reply_message reply(scope to) const;

private:
  std::string_view word_now() const;
  bool draining_now() const;

  const std::shared_ptr<const picture_service> pictures_;
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
