// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/ipc/arena.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// The contents of an arena's shared memory, in this order, each starting on its
// own cache line: arena_header, ring_memory and its bytes for each direction of
// each process except the control process, then the slot_headers by kind, then
// the buffers by kind.
//
// The memory has only fixed-width types and offsets: no pointer, no lock, no
// allocator. The peer may have been killed at any instruction, or may write
// nonsense. Code that reads a size here checks it against the sizes that it
// took at the start.

namespace atelier::ipc {

inline constexpr uint32_t layout_version = 3;
/// "atelier\1" on a little-endian machine.
inline constexpr uint64_t arena_magic = 0x0172'6569'6c65'7461ull;
inline constexpr size_t cache_line = 64;

/// Describes the whole object. The owner writes it, `magic` last, and again
/// before each life of a process; it never reads it.
struct alignas(cache_line) arena_header {
  std::atomic<uint64_t> magic;
  uint32_t layout;
  uint32_t epoch;
  uint64_t build;
  uint64_t total_bytes;
  uint64_t slot_bytes[slot_kinds];
  uint64_t ring_bytes;
  uint32_t slots[slot_kinds];
  uint32_t processes;
};

/// One direction of a pair of rings. Its bytes follow it; their number is in
/// no shared word (ring_place).
struct ring_memory {
  /// Bytes ever written; only the writer changes it. A change publishes a
  /// record.
  alignas(cache_line) std::atomic<uint64_t> tail;
  /// Bytes ever read; only the reader changes it. A change makes room.
  alignas(cache_line) std::atomic<uint64_t> head;
  /// Futexes, and whether a process sleeps (or is about to) on each.
  alignas(cache_line) std::atomic<uint32_t> record_bell;
  std::atomic<uint32_t> reader_sleeps;
  /// A record will arrive soon: the reader stays awake for it for a moment.
  std::atomic<uint32_t> roused;
  alignas(cache_line) std::atomic<uint32_t> room_bell;
  std::atomic<uint32_t> writer_sleeps;
};

/// The contents of one buffer of a slot.
struct buffer_record {
  std::atomic<uint64_t> bytes;
  std::atomic<uint64_t> checksum;
};

/// The words of one slot; its buffers are elsewhere.
struct alignas(cache_line) slot_header {
  /// The keeper's owner writes it.
  std::atomic<uint32_t> generation;
  /// The grantee writes it: seq << 1 | buffer for a state slot, seq for the
  /// other kinds; 0 if nothing is published.
  std::atomic<uint64_t> published;
  buffer_record buffer[2];
};

static_assert(std::atomic<uint32_t>::is_always_lock_free
                && std::atomic<uint64_t>::is_always_lock_free,
              "a lock would be held for ever by whoever is killed");
static_assert(sizeof(std::atomic<uint32_t>) == 4
                && sizeof(std::atomic<uint64_t>) == 8,
              "the layout is fixed");
static_assert(
  std::is_standard_layout_v<
    arena_header> && std::is_standard_layout_v<ring_memory> && std::is_standard_layout_v<slot_header>,
  "the layout is fixed");
static_assert(sizeof(arena_header) == 128 && sizeof(ring_memory) == 256
                && sizeof(slot_header) == 64,
              "a change of the layout raises layout_version");

/// Positions in bytes from the start of the object.
struct arena_offsets {
  uint64_t rings = 0;
  /// Distance from one ring to the next.
  uint64_t ring_stride = 0;
  std::array<uint64_t, slot_kinds> headers = {};
  std::array<uint64_t, slot_kinds> buffers = {};
  uint64_t total_bytes = 0;
};

/// Returns how many buffers a slot of `kind` has.
constexpr uint64_t buffers_of(slot_kind kind) {
  return kind == slot_kind::state ? 2 : 1;
}

/// Computes the positions in an arena of `sizes`.
/// Errors: ec::bad_config if a size is outside its range or the sum is above
///         2^46 bytes.
core::result<arena_offsets> lay_out(const arena_sizes& sizes);

/// Returns a hash of the product's version, the compiler and the layout. Two
/// programs can share an arena only if their hashes are equal.
uint64_t build_id();

/// Fills the header except for the magic.
void describe(arena_header& header, const arena_sizes& sizes,
              uint64_t total_bytes, core::epoch epoch);

/// Checks the header of an object of `object_bytes` and returns its sizes.
/// Errors: ec::incompatible.
core::result<arena_sizes> check_header(const arena_header& header,
                                       uint64_t object_bytes);

} // namespace atelier::ipc
