// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/ipc/slot_store.hpp>
#include <atelier/ipc/slot_table.hpp>

#include <memory>

namespace atelier::ipc {

/// Keeps slots on the heap of one process, for tests and simulation.
class heap_store : public slot_store {
public:
  /// @param arena the arena that references into this store carry
  /// @param counts number of slots by kind
  /// @param slot_bytes bytes of one buffer by kind. With 0, the kind's slots
  /// record publications and keep no bytes, so that a simulation may hold
  /// thousands of them.
  heap_store(uint32_t arena, std::array<uint32_t, slot_kinds> counts,
             std::array<uint64_t, slot_kinds> slot_bytes = {});

  size_t capacity(slot_kind kind) const override;
  void open(const slot_ref& slot) override;
  core::result<std::span<std::byte>> buffer(const slot_ref& slot) override;
  core::result<void> publish(const slot_ref& slot, uint64_t seq,
                             size_t bytes) override;
  core::result<uint64_t> published(const slot_ref& slot) const override;
  core::result<uint64_t> read(const slot_ref& slot,
                              std::vector<std::byte>& into) const override;
  core::result<std::span<const std::byte>> view(
    const slot_ref& slot) const override;

private:
  struct alignas(cache_line) line {
    std::byte bytes[cache_line];
  };

  std::array<std::unique_ptr<slot_header[]>, slot_kinds> headers_;
  std::array<std::vector<line>, slot_kinds> buffers_;
  slot_table slots_;
};

} // namespace atelier::ipc
