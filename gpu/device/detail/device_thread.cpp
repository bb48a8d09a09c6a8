// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/gpu/device/detail/device_thread.hpp>

#include <exception>
#include <new>
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

template <class Work>
core::error device_thread::guarded(Work&& work) {
  try {
    std::forward<Work>(work)();
    return {};
  } catch (const std::bad_alloc&) {
    return core::fail(core::ec::out_of_resources, "the device: out of memory");
  } catch (const std::exception& x) {
    return core::fail(core::ec::internal, "the device: {}", x.what());
  } catch (...) {
    return core::fail(core::ec::internal, "the device: an unknown exception");
  }
}

void device_thread::handle(const open_job& job) {
  const auto begin = now();
  auto why = guarded([&] { rows_->open(job); });
  if (why.code != core::ec::none)
    unopened_[job.who] = std::move(why);
  opening_[job.who] = now() - begin;
}

void device_thread::handle(const numbered_run& x) {
  const auto begin = now();
  run_report report;
  std::vector<core::ticket> sound;
  for (const auto& who : x.job.rows) {
    if (const auto spent = opening_.extract(who))
      report.opening += spent.mapped();
    if (auto failed = unopened_.extract(who))
      report.rows.push_back({who, 0, false, std::move(failed.mapped()), {}});
    else
      sound.push_back(who);
  }
  auto broken = guarded([&] {
    while (!stopping_ && interrupted_ != x.number
           && rows_->steps_left(sound, x.job.steps - report.steps) > 0) {
      const auto step_begin = now();
      if (report.steps == 0)
        report.first_step = step_begin;
      pause(step_begin + pace_.step);
      rows_->step(sound);
      ++report.steps;
    }
  });
  std::vector<row_report> told;
  if (auto why = guarded([&] { told = rows_->report(sound); });
      why.code != core::ec::none) {
    told.clear();
    for (const auto& who : sound)
      told.push_back({who, 0, false, why, {}});
  }
  for (auto& row : told) {
    if (row.failure.code == core::ec::none)
      row.failure = broken;
    report.rows.push_back(std::move(row));
  }
  report.took = now() - begin + report.opening;
  if (!stopping_)
    events_.ran(std::move(report));
}

void device_thread::handle(const decode_job& job) {
  const auto begin = now();
  pause(begin + pace_.decode);
  decode_report report;
  auto why = guarded([&] { report = rows_->decode(job.who); });
  if (why.code != core::ec::none) {
    report = {};
    report.who = job.who;
    report.failure = std::move(why);
  }
  report.took = now() - begin;
  if (!stopping_)
    events_.decoded(std::move(report));
}

void device_thread::handle(const close_job& job) {
  const auto why = guarded([&] { rows_->close(job.who); });
  if (why.code != core::ec::none)
    core::log_error("closing request {}: {}", job.who.id.value, why.text);
  opening_.erase(job.who);
  unopened_.erase(job.who);
}

} // namespace atelier::gpu::detail
