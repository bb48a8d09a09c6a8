// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/device_thread.hpp>

#include <utility>

namespace atelier::gpu::detail {

namespace {

// How long a roused thread looks for its job.
constexpr core::timespan roused_time = std::chrono::microseconds{200};

// The live side of the seam: the device's own thread reads the real clock.
core::time_point now() {
  return core::time_point::clock::now();
}

} // namespace

device_thread::device_thread(std::unique_ptr<row_engine> rows, device_pace pace)
  : pace_(pace), rows_(std::move(rows)), thread_([this] { work(); }) {}

device_thread::~device_thread() {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  wake_.notify_one();
}

void device_thread::connect(executor_events events) {
  const std::lock_guard guard{mutex_};
  events_ = std::move(events);
}

void device_thread::rouse() {
  {
    const std::lock_guard guard{mutex_};
    if (!asleep_)
      return;
    roused_ = true;
  }
  wake_.notify_one();
}

void device_thread::open(const open_job& job) {
  submit(job);
}

void device_thread::run(const run_job& job) {
  submit(numbered_run{job, ++runs_});
}

void device_thread::interrupt() {
  interrupted_ = runs_;
}

void device_thread::decode(core::ticket who) {
  submit(decode_job{who});
}

void device_thread::close(core::ticket who) {
  submit(close_job{who});
}

void device_thread::submit(any_job job) {
  bool sleeps = false;
  {
    const std::lock_guard guard{mutex_};
    jobs_.push_back(std::move(job));
    has_job_ = true;
    sleeps = asleep_;
  }
  if (sleeps)
    wake_.notify_one();
}

void device_thread::wait_for_job(std::unique_lock<std::mutex>& lock) {
  while (!stopping_ && jobs_.empty()) {
    asleep_ = true;
    wake_.wait(lock, [this] { return stopping_ || roused_ || !jobs_.empty(); });
    asleep_ = false;
    if (!roused_.exchange(false) || !jobs_.empty())
      continue;
    // Whoever brings the job runs meanwhile where there are few cores.
    lock.unlock();
    const auto until = now() + roused_time;
    while (!has_job_ && !stopping_ && now() < until)
      std::this_thread::yield();
    lock.lock();
  }
}

void device_thread::work() {
  rows_->begin();
  for (;;) {
    std::unique_lock lock{mutex_};
    wait_for_job(lock);
    if (stopping_)
      return;
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    has_job_ = !jobs_.empty();
    lock.unlock();
    std::visit([this](const auto& x) { handle(x); }, job);
  }
}

void device_thread::pause(core::time_point until) {
  if (until <= now())
    return;
  std::unique_lock lock{mutex_};
  wake_.wait_until(lock, until, [this] { return stopping_.load(); });
}

void device_thread::handle(const open_job& job) {
  const auto begin = now();
  rows_->open(job);
  opening_[job.who] = now() - begin;
}

void device_thread::handle(const numbered_run& x) {
  const auto begin = now();
  run_report report;
  for (const auto& who : x.job.rows)
    if (const auto spent = opening_.extract(who))
      report.opening += spent.mapped();
  while (!stopping_ && interrupted_ != x.number
         && rows_->steps_left(x.job.rows, x.job.steps - report.steps) > 0) {
    const auto step_begin = now();
    if (report.steps == 0)
      report.first_step = step_begin;
    pause(step_begin + pace_.step);
    rows_->step(x.job.rows);
    ++report.steps;
  }
  report.rows = rows_->report(x.job.rows);
  report.took = now() - begin + report.opening;
  if (!stopping_)
    events_.ran(std::move(report));
}

void device_thread::handle(const decode_job& job) {
  const auto begin = now();
  pause(begin + pace_.decode);
  auto report = rows_->decode(job.who);
  report.took = now() - begin;
  if (!stopping_)
    events_.decoded(std::move(report));
}

void device_thread::handle(const close_job& job) {
  rows_->close(job.who);
  opening_.erase(job.who);
}

} // namespace atelier::gpu::detail
