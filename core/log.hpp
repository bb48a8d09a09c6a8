// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace atelier::core {

/// The levels of log lines, by rising severity; `off` is above all of them.
enum class log_level : uint8_t { trace, debug, info, warn, error, off };

std::string_view to_string(log_level x);

/// A function that receives lines, without the time and the process's role.
using log_sink = std::function<void(log_level, std::string_view)>;

/// A log that runs as long as its object exists: its destructor writes the
/// queued lines and ends its thread.
class started_log;

/// Starts a log of the process: lines of `level` and above are written to `to`,
/// marked with the process's role. Every log that runs receives the lines of
/// the whole process, each from its own level on; a file that several logs
/// write to receives each line once. A thread of the log writes the lines. If
/// it falls behind, the oldest queued lines are dropped and counted, so that no
/// caller waits for the terminal. With the level `off`, no log runs and the
/// result is null.
/// Errors:  ec::bad_config for an unknown level; ec::out_of_resources.
/// Threads: any.
result<std::shared_ptr<started_log>> start_log(std::string_view level,
                                               std::string_view role,
                                               std::FILE* to = stderr);

/// Starts a log of the process whose thread passes the lines to a function, one
/// at a time. Exceptions of the function are ignored.
result<std::shared_ptr<started_log>> start_log(std::string_view level,
                                               log_sink to);

/// Returns whether a line of that level would be written.
bool log_enabled(log_level level) noexcept;

/// Writes one line. Control characters in it are escaped, so that a prompt can
/// neither forge a line nor control a terminal.
void write_log(log_level level, std::string_view text) noexcept;

template <class... Ts>
void log_at(log_level level, fmt::format_string<Ts...> text, Ts&&... xs) {
  if (log_enabled(level))
    write_log(level, fmt::format(text, std::forward<Ts>(xs)...));
}

template <class... Ts>
void log_trace(fmt::format_string<Ts...> text, Ts&&... xs) {
  log_at(log_level::trace, text, std::forward<Ts>(xs)...);
}

template <class... Ts>
void log_debug(fmt::format_string<Ts...> text, Ts&&... xs) {
  log_at(log_level::debug, text, std::forward<Ts>(xs)...);
}

template <class... Ts>
void log_info(fmt::format_string<Ts...> text, Ts&&... xs) {
  log_at(log_level::info, text, std::forward<Ts>(xs)...);
}

template <class... Ts>
void log_warn(fmt::format_string<Ts...> text, Ts&&... xs) {
  log_at(log_level::warn, text, std::forward<Ts>(xs)...);
}

template <class... Ts>
void log_error(fmt::format_string<Ts...> text, Ts&&... xs) {
  log_at(log_level::error, text, std::forward<Ts>(xs)...);
}

} // namespace atelier::core
