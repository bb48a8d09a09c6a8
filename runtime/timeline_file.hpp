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

/// Writes a timeline's file as it happens, on a thread of its own. Both what
/// waits and the file are bounded: what finds no room is left out, counted, and
/// told in the file's last event and in the log. Without that end, after a
/// kill, the file is still one that viewers read. Threads: any.
class timeline_file : public actors::timeline {
public:
  struct counts {
    /// Written, and left out.
    uint64_t events = 0;
    uint64_t dropped = 0;
    uint64_t bytes = 0;
  };

  /// Begins the file. A timeline that is there already is replaced.
  /// Errors: ec::invalid_argument where another file is there, or another
  ///         engine writes it; ec::io_failed.
  static core::result<std::shared_ptr<timeline_file>> open(
    const std::string& path, const config::timeline_settings& within);

  ~timeline_file() override;

  void add(actors::timeline_event what) override;

  /// Writes what waits and the end; what is added later is left out. Once.
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
  // The thread's, until it ended.
  core::descriptor file_;
  bool broken_ = false;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  /// Guarded by the mutex, as all below but the thread.
  std::vector<actors::timeline_event> waiting_;
  counts counts_;
  bool closing_ = false;
  // Last: it ends before what it uses.
  std::jthread thread_;
};

} // namespace atelier::runtime
