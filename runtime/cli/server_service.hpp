// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace atelier::runtime::cli {

/// Where a running server is, and how it is asked.
struct server_options {
  std::string url;
  std::optional<std::string> key;
  /// Most requests that are asked at a time; more wait here.
  uint32_t connections = 256;
  /// Until the reply to one of them.
  core::timespan patience = std::chrono::minutes{10};
};

/// Returns a service whose pictures a running server makes, by OpenAI's route,
/// one connection a picture. The picture of an answer is empty: what it looks
/// like is not kept. `cancel` takes back what was not asked yet; the server is
/// left running by `stop`, which waits for the replies under way. Errors:
/// ec::invalid_argument (the address), ec::unavailable (nobody is
///         there, or no server of this kind), those of the reply to GET /health
core::result<std::unique_ptr<service>> reach_server(server_options options);

} // namespace atelier::runtime::cli
