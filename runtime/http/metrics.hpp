// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/jobs.hpp>
#include <atelier/runtime/http/server.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace atelier::runtime::http {

/// A state of the server to be shown as metrics: the figures that others count.
struct metrics_snapshot {
  engine_status engine;
  uint64_t open_jobs = 0;
  jobs::kept_images kept;
};

/// Counts the work of the APIs and of the engine, in the format of Prometheus.
/// docs/metrics.md describes each metric.
/// Threads: any.
class metrics {
public:
  metrics();
  ~metrics();

  metrics(const metrics&) = delete;
  metrics& operator=(const metrics&) = delete;

  /// Counts an exchange that was answered.
  void count_exchange(const std::string& method, const std::string& pattern,
                      unsigned status, double seconds);

  /// The part of a call that the APIs themselves take: until the call is
  /// submitted, or from its image to the end of its reply.
  enum class door : uint8_t { submit, respond };
  void count_door(door part, double seconds);

  /// Takes over the server's own counts, as of now.
  void note(const server_counts& x);

  /// The next three count a request for an image that was rejected, has failed,
  /// or was answered.
  void count_refusal(std::string_view code);
  void count_failure(std::string_view code);
  void count_image(const generated_image& x);

  /// Returns all metrics in the text format, version 0.0.4.
  std::string exposition(const metrics_snapshot& now) const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::runtime::http
