// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>
#include <atelier/ipc/ring.hpp>
#include <atelier/ipc/slot_ref.hpp>
#include <atelier/ipc/slot_store.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace atelier::ipc {

class shared_memory;

/// The sizes of an arena, which never change.
struct arena_sizes {
  /// Number of slots by kind, indexed by slot_kind.
  std::array<uint32_t, slot_kinds> slots = {};
  /// Payload bytes of one buffer by kind; multiples of 64.
  std::array<uint64_t, slot_kinds> slot_bytes = {};
  /// Number of processes, including the control process.
  uint32_t processes = 1;
  /// Bytes of each direction of each pair of rings; a power of two.
  uint64_t ring_bytes = 1ull << 20;

  friend bool operator==(const arena_sizes&, const arena_sizes&) = default;
};

/// The descriptor by which a child inherits its arena.
inline constexpr int inherited_arena = 3;

/// Maps an arena: slots and rings. It is the base class of owner
/// and view.
///
/// A pair of rings joins the control process with each other process. Process i
/// reads its `inbound` ring, which control writes, and writes its `outbound`
/// ring.
class arena : public slot_store {
public:
  ~arena() override;

  const arena_sizes& sizes() const;
  core::epoch host_epoch() const;
  /// Returns the epoch as slot references carry it.
  uint32_t id() const;

  /// Returns the rings of a process.
  /// Errors: ec::invalid_argument for the control process or an unknown one.
  core::result<ring_pair> rings(core::process_id process);

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

protected:
  struct impl;
  explicit arena(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

/// Makes an arena.
class arena_owner : public arena {
public:
  /// Makes an arena that children inherit by its descriptor. It ends with the
  /// last process that holds it. It has an epoch of its own in this process.
  /// Errors: ec::bad_config (sizes), ec::out_of_resources (memory: the pages
  ///         are reserved at once, so that no later write can fail),
  ///         ec::io_failed.
  static core::result<std::unique_ptr<arena_owner>> make_shared_memory(
    const arena_sizes& sizes);

  /// Makes an arena in private memory, for a single process.
  static core::result<std::unique_ptr<arena_owner>> make_private(
    const arena_sizes& sizes);

  /// Clears both rings of a process for its next life, and returns them. Also
  /// writes the arena's header anew, which another process may have damaged.
  /// @pre the exit of the life before is confirmed
  /// Errors: as of `rings`.
  core::result<ring_pair> begin_life(core::process_id process);

  /// Returns the descriptor that a child inherits as `inherited_arena`; -1 for
  /// a private arena.
  int descriptor() const;

  ~arena_owner() override;

private:
  explicit arena_owner(std::unique_ptr<impl> x);

  static core::result<std::unique_ptr<arena_owner>> make(
    const arena_sizes& sizes, core::epoch epoch,
    core::result<shared_memory> (*memory_of)(uint64_t bytes));
};

/// Maps an arena that this process inherited.
class arena_view : public arena {
public:
  /// Maps the arena behind a descriptor, which it closes.
  /// Errors: ec::incompatible (no arena, layout version, build id, size),
  ///         ec::io_failed.
  static core::result<std::unique_ptr<arena_view>> adopt(int descriptor);

private:
  explicit arena_view(std::unique_ptr<impl> x);
};

} // namespace atelier::ipc
