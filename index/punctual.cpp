// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/index/detail/breaker.hpp>
#include <atelier/index/detail/call_thread.hpp>
#include <atelier/index/punctual.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace atelier::index {

namespace {

/// The calls of one kind: their thread, and whether they were late.
struct direction {
  direction(const punctual_options& how, core::timespan most)
    : wait(most), late(how.most_late, how.retry), thread(how.grace) {}

  const core::timespan wait;
  /// Guarded by the owner's lock.
  detail::breaker late;
  detail::call_thread thread;
};

} // namespace

struct punctual_work::impl {
  explicit impl(punctual_options options)
    : how(std::move(options)),
      reads(how, how.read_wait),
      writes(how, how.write_wait) {}

  bool lets_through(const direction& x) const {
    const auto now = how.now();
    const std::lock_guard hold{lock};
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
    const auto now = how.now();
    const std::lock_guard hold{lock};
    if (ending != detail::call_thread::ending::late) {
      if (by.late.worked())
        core::log_info("cache: its disk answers in time again ({})", doing);
      return std::move(*out);
    }
    ++failed;
    const bool skipped = by.late.failed(now);
    core::log_warn("cache: its disk did not answer within {} ms ({}){}",
                   core::to_ms(by.wait), doing,
                   skipped ? unable : std::string_view{});
    return std::nullopt;
  }

  /// Lets the writing thread write back what reads changed, if it is worth it.
  void write_back_soon(const std::shared_ptr<kept_work>& kept) {
    if (!kept->has_unwritten() || write_back_waits->exchange(true))
      return;
    const bool queued = writes.thread.post([kept, waits = write_back_waits] {
      *waits = false;
      kept->write_back();
    });
    if (!queued)
      *write_back_waits = false;
  }

  core::result<payload> read(uint64_t entry,
                             std::function<core::result<payload>()> call) {
    if (!lets_through(reads))
      return core::fail(core::ec::io_failed,
                        "entry {}: its disk is left out because it was slow",
                        entry);
    auto got =
      made(reads, "reading", "; nothing is found for a while", std::move(call));
    if (!got)
      return core::fail(core::ec::io_failed,
                        "entry {}: it was not read within {} ms", entry,
                        core::to_ms(reads.wait));
    return std::move(*got);
  }

  const punctual_options how;
  mutable std::mutex lock;
  uint64_t failed = 0;
  /// Searches that found nothing because the disk is left out.
  uint64_t unsearched = 0;
  /// At most one call waits to write back. The call owns it.
  const std::shared_ptr<std::atomic<bool>> write_back_waits =
    std::make_shared<std::atomic<bool>>(false);
  direction reads;
  direction writes;
};

punctual_work::punctual_work(std::shared_ptr<kept_work> on_disk,
                             punctual_options how)
  : forwarding_work(std::move(on_disk)),
    impl_(std::make_unique<impl>(std::move(how))) {}

punctual_work::~punctual_work() {
  // Closing writes, too. A call that has not ended owns the kept work, which is
  // then closed after it.
  auto last = std::make_shared<std::shared_ptr<kept_work>>(let_go());
  impl_->writes.thread.run([last] { last->reset(); }, impl_->how.grace);
}

std::vector<planning::match> punctual_work::near(std::string_view key,
                                                 std::string_view text,
                                                 const search_terms& by) {
  if (impl_->lets_through(impl_->reads))
    return to()->near(key, text, by);
  const std::lock_guard hold{impl_->lock};
  ++impl_->unsearched;
  return {};
}

core::result<payload> punctual_work::state(uint64_t entry, uint32_t steps) {
  auto out = impl_->read(
    entry, [kept = to(), entry, steps] { return kept->state(entry, steps); });
  impl_->write_back_soon(to());
  return out;
}

core::result<payload> punctual_work::image(uint64_t entry, core::extent px,
                                           uint32_t skips) {
  auto out = impl_->read(entry, [kept = to(), entry, px, skips] {
    return kept->image(entry, px, skips);
  });
  impl_->write_back_soon(to());
  return out;
}

void punctual_work::drop_torn(uint64_t entry) {
  to()->drop_torn(entry);
  impl_->write_back_soon(to());
}

bool punctual_work::keep(std::string_view key, std::string_view text,
                         leftover what) {
  if (!impl_->lets_through(impl_->writes) || !prepare(what))
    return false;
  // A call may be copied.
  auto left = std::make_shared<leftover>(std::move(what));
  const auto kept = impl_->made(
    impl_->writes, "writing", "; nothing is kept for a while",
    [to = to(), key = std::string{key}, text = std::string{text},
     left = std::move(left)] { return to->keep(key, text, std::move(*left)); });
  return kept.value_or(false);
}

kept_counts punctual_work::counts() const {
  auto out = to()->counts();
  const auto now = impl_->how.now();
  const std::lock_guard hold{impl_->lock};
  out.misses += impl_->unsearched;
  out.failed += impl_->failed + impl_->reads.thread.failed()
              + impl_->writes.thread.failed();
  out.reads_left_out |= !impl_->reads.late.lets_through(now);
  out.writes_left_out |= !impl_->writes.late.lets_through(now);
  return out;
}

core::result<std::vector<kept_entry>> punctual_work::list(
  const entry_page& which) {
  constexpr core::timespan most = std::chrono::seconds{10};
  auto out =
    std::make_shared<std::optional<core::result<std::vector<kept_entry>>>>();
  const auto ending = impl_->writes.thread.run(
    [out, kept = to(), which] { *out = kept->list(which); }, most);
  if (ending == detail::call_thread::ending::failed)
    return core::fail(core::ec::io_failed, "the cache cannot be listed now");
  if (ending == detail::call_thread::ending::late)
    return core::fail(core::ec::io_failed,
                      "the cache's disk did not answer within {} s",
                      core::to_seconds(most));
  return std::move(**out);
}

} // namespace atelier::index
