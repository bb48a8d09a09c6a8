// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace atelier::runtime::http {

/// Where pictures come from: an engine, or a test's stand-in.
/// Threads: all members may be called from any thread. Callbacks come on a
/// thread of the service, one at a time, and must not block for long.
class picture_service {
public:
  virtual ~picture_service() = default;

  /// As engine::submit, but never runs an actor on the calling thread.
  virtual std::variant<uint64_t, failure> submit(const generation& wanted,
                                                 callbacks calls) = 0;

  /// As engine::cancel.
  virtual bool cancel(uint64_t request) = 0;

  /// As engine::status; may wait for an actor: not for the server's threads.
  virtual engine_status status() const = 0;

  /// As engine::variants.
  virtual std::vector<variant_status> variants() const = 0;

  /// As engine::host_model; waits for nobody.
  virtual std::optional<failure> host_model(const std::string& model,
                                            bool there) = 0;
};

} // namespace atelier::runtime::http
