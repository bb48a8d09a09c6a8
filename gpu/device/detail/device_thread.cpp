// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/gpu/device/detail/device_thread.hpp>
#include <atelier/planning/random_judge.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace atelier::gpu::detail {

namespace {

// How long a roused thread waits actively for its job.
constexpr core::timespan roused_time = std::chrono::microseconds{200};

// The parts of the time that simulates a decoding: about as many as a model's
// decoder has.
constexpr int64_t parts_of_pace = 16;

// The device's own thread reads the real clock.
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

void device_thread::call(std::function<void()> work) {
  submit(call_job{std::move(work)});
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
    // Yielding lets the job's sender run on machines with few cores.
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
    if (images_.empty())
      wait_for_job(lock);
    if (stopping_)
      return;
    if (jobs_.empty()) {
      lock.unlock();
      paint();
      continue;
    }
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
  turns_.enter(job.ticket, job.tenant, job.share);
  auto why = guarded([&] {
    if (job.judge != planning::random_judge)
      return rows_->open(job);
    drawn_scores_[job.ticket] = planning::random_score(job.recipe.seed);
    auto unjudged = job;
    unjudged.judge.clear();
    rows_->open(unjudged);
  });
  if (why.code != core::ec::none)
    unopened_[job.ticket] = std::move(why);
  opening_[job.ticket] = now() - begin;
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
  core::timespan aside{0};
  auto broken = guarded([&] {
    for (;;) {
      aside += paint_before_step(sound, x.number);
      if (stopping_ || interrupted_ == x.number
          || rows_->steps_left(sound, x.job.steps - report.steps) == 0)
        break;
      const auto step_begin = now();
      if (report.steps == 0)
        report.first_step = step_begin;
      pause(step_begin + pace_.step);
      rows_->step(sound);
      ++report.steps;
      last_step_ = now() - step_begin;
      turns_.ran(sound, last_step_);
      aside_ = core::timespan{0};
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
  report.ended = now();
  report.took = report.ended - begin - aside + report.opening;
  if (!stopping_)
    events_.ran(std::move(report));
}

void device_thread::handle(const decode_job& job) {
  images_.push_back({job.ticket, pace_.decode});
}

size_t device_thread::first_image() {
  std::vector<core::ticket> waiting;
  for (const image& x : images_)
    waiting.push_back(x.ticket);
  return turns_.first(waiting);
}

size_t device_thread::on_the_way_to(size_t at) {
  if (images_[at].begun)
    return at;
  std::vector<core::ticket> begun;
  std::vector<size_t> places;
  for (size_t i = 0; i < images_.size(); ++i)
    if (images_[i].begun) {
      begun.push_back(images_[i].ticket);
      places.push_back(i);
    }
  if (begun.empty())
    return at;
  // If this throws, the decoding does too, and the error is reported.
  bool may = true;
  guarded([&] { may = rows_->may_begin(images_[at].ticket); });
  return may ? at : places[turns_.first(begun)];
}

void device_thread::paint() {
  paint(on_the_way_to(first_image()));
}

void device_thread::paint(size_t at) {
  const auto begin = now();
  auto& x = images_[at];
  const auto slice =
    std::min(x.owed, pace_.decode / parts_of_pace + core::timespan{1});
  pause(begin + slice);
  x.owed -= slice;
  std::optional<decode_report> done;
  if (x.owed.count() == 0)
    if (auto why = guarded([&] { done = rows_->decode_part(x.ticket); });
        why.code != core::ec::none) {
      done.emplace();
      done->ticket = x.ticket;
      done->failure = std::move(why);
    }
  x.begun = x.owed.count() == 0 && !done;
  const auto end = now();
  last_part_ = end - begin;
  aside_ += last_part_;
  x.spent += last_part_;
  turns_.decoded(x.ticket, last_part_);
  if (!done)
    return;
  done->took = x.spent;
  done->ended = end;
  if (const auto drawn = drawn_scores_.find(x.ticket);
      drawn != drawn_scores_.end() && done->failure.code == core::ec::none)
    done->score = drawn->second;
  images_.erase(images_.begin() + static_cast<std::ptrdiff_t>(at));
  if (!stopping_)
    events_.decoded(std::move(*done));
}

core::timespan device_thread::paint_before_step(
  const std::vector<core::ticket>& rows, uint64_t run) {
  const auto begin = now();
  while (!stopping_ && !images_.empty()
         && (interrupted_ != run || aside_.count() == 0)) {
    const auto at = first_image();
    if (!turns_.may_go(images_[at].ticket, rows, aside_, last_part_,
                       last_step_))
      break;
    paint(on_the_way_to(at));
  }
  return now() - begin;
}

void device_thread::handle(const call_job& job) {
  const auto begin = now();
  const auto why = guarded([&] { job.work(); });
  if (why.code != core::ec::none)
    core::log_error("work of a stage: {}", why.text);
  // Decoding waits like steps do.
  aside_ += now() - begin;
}

void device_thread::handle(const close_job& job) {
  const auto why = guarded([&] { rows_->close(job.ticket); });
  if (why.code != core::ec::none)
    core::log_error("closing request {}: {}", job.ticket.id.value, why.text);
  turns_.leave(job.ticket);
  opening_.erase(job.ticket);
  unopened_.erase(job.ticket);
  drawn_scores_.erase(job.ticket);
  std::erase_if(images_,
                [&](const image& x) { return x.ticket == job.ticket; });
}

} // namespace atelier::gpu::detail
