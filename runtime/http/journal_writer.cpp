// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/journal_writer.hpp>

#include <chrono>
#include <exception>
#include <iterator>
#include <utility>

namespace atelier::runtime::http {

namespace {

/// Time after which a failed write is tried again.
constexpr auto pause = std::chrono::seconds{1};

void call(const std::function<void(core::result<void>)>& then,
          const core::result<void>& done) {
  if (!then)
    return;
  try {
    then(done);
  } catch (const std::exception& e) {
    core::log_error("a callback of the journal of jobs threw: {}", e.what());
  } catch (...) {
    core::log_error("a callback of the journal of jobs threw");
  }
}

/// Returns the memory that a job's record takes, at least 1.
uint64_t size_of(const journalled_job& x) {
  uint64_t out = sizeof(x);
  for (const auto& image : x.wanted.images)
    out += sizeof(image) + image.image.size() + image.mask.size()
         + image.prompt.size() + image.negative.size();
  return out;
}

} // namespace

journal_writer::journal_writer(std::unique_ptr<journal_file> to,
                               journal_queue most)
  : file_(std::move(to)), most_(std::move(most)), thread_([this] { work(); }) {}

journal_writer::~journal_writer() {
  {
    const std::lock_guard guard{mutex_};
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

bool journal_writer::is_behind() {
  const auto now = most_.now();
  const std::lock_guard guard{mutex_};
  const bool behind = !accepting_.empty()
                   && (accepting_bytes_ >= most_.bytes
                       || now - accepting_.front().since >= most_.wait);
  if (std::exchange(behind_, behind) != behind) {
    if (behind)
      core::log_error("jobs are refused: {} of {} bytes wait for the disk of "
                      "the jobs' journal, the oldest for {:.1f} s",
                      accepting_.size(), accepting_bytes_,
                      core::to_seconds(now - accepting_.front().since));
    else
      core::log_warn("the jobs' journal is no longer behind");
  }
  return behind;
}

void journal_writer::accept(journalled_job x,
                            std::function<void(core::result<void>)> then) {
  const auto bytes = size_of(x);
  const auto now = most_.now();
  {
    const std::lock_guard guard{mutex_};
    accepting_.push_back({bytes, now});
    accepting_bytes_ += bytes;
    told_.push_back({std::move(x), std::move(then), bytes});
  }
  wake_.notify_all();
}

void journal_writer::after_accepts(std::function<void()> then) {
  push({std::nullopt,
        [then = std::move(then)](const core::result<void>&) { then(); }});
}

void journal_writer::suspect(journalled_suspicion x,
                             std::function<void()> then) {
  push({std::move(x),
        [then = std::move(then)](const core::result<void>&) { then(); }});
}

void journal_writer::cancel_image(journalled_cancellation x) {
  push({x, {}});
}

void journal_writer::end(journalled_end x) {
  push({std::move(x), {}});
}

void journal_writer::forget(uint64_t number) {
  push({journal_file::forgotten_job{number}, {}});
}

void journal_writer::push(order x) {
  {
    const std::lock_guard guard{mutex_};
    told_.push_back(std::move(x));
  }
  wake_.notify_all();
}

void journal_writer::work() {
  for (;;) {
    std::deque<order> now;
    bool last = false;
    {
      std::unique_lock lock{mutex_};
      const auto due = [&] { return ending_ || !told_.empty(); };
      if (late_.empty())
        wake_.wait(lock, due);
      else
        wake_.wait_for(lock, pause, due);
      now = std::exchange(told_, {});
      last = ending_;
    }
    // Late orders are written first, because they arrived first.
    std::move(now.begin(), now.end(), std::back_inserter(late_));
    write(std::exchange(late_, {}));
    if (!last)
      continue;
    if (!late_.empty())
      core::log_error("the ends of {} jobs are not in the journal: the jobs "
                      "are drawn again after the next start",
                      late_.size());
    return;
  }
}

void journal_writer::write(std::deque<order> all) {
  if (const auto done = write_together(all)) {
    for (const auto& x : all)
      answer(x, done);
    return;
  }
  // A small job may fit on the disk when a large one does not.
  for (auto& x : all) {
    core::result<void> done;
    if (x.record) {
      const auto* const one = &*x.record;
      done = file_->write(std::span{&one, 1});
      tell(done);
    }
    // A caller that waits for a job gets the error; an end is tried again.
    if (done || x.then)
      answer(x, done);
    else
      late_.push_back(std::move(x));
  }
}

void journal_writer::answer(const order& x, const core::result<void>& done) {
  if (x.bytes > 0) {
    const std::lock_guard guard{mutex_};
    // Jobs get their results in order.
    accepting_bytes_ -= accepting_.front().bytes;
    accepting_.pop_front();
  }
  call(x.then, done);
}

core::result<void> journal_writer::write_together(
  const std::deque<order>& all) {
  std::vector<const journal_file::record*> records;
  for (const auto& x : all)
    if (x.record)
      records.push_back(&*x.record);
  if (records.empty())
    return {};
  auto done = file_->write(records);
  tell(done);
  return done;
}

void journal_writer::tell(const core::result<void>& done) {
  if (std::exchange(fails_, !done) == !done)
    return;
  if (done)
    core::log_warn("the jobs' journal can be written again");
  else
    core::log_error("jobs are refused: {}", done.why().text);
}

} // namespace atelier::runtime::http
