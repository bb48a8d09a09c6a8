// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/index/detail/call_thread.hpp>
#include <atelier/index/queued.hpp>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

namespace atelier::index {

namespace {

/// The leftovers that wait or are being kept. The thread's calls own it.
struct pending_work {
  std::mutex lock;
  std::condition_variable changed;
  size_t count = 0;
  /// Leftovers that were not kept because too many waited, or memory ran out.
  uint64_t failed = 0;
};

} // namespace

struct queued_work::impl {
  impl(std::shared_ptr<kept_work> work, queued_options options)
    : kept(std::move(work)), how(options), thread(options.grace) {}

  const std::shared_ptr<kept_work> kept;
  const queued_options how;
  const std::shared_ptr<pending_work> pending =
    std::make_shared<pending_work>();
  detail::call_thread thread;
};

queued_work::queued_work(std::shared_ptr<kept_work> kept, queued_options how)
  : impl_(std::make_unique<impl>(std::move(kept), how)) {}

queued_work::~queued_work() {
  auto& pending = *impl_->pending;
  std::unique_lock hold{pending.lock};
  if (!pending.changed.wait_for(hold, impl_->how.grace,
                                [&] { return pending.count == 0; }))
    core::log_warn("cache: {} results were not kept in time before the end",
                   pending.count);
}

planning::compared queued_work::compares() const {
  return impl_->kept->compares();
}

std::vector<planning::match> queued_work::near(std::string_view key,
                                               std::string_view text,
                                               size_t most) {
  return impl_->kept->near(key, text, most);
}

core::result<payload> queued_work::state(uint64_t entry, uint32_t steps) {
  return impl_->kept->state(entry, steps);
}

core::result<payload> queued_work::image(uint64_t entry, core::extent px,
                                         uint32_t skips) {
  return impl_->kept->image(entry, px, skips);
}

void queued_work::drop_torn(uint64_t entry) {
  impl_->kept->drop_torn(entry);
}

bool queued_work::prepare(leftover& what) {
  return impl_->kept->prepare(what);
}

bool queued_work::keep(std::string_view key, std::string_view text,
                       leftover what) {
  const auto pending = impl_->pending;
  {
    const std::lock_guard hold{pending->lock};
    if (pending->count >= impl_->how.most) {
      ++pending->failed;
      return false;
    }
    ++pending->count;
  }
  // A call may be copied.
  auto left = std::make_shared<leftover>(std::move(what));
  const bool queued =
    impl_->thread.post([to = impl_->kept, pending, key = std::string{key},
                        text = std::string{text}, left = std::move(left)] {
      bool threw = true;
      try {
        to->keep(key, text, std::move(*left));
        threw = false;
      } catch (const std::exception& x) {
        core::log_warn("cache: a result was not kept: {}", x.what());
      }
      const std::lock_guard hold{pending->lock};
      pending->failed += threw ? 1 : 0;
      --pending->count;
      pending->changed.notify_all();
    });
  ATELIER_EXPECTS(queued, "a thread queues more calls than may wait here");
  return true;
}

kept_counts queued_work::counts() const {
  auto out = impl_->kept->counts();
  const std::lock_guard hold{impl_->pending->lock};
  out.failed += impl_->pending->failed;
  out.pending = impl_->pending->count;
  return out;
}

std::vector<float> queued_work::vector_of(std::string_view key,
                                          std::string_view text) {
  return impl_->kept->vector_of(key, text);
}

std::optional<space_extent> queued_work::extent(std::string_view space) const {
  return impl_->kept->extent(space);
}

std::vector<float> queued_work::vectors(std::string_view space,
                                        size_t most) const {
  return impl_->kept->vectors(space, most);
}

core::result<std::vector<kept_entry>> queued_work::list(
  const entry_page& which) {
  return impl_->kept->list(which);
}

} // namespace atelier::index
