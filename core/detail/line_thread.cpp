// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/detail/line_thread.hpp>

#include <fmt/format.h>

#include <cxxabi.h>

#include <exception>
#include <utility>

namespace atelier::core::detail {

/// Replaces the thread, unless it ends by itself.
class line_thread::substitute {
public:
  explicit substitute(line_thread& of) : of_(&of) {}

  substitute(const substitute&) = delete;
  substitute& operator=(const substitute&) = delete;

  ~substitute() {
    if (of_ != nullptr)
      of_->replace_thread();
  }

  void dismiss() {
    of_ = nullptr;
  }

private:
  line_thread* of_;
};

line_thread::line_thread(log_sink to, size_t most)
  : to_(std::move(to)), most_(most) {
  const std::lock_guard hold{lock_};
  start();
}

line_thread::~line_thread() {
  {
    const std::lock_guard hold{lock_};
    stopping_ = true;
    changed_.notify_all();
  }
  for (;;) {
    std::vector<std::thread> all;
    {
      const std::lock_guard hold{lock_};
      all.swap(ended_);
      if (thread_.joinable())
        all.push_back(std::move(thread_));
    }
    if (all.empty())
      return;
    for (auto& x : all)
      x.join();
  }
}

void line_thread::pass(log_level of, const std::string& text) {
  const std::lock_guard hold{lock_};
  if (waiting_.size() >= most_) {
    waiting_.pop_front();
    ++dropped_;
  }
  waiting_.push_back({of, text});
  changed_.notify_all();
}

void line_thread::start() {
  thread_ = std::thread{[this] { loop(); }};
}

void line_thread::loop() {
  substitute if_ended{*this};
  while (const auto x = next())
    call(*x);
  if_ended.dismiss();
}

std::optional<line_thread::line> line_thread::next() {
  std::unique_lock hold{lock_};
  changed_.wait(hold, [&] { return stopping_ || !waiting_.empty(); });
  if (!waiting_.empty()) {
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }
  if (const auto lost = std::exchange(dropped_, 0); lost > 0)
    return line{log_level::warn, fmt::format("{} lines were dropped", lost)};
  return std::nullopt;
}

void line_thread::call(const line& x) const {
  try {
    to_(x.of, x.text);
  } catch (const abi::__forced_unwind&) {
    throw; // It ends the thread, which nothing may hold up.
  } catch (...) {
    return; // There is no other place to report it.
  }
}

void line_thread::replace_thread() noexcept {
  try {
    const std::lock_guard hold{lock_};
    // The destructor may have it already.
    if (thread_.joinable())
      ended_.push_back(std::move(thread_));
    start();
  } catch (const std::exception&) {
    return; // There is no other place to report it.
  }
}

} // namespace atelier::core::detail
