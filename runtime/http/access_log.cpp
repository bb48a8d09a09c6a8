// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/access_log.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace atelier::runtime::http {

namespace {

using core::ec;
using core::fail;
using core::result;

/// A path may be as long as a request's head.
constexpr size_t most_word_bytes = 2048;

/// Returns a word without blanks and control characters, so that no client
/// forges a line or a field.
std::string word(std::string_view x) {
  if (x.empty())
    return "-";
  std::string out;
  for (const char c : x.substr(0, most_word_bytes))
    if (c > 0x20 && c < 0x7f)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

/// Returns a time in UTC, to the millisecond.
std::string told(std::chrono::system_clock::time_point x) {
  const auto second = std::chrono::floor<std::chrono::seconds>(x);
  const auto rest =
    std::chrono::duration_cast<std::chrono::milliseconds>(x - second);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                     rest.count());
}

/// Keeps a file open for its own lifetime.
class log_file {
public:
  static result<std::unique_ptr<log_file>> open(const std::string& where) {
    if (where == "-")
      return std::make_unique<log_file>(STDOUT_FILENO);
    const int fd =
      ::open(where.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
      return fail(ec::io_failed, "http.access_log: cannot open {}: {}", where,
                  std::strerror(errno));
    return std::make_unique<log_file>(fd);
  }

  explicit log_file(int fd) : fd_(fd) {}

  ~log_file() {
    if (fd_ != STDOUT_FILENO)
      ::close(fd_);
  }

  log_file(const log_file&) = delete;
  log_file& operator=(const log_file&) = delete;

  /// What cannot be written is lost: a full disk must not end the server.
  void write(std::string_view text) {
    while (!text.empty()) {
      const auto n = ::write(fd_, text.data(), text.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return;
      text.remove_prefix(static_cast<size_t>(n));
    }
  }

private:
  int fd_;
};

} // namespace

class access_log::impl {
public:
  impl(std::string where, clock now, std::unique_ptr<log_file> file)
    : where_(std::move(where)),
      now_(std::move(now)),
      file_(std::move(file)),
      writer_([this] { loop(); }) {}

  ~impl() {
    {
      const std::lock_guard hold{lock_};
      ends_ = true;
    }
    changed_.notify_all();
    writer_.join();
  }

  void note(const answered_request& x) {
    {
      const std::lock_guard hold{lock_};
      if (lines_.size() >= most_lines) {
        ++dropped_;
        return;
      }
    }
    auto line =
      fmt::format("{} {} {} {} {} {} {} {:.6f} {}\n", told(now_()),
                  word(x.client), word(x.key), word(x.method), word(x.path),
                  x.status, x.bytes, x.seconds, word(x.request_id));
    {
      const std::lock_guard hold{lock_};
      lines_.push_back(std::move(line));
    }
    changed_.notify_all();
  }

  result<void> reopen() {
    auto next = log_file::open(where_);
    if (!next)
      return next.why();
    const std::lock_guard hold{file_lock_};
    file_ = std::move(*next);
    return {};
  }

private:
  void loop() {
    for (;;) {
      std::deque<std::string> lines;
      uint64_t dropped = 0;
      {
        std::unique_lock hold{lock_};
        changed_.wait(hold,
                      [&] { return ends_ || !lines_.empty() || dropped_ > 0; });
        if (lines_.empty() && dropped_ == 0)
          return;
        lines.swap(lines_);
        dropped = std::exchange(dropped_, 0);
      }
      std::string text;
      for (const auto& x : lines)
        text += x;
      if (dropped > 0)
        text += fmt::format("# {} requests are missing here\n", dropped);
      const std::lock_guard hold{file_lock_};
      file_->write(text);
    }
  }

  const std::string where_;
  const clock now_;
  std::mutex lock_;
  std::condition_variable changed_;
  /// The lock guards these three.
  std::deque<std::string> lines_;
  uint64_t dropped_ = 0;
  bool ends_ = false;
  std::mutex file_lock_;
  /// Guarded by its own lock.
  std::unique_ptr<log_file> file_;
  // The last member: it uses the others.
  std::thread writer_;
};

result<std::unique_ptr<access_log>> access_log::open(std::string where,
                                                     clock now) {
  auto file = log_file::open(where);
  if (!file)
    return file.why();
  return std::unique_ptr<access_log>{new access_log{std::make_unique<impl>(
    std::move(where), std::move(now), std::move(*file))}};
}

access_log::access_log(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

access_log::~access_log() = default;

void access_log::note(const answered_request& x) {
  impl_->note(x);
}

result<void> access_log::reopen() {
  return impl_->reopen();
}

} // namespace atelier::runtime::http
