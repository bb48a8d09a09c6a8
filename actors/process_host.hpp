// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/messages.hpp>

#include <functional>
#include <string>

namespace atelier::actors {

/// Interface that starts, kills and watches processes. Live: the operating
/// system; simulated: a script.
/// Threads: any; nothing blocks.
class process_host {
public:
  virtual ~process_host() = default;

  /// Sets the event handlers; they are called from any thread and must not
  /// block.
  virtual void connect(std::function<void(process_started)> started,
                       std::function<void(process_exited)> exited) = 0;

  /// Starts life `who` of a process for `part`. Exactly one `started` follows;
  /// if it has no failure, one `exited` follows at the end, after everything
  /// that the process wrote was delivered.
  /// @param bare a device begins without models, and loads them by orders
  virtual void start(ipc::process_life who, std::string part, bool bare) = 0;

  /// Asks for a sign of life; a `pong` follows if the process answers.
  virtual void ping(ipc::process_life who, uint64_t number) = 0;

  /// Asks a process to end by itself.
  virtual void ask_to_leave(ipc::process_life who) = 0;

  /// Kills a process, even a stopped one.
  virtual void kill(ipc::process_life who) = 0;
};

} // namespace atelier::actors
