// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/http/server.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace atelier::runtime::http {

/// Writes a line for each request to a file:
///
///   TIME CLIENT KEY METHOD PATH STATUS BYTES SECONDS REQUEST_ID
///
/// TIME is in UTC, "-" stands for what is not known, and bytes that are not
/// visible ASCII are written as %XX. A thread of its own writes. If the disk
/// falls behind by `most_lines`, further lines are dropped, and a comment with
/// their number follows.
/// Threads: any.
class access_log {
public:
  static constexpr size_t most_lines = 4096;

  using clock = std::function<std::chrono::system_clock::time_point()>;

  /// Opens a file to append to it, which only its owner may read; "-" is
  /// standard output.
  /// Errors: ec::io_failed.
  static core::result<std::unique_ptr<access_log>> open(std::string where,
                                                        clock now);

  /// Writes what waits.
  ~access_log();

  access_log(const access_log&) = delete;
  access_log& operator=(const access_log&) = delete;

  void note(const answered_request& x);

  /// Opens the file anew, after another program has renamed it.
  /// Errors: ec::io_failed; then lines go on into the earlier one.
  core::result<void> reopen();

private:
  class impl;
  explicit access_log(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::runtime::http
