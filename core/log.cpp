// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/detail/line_thread.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/log_control.hpp>

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::core {

namespace {

/// Maximum number of queued lines; 256 bytes a line make it 2 MiB.
constexpr size_t waiting_lines = 8192;

constexpr std::array levels = {log_level::trace, log_level::debug,
                               log_level::info,  log_level::warn,
                               log_level::error, log_level::off};

std::atomic<log_level> threshold{log_level::off};

/// The logs of one process, in the order of their start.
struct registry {
  explicit registry(const registry* last) : before(last) {}

  /// The registry of the process from which this one was forked, or null.
  const registry* before;
  const pid_t process = getpid();
  /// Held while a line is passed on, which never waits for the line to be
  /// written.
  std::mutex lock;
  std::vector<started_log*> logs;
};

/// Returns the registry of this process. It is never destroyed, because threads
/// log while the process exits. A process forked from one with logs has none of
/// their threads, and perhaps a lock that is never released, so it gets its
/// own.
registry& here() {
  static std::atomic<registry*> current = new registry{nullptr};
  auto* found = current.load();
  if (found->process == getpid())
    return *found;
  auto* own = new registry{found};
  if (current.compare_exchange_strong(found, own)) {
    threshold.store(log_level::off);
    return *own;
  }
  delete own;
  return *found;
}

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

namespace {

/// Lines below the most verbose log's level are not even formatted.
/// @pre the registry is locked
void settle_threshold(const registry& all);

/// Where the lines of one log go. The destructor waits until the passed lines
/// are written.
class line_writer {
public:
  virtual ~line_writer() = default;

  /// Passes a line to the thread that writes it.
  virtual void pass(log_level of, const std::string& line) = 0;
};

class file_writer final : public line_writer {
public:
  file_writer(std::string_view role, std::FILE* to) {
    logger_ = std::make_shared<spdlog::async_logger>(
      std::string{role},
      std::make_shared<
        spdlog::sinks::stdout_sink_base<spdlog::details::console_mutex>>(to),
      thread_, spdlog::async_overflow_policy::overrun_oldest);
    logger_->set_level(spdlog::level::trace);
    logger_->flush_on(spdlog::level::warn);
    logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l " + quote_for_pattern(role)
                           + "[%P] %v",
                         spdlog::pattern_time_type::utc);
  }

  file_writer(const file_writer&) = delete;
  file_writer& operator=(const file_writer&) = delete;

  ~file_writer() override {
    if (const size_t lost = thread_->overrun_counter(); lost > 0)
      logger_->warn("{} lines were dropped", lost);
    logger_->flush();
  }

  void pass(log_level of, const std::string& line) override {
    logger_->log(to_spdlog(of), "{}", line);
  }

private:
  std::shared_ptr<spdlog::async_logger> logger_;
  // The last member, so that it ends first.
  std::shared_ptr<spdlog::details::thread_pool> thread_ =
    std::make_shared<spdlog::details::thread_pool>(waiting_lines, 1);
};

class function_writer final : public line_writer {
public:
  explicit function_writer(log_sink to)
    : thread_(std::move(to), waiting_lines) {}

  void pass(log_level of, const std::string& line) override {
    thread_.pass(of, line);
  }

private:
  detail::line_thread thread_;
};

} // namespace

class started_log {
public:
  /// @param file the file that the lines go to; null: they go to a function
  started_log(log_level wanted, std::FILE* file,
              std::unique_ptr<line_writer> writer)
    : level(wanted), to(file), writer_(std::move(writer)) {
    const std::lock_guard hold{all_.lock};
    all_.logs.push_back(this);
    settle_threshold(all_);
  }

  started_log(const started_log&) = delete;
  started_log& operator=(const started_log&) = delete;

  ~started_log() {
    const std::lock_guard hold{all_.lock};
    std::erase(all_.logs, this);
    settle_threshold(all_);
  }

  /// Passes a line to the thread that writes it.
  void pass(log_level of, const std::string& line) {
    writer_->pass(of, line);
  }

  /// The registry's lock guards it.
  log_level level;
  std::FILE* const to;

private:
  registry& all_ = here();
  std::unique_ptr<line_writer> writer_;
};

namespace {

void settle_threshold(const registry& all) {
  auto least = log_level::off;
  for (const auto* log : all.logs)
    least = std::min(least, log->level);
  threshold.store(least);
}

result<std::shared_ptr<started_log>> start(
  std::string_view level, std::FILE* file,
  const std::function<std::unique_ptr<line_writer>()>& make_writer) {
  const auto wanted = parse_level(level);
  if (!wanted)
    return unknown_level(ec::bad_config, level);
  if (*wanted == log_level::off)
    return std::shared_ptr<started_log>{};
  try {
    return std::make_shared<started_log>(*wanted, file, make_writer());
  } catch (const std::exception& x) {
    return fail(ec::out_of_resources, "the log cannot start: {}", x.what());
  }
}

} // namespace

result<std::shared_ptr<started_log>> start_log(std::string_view level,
                                               std::string_view role,
                                               std::FILE* to) {
  return start(level, to,
               [&] { return std::make_unique<file_writer>(role, to); });
}

result<std::shared_ptr<started_log>> start_log(std::string_view level,
                                               log_sink to) {
  return start(level, nullptr, [&] {
    return std::make_unique<function_writer>(std::move(to));
  });
}

log_level log_threshold() noexcept {
  return threshold.load();
}

result<void> set_log_threshold(std::string_view level) {
  const auto wanted = parse_level(level);
  if (!wanted)
    return unknown_level(ec::invalid_argument, level);
  auto& all = here();
  const std::lock_guard hold{all.lock};
  if (all.logs.empty())
    return fail(ec::unavailable,
                "no log runs: it was off when the program began (log.level)");
  for (auto* log : all.logs)
    log->level = *wanted;
  settle_threshold(all);
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
    auto& all = here();
    const std::lock_guard hold{all.lock};
    for (auto i = all.logs.begin(); i != all.logs.end(); ++i) {
      const auto writes = [&](const started_log* x) {
        return level >= x->level && x->to == (*i)->to;
      };
      // A file that an earlier log writes to has the line already.
      if (level >= (*i)->level
          && ((*i)->to == nullptr || std::none_of(all.logs.begin(), i, writes)))
        (*i)->pass(level, line);
    }
  } catch (const std::exception&) {
    return;
  }
}

} // namespace atelier::core
