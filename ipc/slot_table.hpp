// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/ipc/layout.hpp>
#include <atelier/ipc/slot_ref.hpp>

#include <array>
#include <span>
#include <vector>

namespace atelier::ipc {

/// The memory of the slots of one kind.
struct slot_block {
  slot_header* headers = nullptr;
  std::byte* buffers = nullptr;
  uint32_t count = 0;
  /// Bytes of one buffer. With 0, the slots record publications and no payload.
  uint64_t bytes = 0;
};

/// Reads and publishes slots in memory that other processes read and write
/// meanwhile. The functions are those of slot_store. The table does not own the
/// memory.
class slot_table {
public:
  slot_table() = default;
  slot_table(uint32_t arena, std::array<slot_block, slot_kinds> blocks);

  size_t capacity(slot_kind kind) const;
  void open(const slot_ref& slot);
  core::result<std::span<std::byte>> buffer(const slot_ref& slot);
  core::result<void> publish(const slot_ref& slot, uint64_t seq, size_t bytes);
  core::result<uint64_t> published(const slot_ref& slot) const;
  core::result<uint64_t> read(const slot_ref& slot,
                              std::vector<std::byte>& into) const;
  core::result<std::span<const std::byte>> view(const slot_ref& slot) const;

private:
  slot_header* header_of(const slot_ref& slot) const;
  core::result<slot_header*> find(const slot_ref& slot) const;
  std::span<std::byte> buffer_at(const slot_ref& slot, uint64_t index) const;

  uint32_t arena_ = 0;
  std::array<slot_block, slot_kinds> blocks_;
};

} // namespace atelier::ipc
