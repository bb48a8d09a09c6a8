// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/test_card_executor.hpp>

#include <utility>

namespace atelier::gpu {

namespace {

// How long a roused thread looks for its job.
constexpr core::timespan roused_time = std::chrono::microseconds{200};

// The live side of the seam: the device's own thread reads the real clock.
core::time_point now() {
  return core::time_point::clock::now();
}

} // namespace

test_card_executor::test_card_executor(test_card_config config,
                                       std::shared_ptr<ipc::slot_store> slots)
  : config_(std::move(config)),
    rows_(config_.known, std::move(slots)),
    thread_([this] { work(); }) {
  std::this_thread::sleep_for(config_.load);
}

test_card_executor::~test_card_executor() {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  wake_.notify_one();
}

void test_card_executor::connect(executor_events events) {
  const std::lock_guard guard{mutex_};
  events_ = std::move(events);
}

void test_card_executor::rouse() {
  {
    const std::lock_guard guard{mutex_};
    if (!asleep_)
      return;
    roused_ = true;
  }
  wake_.notify_one();
}

void test_card_executor::open(const open_job& job) {
  submit(job);
}

void test_card_executor::run(const run_job& job) {
  submit(numbered_run{job, ++runs_});
}

void test_card_executor::interrupt() {
  interrupted_ = runs_;
}

void test_card_executor::decode(core::ticket who) {
  submit(decode_job{who});
}

void test_card_executor::close(core::ticket who) {
  submit(close_job{who});
}

void test_card_executor::submit(any_job job) {
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

void test_card_executor::wait_for_job(std::unique_lock<std::mutex>& lock) {
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

void test_card_executor::work() {
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

void test_card_executor::pause(core::time_point until) {
  if (until <= now())
    return;
  std::unique_lock lock{mutex_};
  wake_.wait_until(lock, until, [this] { return stopping_.load(); });
}

void test_card_executor::handle(const open_job& job) {
  const auto begin = now();
  rows_.open(job);
  opening_[job.who] = now() - begin;
}

void test_card_executor::handle(const numbered_run& x) {
  const auto begin = now();
  run_report report;
  for (const auto& who : x.job.rows)
    if (const auto spent = opening_.extract(who))
      report.opening += spent.mapped();
  while (!stopping_ && interrupted_ != x.number) {
    const auto rows = rows_.sound(x.job.rows);
    if (detail::common_steps(rows, x.job.steps - report.steps) == 0)
      break;
    const auto step_begin = now();
    if (report.steps == 0)
      report.first_step = step_begin;
    pause(step_begin + config_.step);
    for (auto* row : rows)
      row->advance(1);
    ++report.steps;
  }
  report.rows = rows_.report(x.job.rows);
  report.took = now() - begin + report.opening;
  if (!stopping_)
    events_.ran(std::move(report));
}

void test_card_executor::handle(const decode_job& job) {
  const auto begin = now();
  pause(begin + config_.decode);
  auto report = rows_.decode(job.who);
  report.took = now() - begin;
  if (!stopping_)
    events_.decoded(std::move(report));
}

void test_card_executor::handle(const close_job& job) {
  rows_.close(job.who);
  opening_.erase(job.who);
}

} // namespace atelier::gpu
