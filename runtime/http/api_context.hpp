// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/runtime/http/image_service.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace atelier::runtime::http {

namespace detail {
class encoded_previews;
}

/// What the handlers of the APIs share.
struct api_context {
  std::shared_ptr<image_service> images;
  /// The limits of the engine: the APIs report a field that exceeds them by
  /// name.
  core::limits limits;
  /// The maximum number of images of one call.
  uint32_t images_of_call = 64;
  /// The maximum number of pixels of all images that one call returns.
  uint64_t answer_px = 256ull << 20;
  std::function<std::chrono::system_clock::time_point()> wall;
  /// Returns the processor time that the calling thread has used, from any
  /// beginning: work on the files of a call may take `limits.decode` of it, for
  /// which other work that holds the processors does not count. Empty: it may
  /// take any.
  std::function<core::time_point()> worked;
  /// Returns the time. The same work may take `decode_most` of it, whatever
  /// holds the processors. Empty: it may take any.
  std::function<core::time_point()> steady;
  core::timespan decode_most{0};
  /// Returns random bits, for seeds that clients did not set.
  std::function<uint64_t()> draw;
  /// Runs work of the caller of this name (detail::caller_name) away from the
  /// threads that read sockets; empty: on the calling thread. Work may run in
  /// any order. Returns false, and drops the work, if too much of it waits.
  using runner =
    std::function<bool(const std::string& caller, std::function<void()> work)>;
  /// Runs work on pixels.
  runner elsewhere;
  /// Runs work that waits for the files of images, and not behind pixels.
  runner at_files;
  /// Encodes the previews of event streams; null: they are left out.
  std::shared_ptr<detail::encoded_previews> previews;
  /// Called for each submitted call with the moment at which its request had
  /// arrived; may be empty.
  std::function<void(core::time_point)> handed_in;
  /// Whether clients reach the server by https, for the addresses in replies.
  bool tls = false;
};

} // namespace atelier::runtime::http
