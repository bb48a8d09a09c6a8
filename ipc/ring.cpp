// SPDX-License-Identifier: Apache-2.0
// A process that is about to sleep says so before it checks a last time. A
// process that changes a counter checks for a sleeper afterwards. Both use
// sequentially consistent order, so that one of the two sees the other. The
// sleeper reads the bell's value before that last check; if the bell rings
// meanwhile, the kernel does not put it to sleep.
#include <atelier/ipc/checksum.hpp>
#include <atelier/ipc/layout.hpp>
#include <atelier/ipc/ring.hpp>

#include <linux/futex.h>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <ctime>

namespace atelier::ipc {

namespace {

using clock = std::chrono::steady_clock;

struct record_header {
  uint32_t length;
  uint32_t crc;
  uint32_t epoch;
  uint32_t life;
};

static_assert(sizeof(record_header) == 16);

constexpr uint64_t granule = 8;

constexpr uint64_t record_bytes(uint64_t payload_bytes) {
  return (sizeof(record_header) + payload_bytes + granule - 1) & ~(granule - 1);
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Sleeps while `*bell` is `seen`, at most `most`. The processes share the word,
// so the futex is not a private one.
void sleep_on(std::atomic<uint32_t>& bell, uint32_t seen, core::timespan most) {
  constexpr core::timespan day = std::chrono::hours{24};
  auto ns = std::min(most, day).count();
  timespec limit = {};
  limit.tv_sec = ns / 1'000'000'000;
  limit.tv_nsec = ns % 1'000'000'000;
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&bell), FUTEX_WAIT, seen,
          &limit, nullptr, 0);
}

void ring_bell(std::atomic<uint32_t>& bell) {
  bell.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&bell), FUTEX_WAKE, INT_MAX,
          nullptr, nullptr, 0);
}

// Sleeps until `there()` holds, at most until `end`. Returns false on time-out.
template <class Predicate>
bool sleep_until(std::atomic<uint32_t>& bell, std::atomic<uint32_t>& sleeps,
                 core::time_point end, Predicate there) {
  for (;;) {
    auto now = clock::now();
    sleeps.store(1, std::memory_order_seq_cst);
    auto seen = bell.load(std::memory_order_seq_cst);
    auto found = there();
    if (!found && now < end)
      sleep_on(bell, seen, end - now);
    sleeps.store(0, std::memory_order_relaxed);
    if (found || now >= end)
      return found;
  }
}

/// How long a roused reader looks for its record: the time of some wake-ups of
/// other threads, one after the other.
constexpr core::timespan roused_time = std::chrono::microseconds{200};

void rouse_reader(ring_memory& ring) {
  if (ring.reader_sleeps.load(std::memory_order_seq_cst) == 0)
    return;
  ring.roused.store(1, std::memory_order_seq_cst);
  ring_bell(ring.record_bell);
}

core::time_point end_of(core::timespan most) {
  return core::after(clock::now(), std::max(most, core::timespan{0}));
}

std::byte* bytes_of(ring_memory* ring) {
  return reinterpret_cast<std::byte*>(ring + 1);
}

uint32_t crc_of(record_header header, std::span<const std::byte> payload) {
  header.crc = 0;
  return crc32c(payload, crc32c(std::as_bytes(std::span{&header, 1})));
}

} // namespace

ring_writer::ring_writer(ring_place ring, ring_life life)
  : ring_(ring.memory), capacity_(ring.capacity), life_(life) {}

core::result<bool> ring_writer::push(std::span<const std::byte> payload) {
  auto pushed = push_quietly(payload);
  if (pushed && *pushed)
    announce();
  return pushed;
}

void ring_writer::announce() {
  if (ring_->reader_sleeps.load(std::memory_order_seq_cst) != 0)
    ring_bell(ring_->record_bell);
}

void ring_writer::rouse() {
  rouse_reader(*ring_);
}

core::result<bool> ring_writer::push_quietly(
  std::span<const std::byte> payload) {
  if (payload.size() > largest())
    return core::fail(core::ec::invalid_argument,
                      "a record of {} bytes; the ring takes at most {}",
                      payload.size(), largest());
  if (!fits(payload.size()))
    return false;
  record_header header = {};
  header.length = static_cast<uint32_t>(payload.size());
  header.epoch = life_.host.value;
  header.life = life_.life.value;
  header.crc = crc_of(header, payload);
  auto tail = ring_->tail.load(std::memory_order_relaxed);
  copy_in(tail, std::as_bytes(std::span{&header, 1}));
  copy_in(tail + sizeof header, payload);
  ring_->tail.store(tail + record_bytes(payload.size()),
                    std::memory_order_seq_cst);
  return true;
}

bool ring_writer::wait_for_room(size_t payload_bytes, core::timespan most) {
  auto there = [&] { return fits(payload_bytes); };
  if (payload_bytes > largest())
    return false;
  if (there())
    return true;
  return sleep_until(ring_->room_bell, ring_->writer_sleeps, end_of(most),
                     there);
}

size_t ring_writer::largest() const {
  return capacity_ - sizeof(record_header);
}

bool ring_writer::fits(size_t payload_bytes) const {
  auto used = ring_->tail.load(std::memory_order_relaxed)
            - ring_->head.load(std::memory_order_seq_cst);
  // A broken head reads as a full ring.
  return used <= capacity_ && record_bytes(payload_bytes) <= capacity_ - used;
}

void ring_writer::copy_in(uint64_t at, std::span<const std::byte> from) {
  if (from.empty())
    return;
  auto begin = at & (capacity_ - 1);
  auto first = std::min<uint64_t>(from.size(), capacity_ - begin);
  std::memcpy(bytes_of(ring_) + begin, from.data(), first);
  std::memcpy(bytes_of(ring_), from.data() + first, from.size() - first);
}

ring_reader::ring_reader(ring_place ring, ring_life life)
  : ring_(ring.memory),
    capacity_(ring.capacity),
    life_(life),
    interrupted_(std::make_unique<std::atomic<bool>>(false)) {}

core::result<bool> ring_reader::pop(std::vector<std::byte>& into,
                                    core::timespan most, core::timespan spin) {
  if (!waiting() && !wait(most, spin))
    return false;
  auto head = ring_->head.load(std::memory_order_relaxed);
  auto used = ring_->tail.load(std::memory_order_acquire) - head;
  if (used > capacity_ || used < sizeof(record_header) || head % granule != 0)
    return core::fail(core::ec::io_failed,
                      "a ring of {} bytes claims to hold {} from {}", capacity_,
                      used, head);
  // The data are copied before they are checked, because the peer could change
  // them.
  record_header header;
  copy_out(head, std::as_writable_bytes(std::span{&header, 1}));
  if (record_bytes(header.length) > used)
    return core::fail(core::ec::io_failed,
                      "a record of {} bytes in a ring that holds {}",
                      header.length, used);
  into.resize(header.length);
  copy_out(head + sizeof header, into);
  if (crc_of(header, into) != header.crc)
    return core::fail(core::ec::io_failed,
                      "a record of {} bytes with a wrong checksum",
                      header.length);
  if (header.epoch != life_.host.value || header.life != life_.life.value)
    return core::fail(core::ec::incompatible,
                      "a record of epoch {}, life {} in a ring of {}, {}",
                      header.epoch, header.life, life_.host.value,
                      life_.life.value);
  ring_->head.store(head + record_bytes(header.length),
                    std::memory_order_seq_cst);
  if (ring_->writer_sleeps.load(std::memory_order_seq_cst) != 0)
    ring_bell(ring_->room_bell);
  return true;
}

void ring_reader::interrupt() {
  interrupted_->store(true, std::memory_order_seq_cst);
  ring_bell(ring_->record_bell);
}

void ring_reader::rouse() {
  rouse_reader(*ring_);
}

bool ring_reader::waiting() const {
  return ring_->tail.load(std::memory_order_seq_cst)
      != ring_->head.load(std::memory_order_relaxed);
}

bool ring_reader::wait(core::timespan most, core::timespan spin) {
  auto interrupted = [this] {
    return interrupted_->load(std::memory_order_seq_cst);
  };
  auto there = [&] { return waiting() || interrupted(); };
  if (spin > core::timespan{0} && most > core::timespan{0}) {
    constexpr int looks = 64;
    auto spin_end = end_of(std::min(spin, most));
    do {
      for (int i = 0; i < looks && !there(); ++i)
        pause();
    } while (!there() && clock::now() < spin_end);
    most -= std::min(spin, most);
  }
  auto roused = [this] {
    return ring_->roused.load(std::memory_order_seq_cst) != 0;
  };
  const auto end = end_of(most);
  while (!there()
         && sleep_until(ring_->record_bell, ring_->reader_sleeps, end,
                        [&] { return there() || roused(); })
         && !there()) {
    ring_->roused.store(0, std::memory_order_relaxed);
    // With few cores, another roused thread runs meanwhile.
    const auto until = std::min(end, end_of(roused_time));
    while (!there() && clock::now() < until)
      sched_yield();
  }
  if (waiting())
    return true;
  // The caller looks next at what the interrupt was for. A plain store could
  // take effect after that look, and end a later interrupt.
  interrupted_->exchange(false, std::memory_order_seq_cst);
  return false;
}

void ring_reader::copy_out(uint64_t at, std::span<std::byte> into) const {
  if (into.empty())
    return;
  auto begin = at & (capacity_ - 1);
  auto first = std::min<uint64_t>(into.size(), capacity_ - begin);
  std::memcpy(into.data(), bytes_of(ring_) + begin, first);
  std::memcpy(into.data() + first, bytes_of(ring_), into.size() - first);
}

} // namespace atelier::ipc
