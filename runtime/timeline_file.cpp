// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/timeline_file.hpp>
#include <atelier/runtime/timeline_text.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace atelier::runtime {

namespace {

/// Kept free for the file's end.
constexpr uint64_t end_bytes = 512;

/// How long events gather before they are written.
constexpr auto gathering = std::chrono::milliseconds{20};

/// Blocks of this size are written at once.
constexpr size_t block_bytes = 64 * 1024;

// The end of the file is not an actor's event: its time is that of this thread.
core::time_point now() {
  return core::time_point::clock::now();
}

core::error io_fault(const std::string& path) {
  return core::fail(core::ec::io_failed, "timeline {}: {}", path,
                    std::strerror(errno));
}

} // namespace

core::result<std::shared_ptr<timeline_file>> timeline_file::open(
  const std::string& path, const config::timeline_settings& within) {
  core::descriptor file{
    ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644)};
  if (!file)
    return io_fault(path);

  struct stat about {};

  if (fstat(file.number(), &about) != 0)
    return io_fault(path);
  if (!S_ISREG(about.st_mode))
    return core::fail(core::ec::invalid_argument,
                      "timeline {} is not a regular file", path);
  char first = '[';
  if (about.st_size > 0 && pread(file.number(), &first, 1, 0) != 1)
    return io_fault(path);
  if (first != '[')
    return core::fail(
      core::ec::invalid_argument,
      "timeline {} exists and is not a timeline: it is not replaced", path);
  if (flock(file.number(), LOCK_EX | LOCK_NB) != 0)
    return core::fail(core::ec::invalid_argument,
                      "timeline {} is being written by another engine", path);
  if (ftruncate(file.number(), 0) != 0)
    return io_fault(path);
  return std::shared_ptr<timeline_file>{
    new timeline_file{path, std::move(file), within}};
}

timeline_file::timeline_file(std::string path, core::descriptor file,
                             const config::timeline_settings& within)
  : path_(std::move(path)),
    within_(within),
    file_(std::move(file)),
    thread_([this] { loop(); }) {}

timeline_file::~timeline_file() {
  close();
}

void timeline_file::add(actors::timeline_event what) {
  bool first = false;
  {
    const std::lock_guard guard{mutex_};
    if (closing_ || waiting_.size() >= within_.events) {
      ++counts_.dropped;
      return;
    }
    first = waiting_.empty();
    waiting_.push_back(std::move(what));
  }
  if (first)
    wake_.notify_one();
}

void timeline_file::close() {
  {
    const std::lock_guard guard{mutex_};
    if (std::exchange(closing_, true))
      return;
  }
  wake_.notify_one();
  thread_.join();
  const auto all = count();
  if (all.dropped > 0)
    core::log_warn("the timeline {} lacks {} events that found no room "
                   "(timeline.file_mib, timeline.events, or the disk)",
                   path_, all.dropped);
}

timeline_file::counts timeline_file::count() const {
  const std::lock_guard guard{mutex_};
  return counts_;
}

void timeline_file::write(const std::string& text) {
  size_t done = 0;
  while (done < text.size() && !broken_) {
    const auto n =
      ::write(file_.number(), text.data() + done, text.size() - done);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      broken_ = true;
      core::log_error("{}", core::to_string(io_fault(path_)));
    }
  }
  const std::lock_guard guard{mutex_};
  counts_.bytes += done;
}

void timeline_file::drop(uint64_t events) {
  if (events == 0)
    return;
  const std::lock_guard guard{mutex_};
  counts_.dropped += events;
}

void timeline_file::loop() {
  timeline_text text;
  auto block = timeline_text::begin();
  // Bytes of the file including the block.
  uint64_t bytes = block.size();
  uint64_t events = 0;
  const auto flush = [&] {
    const bool whole = !broken_;
    write(block);
    block.clear();
    const std::lock_guard guard{mutex_};
    (whole && !broken_ ? counts_.events : counts_.dropped) +=
      std::exchange(events, 0);
  };
  bool full = false;
  for (;;) {
    std::vector<actors::timeline_event> batch;
    bool last = false;
    {
      std::unique_lock guard{mutex_};
      wake_.wait(guard, [this] { return closing_ || !waiting_.empty(); });
      wake_.wait_for(guard, gathering, [this] { return closing_; });
      batch.swap(waiting_);
      last = closing_;
    }
    uint64_t left_out = 0;
    for (const auto& x : batch) {
      const auto lines = full ? std::string{} : text.lines_of(x);
      full = full || bytes + lines.size() + end_bytes > within_.file_bytes;
      if (full) {
        ++left_out;
        continue;
      }
      bytes += lines.size();
      block += lines;
      ++events;
      if (block.size() >= block_bytes)
        flush();
    }
    drop(left_out);
    if (!block.empty())
      flush();
    if (last)
      break;
  }
  const auto all = count();
  write(timeline_text::end(now(), all.events, all.dropped));
}

} // namespace atelier::runtime
