// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/timeline.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/descriptor.hpp>
#include <atelier/core/result.hpp>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace atelier::runtime {

/// Writes a timeline's file while events happen, on its own thread. The queue
/// and the file are bounded: events without room are dropped, counted, and
/// reported in the file's last event and in the log. Without that end, after a
/// kill, viewers can still read the file.
/// Threads: any.
class timeline_file : public actors::timeline {
public:
  struct counts {
    /// The numbers of written and dropped events.
    uint64_t events = 0;
    uint64_t dropped = 0;
    uint64_t bytes = 0;
  };

  /// Begins the file. An existing timeline is replaced.
  /// Errors: ec::invalid_argument if another file exists there, or another
  /// engine writes it; ec::io_failed.
  static core::result<std::shared_ptr<timeline_file>> open(
    const std::string& path, const config::timeline_settings& within);

  ~timeline_file() override;

  void add(actors::timeline_event what) override;

  /// Writes the queue and the end, once; events added later are dropped.
  void close();

  counts count() const;

private:
  timeline_file(std::string path, core::descriptor file,
                const config::timeline_settings& within);

  void loop();
  void write(const std::string& text);
  void drop(uint64_t events);

  const std::string path_;
  const config::timeline_settings within_;
  // Only the thread uses these until it has ended.
  core::descriptor file_;
  bool broken_ = false;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  /// The mutex guards this and all members below except the thread.
  std::vector<actors::timeline_event> waiting_;
  counts counts_;
  bool closing_ = false;
  // The thread is last: it ends before the members that it uses.
  std::jthread thread_;
};

} // namespace atelier::runtime
