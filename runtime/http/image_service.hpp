// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace atelier::runtime::http {

/// A source of images: an engine, or a test's stand-in.
/// Threads: all members may be called from any thread. Callbacks run on a
/// thread of the service, one at a time, and must not block for long.
class image_service {
public:
  virtual ~image_service() = default;

  /// Submits a request as engine::submit does, but never runs an actor on the
  /// calling thread.
  virtual std::variant<uint64_t, failure> submit(const generation& wanted,
                                                 callbacks calls) = 0;

  /// Does the same as engine::cancel.
  virtual bool cancel(uint64_t request) = 0;

  /// Does the same as engine::status. It may wait for an actor, so the server's
  /// threads must not call it.
  virtual engine_status status() const = 0;

  /// Does the same as engine::variants.
  virtual std::vector<variant_status> variants() const = 0;

  /// Does the same as engine::cache_entries. It may wait for a disk, so the
  /// server's threads must not call it.
  virtual atelier::result<std::vector<cache_entry>> cache_entries(
    const cache_query&) const {
    return failure{"not_found", "there is no cache", {}};
  }

  /// Does the same as engine::host_model, without waiting.
  virtual atelier::result<void> host_model(const std::string& model,
                                           bool there) = 0;
};

} // namespace atelier::runtime::http
