// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

namespace atelier::runtime::cli {

/// Makes images for a subcommand: an engine, or a test's stand-in.
/// Threads: all members may be called from any thread.
class service {
public:
  virtual ~service() = default;

  /// Submits a request under the same contract as engine::submit. Returns the
  /// request's number, or the failure.
  virtual std::variant<uint64_t, failure> submit(const generation& wanted,
                                                 callbacks calls) = 0;

  virtual bool cancel(uint64_t request) = 0;

  virtual bool stop(std::chrono::nanoseconds grace) = 0;

  /// Waits until the work of all answered requests is kept, at most that long.
  /// Returns false if some is not kept yet. A service that cannot know returns
  /// at once.
  virtual bool settle(std::chrono::nanoseconds) {
    return true;
  }

  /// Returns the number of steps so far by the rows of their batch, as
  /// engine_status::batches does; empty if it is unknown.
  virtual std::vector<uint64_t> batches() {
    return {};
  }
};

using started_service = std::variant<std::unique_ptr<service>, failure>;

/// Starts the service that a subcommand drives.
using service_starter = std::function<started_service(const engine_options&)>;

} // namespace atelier::runtime::cli
