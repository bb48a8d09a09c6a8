// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/index/detail/call_thread.hpp>
#include <atelier/index/queued.hpp>

#include <condition_variable>
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
  /// Leftovers that were not kept because too many waited.
  uint64_t overflowed = 0;
};

/// Counts a leftover that waits, from the taking of a place until it is
/// destroyed.
class pending_place {
public:
  explicit pending_place(std::shared_ptr<pending_work> in)
    : in_(std::move(in)) {}

  ~pending_place() {
    if (!taken_)
      return;
    const std::lock_guard hold{in_->lock};
    --in_->count;
    in_->changed.notify_all();
  }

  pending_place(const pending_place&) = delete;
  pending_place& operator=(const pending_place&) = delete;

  /// Returns false if there are `most` already.
  bool take(size_t most) {
    const std::lock_guard hold{in_->lock};
    taken_ = in_->count < most;
    ++(taken_ ? in_->count : in_->overflowed);
    return taken_;
  }

private:
  std::shared_ptr<pending_work> in_;
  bool taken_ = false;
};

} // namespace

struct queued_work::impl {
  explicit impl(queued_options options) : how(options), thread(options.grace) {}

  const queued_options how;
  const std::shared_ptr<pending_work> pending =
    std::make_shared<pending_work>();
  detail::call_thread thread;
};

queued_work::queued_work(std::shared_ptr<kept_work> kept, queued_options how)
  : forwarding_work(std::move(kept)), impl_(std::make_unique<impl>(how)) {}

queued_work::~queued_work() {
  auto& pending = *impl_->pending;
  std::unique_lock hold{pending.lock};
  if (!pending.changed.wait_for(hold, impl_->how.grace,
                                [&] { return pending.count == 0; }))
    core::log_warn("cache: {} results were not kept in time before the end",
                   pending.count);
}

bool queued_work::keep(std::string_view key, std::string_view text,
                       leftover what) {
  // A call may be copied.
  auto place = std::make_shared<pending_place>(impl_->pending);
  if (!place->take(impl_->how.most))
    return false;
  auto left = std::make_shared<leftover>(std::move(what));
  const bool queued = impl_->thread.post(
    [to = to(), place = std::move(place), key = std::string{key},
     text = std::string{text}, left = std::move(left)]() mutable {
      const auto until_end = std::move(place);
      to->keep(key, text, std::move(*left));
    });
  ATELIER_EXPECTS(queued, "a thread queues more calls than may wait here");
  return true;
}

kept_counts queued_work::counts() const {
  auto out = to()->counts();
  const std::lock_guard hold{impl_->pending->lock};
  out.failed += impl_->thread.failed();
  out.overflowed += impl_->pending->overflowed;
  out.pending = impl_->pending->count;
  return out;
}

} // namespace atelier::index
