// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>
#include <atelier/ipc/slot_ref.hpp>

#include <boost/container/small_vector.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace atelier::ipc {

/// The state of a slot.
///
/// FREE --grant--> GRANTED --release or confirmed exit--> HELD
/// GRANTED --suspected--> QUARANTINED --confirmed exit--> HELD
/// HELD --no reader left, and superseded or its request ended--> FREE
enum class slot_state : uint8_t { free, granted, quarantined, held };

/// The numbers of slots of one kind by state.
struct slot_census {
  uint32_t free = 0;
  uint32_t granted = 0;
  uint32_t quarantined = 0;
  uint32_t held = 0;

  friend bool operator==(const slot_census&, const slot_census&) = default;
};

/// Identifies one life of a process.
struct process_life {
  core::process_id process;
  core::incarnation life;

  friend constexpr auto operator<=>(const process_life&,
                                    const process_life&) = default;
};

/// The slots of one grant, one for each requested kind. No stage of Atelier's
/// takes more than fit into it without an allocation.
using granted_slots = boost::container::small_vector<slot_ref, 4>;

/// The only allocator of a host's slots. It is a pure state machine, without a
/// clock, and has no memory but its own.
///
/// Invariants:
/// (1) a slot has at most one writer, from its grant to its release or to the
///     confirmed exit of the writer's process;
/// (2) a generation is never reused: it rises at each grant, and skips 0 when
///     it wraps;
/// (3) a quarantined slot is neither written again nor freed before the
///     confirmed exit of its writer's process;
/// (4) a slot with a reader is not freed;
/// (5) nothing is granted to a life that was suspected or is dead, so that no
///     call that crosses a death can lose a slot.
/// Threads: one owner.
class keeper {
public:
  /// @param arena the epoch, which every reference carries
  /// @param first_generation the generation before each slot's first grant
  keeper(uint32_t arena, std::array<uint32_t, slot_kinds> counts,
         uint32_t first_generation = 0);

  /// Grants one slot for each of `kinds` to `writer`, or none if one is
  /// missing. `reserve[kind]` slots of each kind must stay free afterwards,
  /// including kinds that are not requested. If `kinds` is empty, none must.
  /// Grants none to a life that was suspected or is dead.
  std::optional<granted_slots> grant(
    core::ticket writer, process_life in, std::span<const slot_kind> kinds,
    const std::array<uint32_t, slot_kinds>& reserve = {});

  /// Lets `reader` read a granted, quarantined or held slot until `end_read` or
  /// the confirmed exit of its process. Another call for the same reader
  /// changes nothing. Returns false for a stale reference, or a life that was
  /// suspected or is dead.
  bool begin_read(const slot_ref& slot, core::ticket reader, process_life in);

  /// Ends all reads of the slot by that ticket. Ignores unknown readers.
  void end_read(const slot_ref& slot, core::ticket reader);

  /// Ends the writer's use of the slot, which is held for the request from now
  /// on. A quarantined slot stays quarantined. Returns false if `writer` is not
  /// the slot's writer or the reference is stale.
  bool release(const slot_ref& slot, core::ticket writer);

  /// Marks a slot whose successor was published or whose bytes are no longer
  /// needed. The slot is freed once it is held and unread.
  void supersede(const slot_ref& slot);

  /// Ends a request. All its slots are freed once they are held and unread.
  void end_request(core::request_id request);

  /// Quarantines the granted slots of a process that may be dead.
  void suspect(process_life who);

  /// Makes the slots of a dead process held, and removes its readers.
  void confirm_exit(process_life who);

  std::optional<slot_state> state_of(const slot_ref& slot) const;
  const slot_census& census(slot_kind kind) const;
  uint32_t count(slot_kind kind) const;

  /// Returns a broken invariant; empty if all hold. For tests.
  std::string check() const;

private:
  struct reader {
    core::ticket ticket;
    process_life in;

    friend bool operator==(const reader&, const reader&) = default;
  };

  struct entry {
    slot_state state = slot_state::free;
    uint32_t generation = 0;
    core::ticket writer;
    process_life in;
    bool superseded = false;
    std::vector<reader> readers;
    /// The slots of the same request before and after it in a list.
    uint32_t previous = no_place;
    uint32_t next = no_place;
  };

  /// Stands for no slot. Places number the slots of all kinds.
  static constexpr uint32_t no_place = std::numeric_limits<uint32_t>::max();

  uint32_t place_of(slot_kind kind, uint32_t index) const;
  slot_kind kind_at(uint32_t place) const;
  entry& entry_at(uint32_t place);
  const entry& entry_at(uint32_t place) const;
  void link(uint32_t place, entry& x);
  void unlink(const entry& x);
  entry* find(const slot_ref& slot);
  const entry* find(const slot_ref& slot) const;
  void move(slot_kind kind, entry& x, slot_state to);
  void free_if_done(slot_kind kind, uint32_t index);
  void doom(process_life who);
  bool doomed(process_life who) const;

  uint32_t arena_;
  std::array<std::vector<entry>, slot_kinds> slots_;
  /// The number of a kind's first slot among those of all kinds.
  std::array<uint32_t, slot_kinds> first_place_;
  /// The first of each request's slots: a request that ends would otherwise
  /// look at every slot of the arena.
  std::unordered_map<core::request_id, uint32_t> of_request_;
  /// The slots of the request that ends; kept for its memory.
  std::vector<uint32_t> ending_;
  std::array<std::vector<uint32_t>, slot_kinds> free_;
  std::array<slot_census, slot_kinds> census_;
  /// The last life of each process that was suspected or is dead.
  std::vector<std::optional<core::incarnation>> doomed_;
};

} // namespace atelier::ipc
