// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/jobs.hpp>
#include <atelier/runtime/http/server.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace atelier::runtime::http {

/// A state of the server to be shown as metrics: what others count.
struct metrics_snapshot {
  engine_status engine;
  uint64_t open_jobs = 0;
  jobs::kept_pictures kept;
};

/// What the doors count, and what the engine does, in Prometheus' words.
/// docs/metrics.md says what each one means.
/// Threads: any.
class metrics {
public:
  metrics();
  ~metrics();

  metrics(const metrics&) = delete;
  metrics& operator=(const metrics&) = delete;

  /// An exchange was answered.
  void count_exchange(const std::string& method, const std::string& pattern,
                      unsigned status, double seconds);

  /// How long the doors themselves had a call: until it was handed in, or from
  /// its picture to the end of its reply.
  enum class door : uint8_t { submit, respond };
  void count_door(door part, double seconds);

  /// What the server counts itself, as of now.
  void note(const server_counts& x);

  /// A request for a picture was refused, failed, or was answered.
  void count_refusal(std::string_view code);
  void count_failure(std::string_view code);
  void count_picture(const picture& x);

  /// Returns all of it in the text format, version 0.0.4.
  std::string exposition(const metrics_snapshot& now) const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::runtime::http
