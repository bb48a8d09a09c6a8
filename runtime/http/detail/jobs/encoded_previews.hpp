// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

/// Encodes previews as base64 of image files: each once for all streams that
/// show it, and not on the thread that delivers the images of all requests.
/// Threads: any. It must not be destroyed by a function that it calls.
class encoded_previews {
public:
  /// Null if it could not be encoded.
  using text = std::shared_ptr<const std::string>;
  using receiver = std::function<void(const text&)>;
  /// Runs work elsewhere; returns false if it cannot.
  using runner = std::function<bool(std::function<void()>)>;

  /// @param run must not be empty
  explicit encoded_previews(runner run) : run_(std::move(run)) {}

  /// Calls `then` with the text: at once if it exists, otherwise when it is
  /// encoded.
  /// @param format png, jpeg or webp
  void get(const std::shared_ptr<const preview>& of, std::string_view format,
           receiver then);

private:
  struct entry {
    std::shared_ptr<const preview> of;
    std::string format;
    std::mutex mutex;
    /// The mutex guards these.
    bool done = false;
    text encoded;
    std::vector<receiver> waiting;

    void finish(text x);
  };

  const runner run_;
  std::mutex mutex_;
  /// The last ones, guarded by the mutex.
  std::deque<std::shared_ptr<entry>> known_;
};

} // namespace atelier::runtime::http::detail
