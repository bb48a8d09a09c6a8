// SPDX-License-Identifier: Apache-2.0
// The writer fills the buffer that is not published, then stores `published`. A
// reader that sees one byte of the publication after next sees, after its
// fence, that `published` has changed, and drops its copy.
#include <atelier/ipc/checksum.hpp>
#include <atelier/ipc/slot_table.hpp>

#include <cstring>

#if defined(__SANITIZE_THREAD__) && defined(__GNUC__)
// The fences order copies that the sanitizer does not check.
#  pragma GCC diagnostic ignored "-Wtsan"
#endif

namespace atelier::ipc {

namespace {

using core::ec;
using core::fail;

constexpr size_t index_of(slot_kind kind) {
  return static_cast<size_t>(kind);
}

// The parts of `published`.
struct publication {
  uint64_t seq = 0;
  uint64_t buffer = 0;
};

constexpr publication unpack(slot_kind kind, uint64_t word) {
  if (kind == slot_kind::state)
    return {word >> 1, word & 1};
  return {word, 0};
}

constexpr uint64_t pack(slot_kind kind, publication x) {
  return kind == slot_kind::state ? x.seq << 1 | x.buffer : x.seq;
}

constexpr uint64_t most_seq = UINT64_MAX >> 1;

// Copies bytes that their writer may be overwriting. The caller drops a copy
// that raced.
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread"))) void copy_racing(std::byte* to,
                                                        const std::byte* from,
                                                        size_t bytes) {
  const volatile std::byte* source = from;
  for (size_t i = 0; i < bytes; ++i)
    to[i] = source[i];
}
#else
void copy_racing(std::byte* to, const std::byte* from, size_t bytes) {
  if (bytes > 0)
    std::memcpy(to, from, bytes);
}
#endif

} // namespace

slot_table::slot_table(uint32_t arena,
                       std::array<slot_block, slot_kinds> blocks)
  : arena_(arena), blocks_(blocks) {}

size_t slot_table::capacity(slot_kind kind) const {
  return index_of(kind) < slot_kinds ? blocks_[index_of(kind)].bytes : 0;
}

void slot_table::open(const slot_ref& slot) {
  auto* header = header_of(slot);
  ATELIER_EXPECTS(header != nullptr, "only granted slots are opened");
  if (header == nullptr)
    return;
  header->published.store(0, std::memory_order_release);
  header->generation.store(slot.generation, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);
}

core::result<std::span<std::byte>> slot_table::buffer(const slot_ref& slot) {
  auto header = find(slot);
  if (!header)
    return header.why();
  auto word = (*header)->published.load(std::memory_order_relaxed);
  if (slot.kind == slot_kind::state)
    return buffer_at(slot, 1 - unpack(slot.kind, word).buffer);
  if (word != 0)
    return fail(ec::incompatible, "{} slot {} was written already",
                to_string(slot.kind), slot.slot);
  return buffer_at(slot, 0);
}

core::result<void> slot_table::publish(const slot_ref& slot, uint64_t seq,
                                       size_t bytes) {
  auto header = find(slot);
  if (!header)
    return header.why();
  auto& x = **header;
  auto last = unpack(slot.kind, x.published.load(std::memory_order_relaxed));
  auto most = slot.kind == slot_kind::state ? most_seq : 1;
  if (seq <= last.seq || seq > most)
    return fail(ec::incompatible, "seq {} outside {}..{} for {} slot {}", seq,
                last.seq + 1, most, to_string(slot.kind), slot.slot);
  auto room = capacity(slot.kind);
  if (room == 0)
    bytes = 0;
  if (bytes > room)
    return fail(ec::invalid_argument, "{} bytes in a {} slot of {}", bytes,
                to_string(slot.kind), room);
  publication next{seq, slot.kind == slot_kind::state ? 1 - last.buffer : 0};
  auto& record = x.buffer[next.buffer];
  // A slot that is written once needs no checksum: its bytes are not
  // overwritten while they are read, and its only publication is after its last
  // byte.
  auto sum = slot.kind == slot_kind::state
             ? xxh3(buffer_at(slot, next.buffer).first(bytes))
             : 0;
  record.bytes.store(bytes, std::memory_order_relaxed);
  record.checksum.store(sum, std::memory_order_relaxed);
  x.published.store(pack(slot.kind, next), std::memory_order_release);
  // No later write is seen before the store above.
  std::atomic_thread_fence(std::memory_order_release);
  return {};
}

core::result<uint64_t> slot_table::published(const slot_ref& slot) const {
  auto header = find(slot);
  if (!header)
    return header.why();
  auto word = (*header)->published.load(std::memory_order_acquire);
  return unpack(slot.kind, word).seq;
}

core::result<uint64_t> slot_table::read(const slot_ref& slot,
                                        std::vector<std::byte>& into) const {
  constexpr int attempts = 8;
  for (int i = 0; i < attempts; ++i) {
    auto header = find(slot);
    if (!header)
      return header.why();
    const auto& x = **header;
    auto word = x.published.load(std::memory_order_acquire);
    if (word == 0)
      return fail(ec::not_found, "nothing is published in {} slot {}",
                  to_string(slot.kind), slot.slot);
    auto what = unpack(slot.kind, word);
    const auto& record = x.buffer[what.buffer];
    auto bytes = record.bytes.load(std::memory_order_relaxed);
    auto sum = record.checksum.load(std::memory_order_relaxed);
    if (bytes > capacity(slot.kind))
      continue;
    into.resize(bytes);
    copy_racing(into.data(), buffer_at(slot, what.buffer).data(), bytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (x.published.load(std::memory_order_relaxed) == word
        && x.generation.load(std::memory_order_relaxed) == slot.generation
        && (slot.kind != slot_kind::state || xxh3(into) == sum))
      return what.seq;
  }
  return fail(ec::io_failed, "{} slot {} is torn after {} attempts",
              to_string(slot.kind), slot.slot, attempts);
}

core::result<std::span<const std::byte>> slot_table::view(
  const slot_ref& slot) const {
  auto header = find(slot);
  if (!header)
    return header.why();
  if (slot.kind == slot_kind::state)
    return fail(ec::invalid_argument, "state slot {} is written more than once",
                slot.slot);
  const auto& x = **header;
  if (x.published.load(std::memory_order_acquire) == 0)
    return fail(ec::not_found, "nothing is published in {} slot {}",
                to_string(slot.kind), slot.slot);
  auto bytes = x.buffer[0].bytes.load(std::memory_order_relaxed);
  auto whole = buffer_at(slot, 0);
  if (bytes > whole.size())
    return fail(ec::io_failed, "{} slot {} claims {} bytes of {}",
                to_string(slot.kind), slot.slot, bytes, whole.size());
  return std::span<const std::byte>{whole.first(bytes)};
}

slot_header* slot_table::header_of(const slot_ref& slot) const {
  auto k = index_of(slot.kind);
  if (slot.arena != arena_ || k >= slot_kinds || slot.slot >= blocks_[k].count)
    return nullptr;
  return blocks_[k].headers + slot.slot;
}

core::result<slot_header*> slot_table::find(const slot_ref& slot) const {
  auto* header = header_of(slot);
  if (header == nullptr || !slot
      || header->generation.load(std::memory_order_acquire) != slot.generation)
    return fail(ec::incompatible,
                "a stale reference: {} slot {} of generation {} in arena {}",
                to_string(slot.kind), slot.slot, slot.generation, slot.arena);
  return header;
}

std::span<std::byte> slot_table::buffer_at(const slot_ref& slot,
                                           uint64_t index) const {
  const auto& block = blocks_[index_of(slot.kind)];
  if (block.bytes == 0)
    return {};
  auto at = (buffers_of(slot.kind) * slot.slot + index) * block.bytes;
  return {block.buffers + at, block.bytes};
}

} // namespace atelier::ipc
