// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/core/result.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace atelier::actors {

/// A message that the control process writes into a process's ring.
struct to_process {
  /// The worker in the process; unused by setup, ping and leave.
  actors::role role = actors::role::preprocess;
  uint32_t index = 0;
  std::variant<run_stage, denoise, cancel_work, adopt, setup, ping, leave,
               ask_order>
    body;

  friend bool operator==(const to_process&, const to_process&) = default;
};

/// A message that a process writes into its ring.
struct from_process {
  std::variant<worker_ready, stage_done, stepping, stepped, denoised, adopted,
               pong, setup_refused, has_order>
    body;

  friend bool operator==(const from_process&, const from_process&) = default;
};

/// Writes a message as bytes: one byte for its kind, then its fields
/// (core/record.hpp). Clears `into` first.
void write(const to_process& x, std::vector<std::byte>& into);
void write(const from_process& x, std::vector<std::byte>& into);

/// Reads a message that `write` wrote.
/// Errors: ec::bad_payload for an unknown kind, missing or left-over bytes, or
///         a value that its enumeration does not have.
core::result<to_process> read_to_process(std::span<const std::byte> from);
core::result<from_process> read_from_process(std::span<const std::byte> from);

/// Returns why a record of `bytes` bytes cannot be sent to or from a process
/// whose ring takes `most`.
core::error too_large(size_t bytes, size_t most);

/// Returns the report that says, for the ticket of `x`, that `x` could not be
/// sent; nothing if `x` answers no order.
std::optional<from_process> refused(const from_process& x, core::error why);

} // namespace atelier::actors
