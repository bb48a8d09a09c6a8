// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/timeline.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace atelier::runtime {

/// Turns events into Chrome's trace events, a JSON object a line, each followed
/// by a comma. Requests are asynchronous events of one process, each on its own
/// track; workers are threads of another process. Times are microseconds on the
/// host's monotonic clock.
/// Source: "Trace Event Format",
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
class timeline_text {
public:
  /// The beginning of a file.
  static std::string begin();

  /// Returns the end of a file: the numbers of its events and of the dropped
  /// ones.
  static std::string end(core::time_point now, uint64_t events,
                         uint64_t dropped);

  /// Returns the lines of one event; the first event of a worker also names it.
  /// A worker does one thing at a time: an event that seems to begin before the
  /// end of the worker's previous one begins at that end.
  std::string lines_of(const actors::timeline_event& x);

private:
  struct thread {
    uint32_t number = 0;
    core::time_point busy_until;
  };

  thread& thread_of(const actors::timeline_track& x, std::string& into);

  std::map<std::string, thread> threads_;
};

} // namespace atelier::runtime
