// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/core/log_control.hpp>

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace atelier::core {

namespace {

/// Maximum number of queued lines; 256 bytes a line make it 2 MiB.
constexpr size_t waiting_lines = 8192;

constexpr std::array levels = {log_level::trace, log_level::debug,
                               log_level::info,  log_level::warn,
                               log_level::error, log_level::off};

/// The logger, which passes lines to the log's thread, and that thread. The
/// thread is destroyed first: its destructor waits until the passed lines are
/// written.
struct running_log {
  std::shared_ptr<spdlog::async_logger> logger;
  std::shared_ptr<spdlog::details::thread_pool> thread =
    std::make_shared<spdlog::details::thread_pool>(waiting_lines, 1);
};

std::atomic<log_level> threshold{log_level::off};

/// Held while a line is passed on, which never waits for the line to be
/// written.
std::mutex current_lock;
std::unique_ptr<running_log> current;

spdlog::level::level_enum to_spdlog(log_level level) {
  switch (level) {
    case log_level::trace:
      return spdlog::level::trace;
    case log_level::debug:
      return spdlog::level::debug;
    case log_level::info:
      return spdlog::level::info;
    case log_level::warn:
      return spdlog::level::warn;
    case log_level::error:
      return spdlog::level::err;
    case log_level::off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

std::optional<log_level> parse_level(std::string_view name) {
  const auto* at = std::find_if(levels.begin(), levels.end(),
                                [&](auto x) { return to_string(x) == name; });
  if (at == levels.end())
    return std::nullopt;
  return *at;
}

/// Doubles per cent signs, which the pattern would interpret.
std::string quote_for_pattern(std::string_view role) {
  std::string text;
  for (char c : role) {
    text += c;
    if (c == '%')
      text += c;
  }
  return text;
}

std::string escape_controls(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      clean += fmt::format("\\x{:02x}", byte);
    else
      clean += c;
  }
  return clean;
}

error unknown_level(ec code, std::string_view level) {
  return fail(
    code, "log level '{}' is not one of trace, debug, info, warn, error, off",
    level);
}

} // namespace

std::string_view to_string(log_level x) {
  switch (x) {
    case log_level::trace:
      return "trace";
    case log_level::debug:
      return "debug";
    case log_level::info:
      return "info";
    case log_level::warn:
      return "warn";
    case log_level::error:
      return "error";
    case log_level::off:
      return "off";
  }
  return "unknown";
}

result<void> start_log(std::string_view level, std::string_view role,
                       std::FILE* to) {
  const auto wanted = parse_level(level);
  if (!wanted)
    return unknown_level(ec::bad_config, level);
  const std::lock_guard hold{current_lock};
  if (current)
    return fail(ec::bad_config, "the log of this process runs already");
  if (*wanted == log_level::off)
    return {};
  try {
    auto log = std::make_unique<running_log>();
    auto sink = std::make_shared<
      spdlog::sinks::stdout_sink_base<spdlog::details::console_mutex>>(to);
    log->logger = std::make_shared<spdlog::async_logger>(
      std::string{role}, std::move(sink), log->thread,
      spdlog::async_overflow_policy::overrun_oldest);
    log->logger->set_level(spdlog::level::trace);
    log->logger->flush_on(spdlog::level::warn);
    log->logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l "
                               + quote_for_pattern(role) + "[%P] %v",
                             spdlog::pattern_time_type::utc);
    current = std::move(log);
    threshold.store(*wanted);
  } catch (const std::exception& x) {
    return fail(ec::out_of_resources, "the log cannot start: {}", x.what());
  }
  return {};
}

void stop_log() {
  threshold.store(log_level::off);
  std::unique_ptr<running_log> log;
  {
    const std::lock_guard hold{current_lock};
    log = std::move(current);
  }
  if (!log)
    return;
  if (const size_t lost = log->thread->overrun_counter(); lost > 0)
    log->logger->warn("{} lines were dropped", lost);
  log->logger->flush();
}

log_level log_threshold() noexcept {
  return threshold.load();
}

result<void> set_log_threshold(std::string_view level) {
  const auto wanted = parse_level(level);
  if (!wanted)
    return unknown_level(ec::invalid_argument, level);
  const std::lock_guard hold{current_lock};
  if (!current)
    return fail(ec::unavailable,
                "no log runs: it was off when the program began (log.level)");
  threshold.store(*wanted);
  return {};
}

bool log_enabled(log_level level) noexcept {
  return level != log_level::off
      && level >= threshold.load(std::memory_order_relaxed);
}

void write_log(log_level level, std::string_view text) noexcept {
  // Formatting may run out of memory, but no log line is worth the process.
  try {
    const std::string line = escape_controls(text);
    const std::lock_guard hold{current_lock};
    if (current)
      current->logger->log(to_spdlog(level), "{}", line);
  } catch (const std::exception&) {
    return;
  }
}

} // namespace atelier::core
