// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/heap_store.hpp>

namespace atelier::ipc {

heap_store::heap_store(uint32_t arena, std::array<uint32_t, slot_kinds> counts,
                       std::array<uint64_t, slot_kinds> slot_bytes) {
  std::array<slot_block, slot_kinds> blocks;
  for (size_t k = 0; k < slot_kinds; ++k) {
    auto lines = (slot_bytes[k] + cache_line - 1) / cache_line;
    auto buffers = counts[k] * buffers_of(static_cast<slot_kind>(k));
    headers_[k] = std::make_unique<slot_header[]>(counts[k]);
    buffers_[k].resize(lines * buffers);
    blocks[k].headers = headers_[k].get();
    blocks[k].buffers = reinterpret_cast<std::byte*>(buffers_[k].data());
    blocks[k].count = counts[k];
    blocks[k].bytes = lines * cache_line;
  }
  slots_ = slot_table{arena, blocks};
}

size_t heap_store::capacity(slot_kind kind) const {
  return slots_.capacity(kind);
}

void heap_store::open(const slot_ref& slot) {
  slots_.open(slot);
}

core::result<std::span<std::byte>> heap_store::buffer(const slot_ref& slot) {
  return slots_.buffer(slot);
}

core::result<void> heap_store::publish(const slot_ref& slot, uint64_t seq,
                                       size_t bytes) {
  return slots_.publish(slot, seq, bytes);
}

core::result<uint64_t> heap_store::published(const slot_ref& slot) const {
  return slots_.published(slot);
}

core::result<uint64_t> heap_store::read(const slot_ref& slot,
                                        std::vector<std::byte>& into) const {
  return slots_.read(slot, into);
}

core::result<std::span<const std::byte>> heap_store::view(
  const slot_ref& slot) const {
  return slots_.view(slot);
}

} // namespace atelier::ipc
