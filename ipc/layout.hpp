// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/ipc/arena.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// What lies in an arena's shared memory, in this order, each on a line of its
// own: arena_header, process_record per process, ring_memory and its bytes for
// each direction of each process but the control process, then by kind the
// slot_headers and the buffers.
//
// Only fixed-width types and offsets: no pointer, no lock, no allocator. The
// peer may have been killed at any instruction, or write nonsense: whoever
// reads a size here checks it against the sizes it took at the start.

namespace atelier::ipc {

inline constexpr uint32_t layout_version = 2;
/// "atelier\1" on a little-endian machine.
inline constexpr uint64_t arena_magic = 0x0172'6569'6c65'7461ull;
inline constexpr size_t cache_line = 64;

/// Describes the whole object. Written once, `magic` last.
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

/// One entry of the process table. `pid` is written last, 0 means nobody.
struct alignas(cache_line) process_record {
  std::atomic<int32_t> pid;
  std::atomic<uint32_t> life;
  std::atomic<uint64_t> start_time;
};

/// One direction of a pair of rings; its bytes follow it.
struct ring_memory {
  /// Bytes ever written, by the writer alone. Moving it publishes a record.
  alignas(cache_line) std::atomic<uint64_t> tail;
  /// Bytes ever read, by the reader alone. Moving it makes room.
  alignas(cache_line) std::atomic<uint64_t> head;
  /// Futexes, and whether somebody sleeps (or is about to) on each.
  alignas(cache_line) std::atomic<uint32_t> record_bell;
  std::atomic<uint32_t> reader_sleeps;
  std::atomic<uint32_t> interrupted;
  /// A record is about to come: the reader stays awake for it for a moment.
  std::atomic<uint32_t> roused;
  alignas(cache_line) std::atomic<uint32_t> room_bell;
  std::atomic<uint32_t> writer_sleeps;
  /// Bytes that follow; a power of two.
  alignas(cache_line) uint64_t capacity;
};

/// What one buffer of a slot holds.
struct buffer_record {
  std::atomic<uint64_t> bytes;
  std::atomic<uint64_t> checksum;
};

/// The words of one slot; its buffers lie apart.
struct alignas(cache_line) slot_header {
  /// Written by the keeper's owner.
  std::atomic<uint32_t> generation;
  /// Written by the grantee: seq << 1 | buffer for a state slot, seq for the
  /// other kinds; 0 where nothing is published.
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
    arena_header> && std::is_standard_layout_v<process_record> && std::is_standard_layout_v<ring_memory> && std::is_standard_layout_v<slot_header>,
  "the layout is fixed");
static_assert(sizeof(arena_header) == 128 && sizeof(process_record) == 64
                && sizeof(ring_memory) == 320 && sizeof(slot_header) == 64,
              "a change of the layout raises layout_version");

/// Where things lie, in bytes from the start of the object.
struct arena_offsets {
  uint64_t processes = 0;
  uint64_t rings = 0;
  /// From one ring to the next.
  uint64_t ring_stride = 0;
  std::array<uint64_t, slot_kinds> headers = {};
  std::array<uint64_t, slot_kinds> buffers = {};
  uint64_t total_bytes = 0;
};

/// Returns how many buffers a slot of `kind` has.
constexpr uint64_t buffers_of(slot_kind kind) {
  return kind == slot_kind::state ? 2 : 1;
}

/// Computes where things lie in an arena of `sizes`.
/// Errors: ec::bad_config where a size is outside its range or the sum is
///         beyond 2^46 bytes.
core::result<arena_offsets> lay_out(const arena_sizes& sizes);

/// Returns a hash of the product's version, the compiler and the layout: two
/// programs share an arena only if theirs are equal.
uint64_t build_id();

/// Fills the header, all but the magic.
void describe(arena_header& header, const arena_sizes& sizes,
              uint64_t total_bytes, core::epoch epoch);

/// Checks the header of an object of `object_bytes` and returns its sizes.
/// Errors: ec::incompatible.
core::result<arena_sizes> check_header(const arena_header& header,
                                       uint64_t object_bytes);

} // namespace atelier::ipc
