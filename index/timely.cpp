// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/index/detail/breaker.hpp>
#include <atelier/index/detail/call_thread.hpp>
#include <atelier/index/timely.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

namespace atelier::index {

namespace {

using kept_ptr = std::shared_ptr<kept_work>;

/// The calls of one kind: their thread, and whether they were late.
struct direction {
  direction(const disk_pace& how, core::timespan most)
    : wait(most), late(how.most_late, how.retry), thread(how.grace) {}

  const core::timespan wait;
  /// Guarded by the owner's lock.
  detail::breaker late;
  detail::call_thread thread;
};

} // namespace

/// The threads of a disk. Calls that keep own it.
class timely_work::slow_disk {
public:
  explicit slow_disk(disk_pace pace)
    : how_(std::move(pace)),
      reads_(how_, how_.read_wait),
      writes_(how_, how_.write_wait) {}

  core::result<payload> read(uint64_t entry,
                             std::function<core::result<payload>()> call) {
    if (!lets_through(reads_))
      return core::fail(core::ec::io_failed,
                        "entry {}: its disk is left out because it was slow",
                        entry);
    auto got = made(reads_, "reading", "; nothing is found for a while",
                    std::move(call));
    if (!got)
      return core::fail(core::ec::io_failed,
                        "entry {}: it was not read within {} ms", entry,
                        core::to_ms(reads_.wait));
    return std::move(*got);
  }

  bool keep(const kept_ptr& to, const std::string& key, const std::string& text,
            const std::shared_ptr<leftover>& what) {
    if (!lets_through(writes_) || !to->prepare(*what))
      return false;
    return made(writes_, "writing", "; nothing is kept for a while",
                [to, key, text, what] {
                  return to->keep(key, text, std::move(*what));
                })
      .value_or(false);
  }

  /// Returns whether searches may find something, and counts one that may not.
  bool lets_search() {
    if (lets_through(reads_))
      return true;
    const std::lock_guard hold{lock_};
    ++unsearched_;
    return false;
  }

  /// Lets the writing thread write back what reads changed, if it is worth it.
  void write_back_soon(const kept_ptr& kept) {
    if (!kept->has_unwritten() || write_back_waits_->exchange(true))
      return;
    const bool queued = writes_.thread.post([kept, waits = write_back_waits_] {
      *waits = false;
      kept->write_back();
    });
    if (!queued)
      *write_back_waits_ = false;
  }

  core::result<std::vector<kept_entry>> list(const kept_ptr& kept,
                                             const entry_page& which) {
    using page = core::result<std::vector<kept_entry>>;
    constexpr core::timespan most = std::chrono::seconds{10};
    auto out = std::make_shared<std::optional<page>>();
    const auto ending = writes_.thread.run(
      [out, kept, which] { *out = kept->list(which); }, most);
    if (ending == detail::call_thread::ending::failed)
      return core::fail(core::ec::io_failed, "the cache cannot be listed now");
    if (ending == detail::call_thread::ending::late)
      return core::fail(core::ec::io_failed,
                        "the cache's disk did not answer within {} s",
                        core::to_seconds(most));
    return std::move(**out);
  }

  /// Closes the kept work, which writes, too. A call that has not ended owns
  /// it, and closes it later.
  void close(kept_ptr kept) {
    auto last = std::make_shared<kept_ptr>(std::move(kept));
    writes_.thread.run([last] { last->reset(); }, how_.grace);
  }

  void add_counts(kept_counts& to) const {
    const auto now = how_.now();
    const std::lock_guard hold{lock_};
    to.misses += unsearched_;
    to.failed +=
      failed_ + reads_.thread.counts().failed + writes_.thread.counts().failed;
    to.reads_left_out |= !reads_.late.lets_through(now);
    to.writes_left_out |= !writes_.late.lets_through(now);
  }

private:
  bool lets_through(const direction& x) const {
    const auto now = how_.now();
    const std::lock_guard hold{lock_};
    return x.late.lets_through(now);
  }

  /// Makes a call that owns what it uses. Returns nothing if it was late or
  /// threw.
  template <class Call>
  auto made(direction& by, std::string_view doing, std::string_view unable,
            Call call) -> std::optional<decltype(call())> {
    auto out = std::make_shared<std::optional<decltype(call())>>();
    const auto ending = by.thread.run(
      [out, call = std::move(call)]() mutable { *out = call(); }, by.wait);
    const auto now = how_.now();
    const std::lock_guard hold{lock_};
    if (ending != detail::call_thread::ending::late) {
      if (by.late.worked())
        core::log_info("cache: its disk answers in time again ({})", doing);
      return std::move(*out);
    }
    ++failed_;
    const bool skipped = by.late.failed(now);
    core::log_warn("cache: its disk did not answer within {} ms ({}){}",
                   core::to_ms(by.wait), doing,
                   skipped ? unable : std::string_view{});
    return std::nullopt;
  }

  const disk_pace how_;
  mutable std::mutex lock_;
  uint64_t failed_ = 0;
  /// Searches that found nothing because the disk is left out.
  uint64_t unsearched_ = 0;
  /// At most one call waits to write back. The call owns it.
  const std::shared_ptr<std::atomic<bool>> write_back_waits_ =
    std::make_shared<std::atomic<bool>>(false);
  direction reads_;
  direction writes_;
};

timely_work::timely_work(std::shared_ptr<kept_work> kept, queue_bounds queue,
                         std::optional<disk_pace> disk)
  : forwarding_work(std::move(kept)),
    disk_(disk ? std::make_shared<slow_disk>(std::move(*disk)) : nullptr),
    grace_(queue.grace) {
  if (queue.most > 0)
    keeper_ = std::make_unique<detail::call_thread>(queue.grace, queue.most);
}

timely_work::~timely_work() {
  if (keeper_)
    if (const auto left = keeper_->finish(grace_); left > 0)
      core::log_warn("cache: {} results were not kept in time before the end",
                     left);
  keeper_.reset();
  if (disk_)
    disk_->close(let_go());
}

std::vector<planning::match> timely_work::near(std::string_view key,
                                               std::string_view text,
                                               const search_terms& by) {
  if (disk_ && !disk_->lets_search())
    return {};
  return to()->near(key, text, by);
}

core::result<payload> timely_work::state(uint64_t entry, uint32_t steps) {
  if (!disk_)
    return to()->state(entry, steps);
  auto out = disk_->read(
    entry, [kept = to(), entry, steps] { return kept->state(entry, steps); });
  disk_->write_back_soon(to());
  return out;
}

core::result<payload> timely_work::image(uint64_t entry, core::extent px,
                                         uint32_t skips) {
  if (!disk_)
    return to()->image(entry, px, skips);
  auto out = disk_->read(entry, [kept = to(), entry, px, skips] {
    return kept->image(entry, px, skips);
  });
  disk_->write_back_soon(to());
  return out;
}

void timely_work::drop_torn(uint64_t entry) {
  to()->drop_torn(entry);
  if (disk_)
    disk_->write_back_soon(to());
}

bool timely_work::keep(std::string_view key, std::string_view text,
                       leftover what) {
  // A call may be copied.
  auto left = std::make_shared<leftover>(std::move(what));
  auto call = [disk = disk_, to = to(), key = std::string{key},
               text = std::string{text}, left = std::move(left)] {
    return disk ? disk->keep(to, key, text, left)
                : to->keep(key, text, std::move(*left));
  };
  return keeper_ ? keeper_->post(std::move(call)) : call();
}

kept_counts timely_work::counts() const {
  auto out = to()->counts();
  if (disk_)
    disk_->add_counts(out);
  if (keeper_) {
    const auto of_keeper = keeper_->counts();
    out.failed += of_keeper.failed;
    out.overflowed += of_keeper.refused;
    out.pending = of_keeper.pending;
  }
  return out;
}

core::result<std::vector<kept_entry>> timely_work::list(
  const entry_page& which) {
  return disk_ ? disk_->list(to(), which) : to()->list(which);
}

} // namespace atelier::index
