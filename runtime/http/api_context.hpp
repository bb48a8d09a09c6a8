// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/runtime/http/jobs.hpp>
#include <atelier/runtime/http/picture_service.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace atelier::runtime::http {

/// What the handlers of the APIs share.
struct api_context {
  std::shared_ptr<picture_service> pictures;
  /// Those of the engine: the door tells their fields by name.
  core::limits limits;
  /// Most pictures of one call.
  uint32_t pictures_of_call = 64;
  std::function<std::chrono::system_clock::time_point()> wall;
  /// Never goes back; empty: work on pixels may take any time.
  std::function<core::time_point()> steady;
  /// Random bits, for seeds that clients left open.
  std::function<uint64_t()> draw;
  /// Has work on pixels done elsewhere than on the threads that read sockets;
  /// empty: where it is asked for. It may come in any order.
  std::function<void(std::function<void()>)> elsewhere;
  /// Told of each call that was handed in, with the moment at which its request
  /// had come; may be empty.
  std::function<void(core::time_point)> handed_in;
  /// Whether clients reach the server by https: for the addresses that it
  /// tells.
  bool tls = false;
};

} // namespace atelier::runtime::http
