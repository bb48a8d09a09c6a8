// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/loading_device.hpp>

#include <iterator>
#include <utility>

#ifdef __GLIBC__
#  include <malloc.h>
#endif

namespace atelier::gpu::detail {

namespace {

// Returns freed memory to the system, as the C library would keep it.
void return_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

} // namespace

loading_device::loading_device(std::shared_ptr<executor> runs, shelf models,
                               std::vector<core::variant_id> there,
                               std::vector<load_failure> failed)
  : models_(std::move(models)),
    there_(std::move(there)),
    failed_(std::move(failed)),
    runs_(std::move(runs)),
    loader_([this](const std::stop_token& stop) { work(stop); }) {}

loading_device::~loading_device() = default;

void loading_device::connect(executor_events events) {
  {
    const std::lock_guard guard{mutex_};
    loaded_ = events.loaded;
  }
  runs_->connect(std::move(events));
}

void loading_device::rouse() {
  runs_->rouse();
}

void loading_device::open(const open_job& job) {
  runs_->open(job);
}

void loading_device::run(const run_job& job) {
  runs_->run(job);
}

void loading_device::interrupt() {
  runs_->interrupt();
}

void loading_device::decode(core::ticket who) {
  runs_->decode(who);
}

void loading_device::call(std::function<void()> work) {
  runs_->call(std::move(work));
}

void loading_device::close(core::ticket who) {
  runs_->close(who);
}

void loading_device::forget(const std::vector<core::variant_id>& variants) {
  auto out = models_.take_out(variants);
  {
    const std::lock_guard guard{mutex_};
    std::move(out.begin(), out.end(), std::back_inserter(gone_));
  }
  wake_.notify_one();
}

bool loading_device::loads_beside() const {
  return true;
}

std::vector<core::variant_id> loading_device::resident() const {
  return there_;
}

std::vector<load_failure> loading_device::failed_at_start() const {
  return failed_;
}

bool loading_device::load(const std::vector<core::variant_id>& variants,
                          const std::vector<core::variant_id>& keep) {
  {
    const std::lock_guard guard{mutex_};
    if (next_ && loaded_)
      loaded_({core::fail(core::ec::cancelled, "others are to be loaded")});
    next_ = order{variants, keep};
  }
  wake_.notify_one();
  return false;
}

void loading_device::work(const std::stop_token& stop) {
  for (;;) {
    std::optional<order> now;
    std::function<void(load_report)> told;
    std::vector<std::shared_ptr<const void>> gone;
    {
      std::unique_lock lock{mutex_};
      if (!wake_.wait(lock, stop, [this] { return next_ || !gone_.empty(); }))
        return;
      gone = std::exchange(gone_, {});
      now = std::exchange(next_, std::nullopt);
      told = loaded_;
    }
    if (!gone.empty()) {
      gone.clear();
      return_memory();
    }
    if (!now)
      continue;
    auto report = models_.has(now->variants)
                  ? load_report{}
                  : models_.bring(now->variants, now->keep);
    if (!stop.stop_requested() && told)
      told(std::move(report));
  }
}

} // namespace atelier::gpu::detail
