// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/layout.hpp>

#include <bit>
#include <string_view>

#ifndef ATELIER_VERSION
#  define ATELIER_VERSION "unknown"
#endif

namespace atelier::ipc {

namespace {

using core::ec;
using core::fail;

constexpr uint64_t most_bytes = 1ull << 46;
constexpr uint32_t most_processes = 1u << 16;
constexpr uint32_t most_slots = 1u << 24;
constexpr uint64_t least_ring_bytes = 256;
constexpr uint64_t most_ring_bytes = 1ull << 32;

constexpr uint64_t fnv1a(uint64_t hash, std::string_view text) {
  for (auto c : text)
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100'0000'01b3ull;
  return hash;
}

constexpr uint64_t fnv1a(uint64_t hash, uint64_t x) {
  for (int i = 0; i < 8; ++i, x >>= 8)
    hash = (hash ^ (x & 0xFF)) * 0x100'0000'01b3ull;
  return hash;
}

constexpr uint64_t this_build = [] {
  auto hash = fnv1a(0xcbf2'9ce4'8422'2325ull, ATELIER_VERSION);
  hash = fnv1a(hash, __VERSION__);
  for (uint64_t x :
       {uint64_t{layout_version}, sizeof(arena_header), sizeof(ring_memory),
        sizeof(slot_header), offsetof(slot_header, published),
        offsetof(slot_header, buffer), offsetof(ring_memory, head),
        offsetof(ring_memory, record_bell), offsetof(ring_memory, room_bell),
        sizeof(void*), uint64_t{std::endian::native == std::endian::little}})
    hash = fnv1a(hash, x);
  return hash;
}();

core::result<void> check_ranges(const arena_sizes& x) {
  if (x.processes < 1 || x.processes > most_processes)
    return fail(ec::bad_config, "processes {} outside 1..{}", x.processes,
                most_processes);
  if (!std::has_single_bit(x.ring_bytes) || x.ring_bytes < least_ring_bytes
      || x.ring_bytes > most_ring_bytes)
    return fail(ec::bad_config, "ring_bytes {} is not a power of two in {}..{}",
                x.ring_bytes, least_ring_bytes, most_ring_bytes);
  for (size_t k = 0; k < slot_kinds; ++k) {
    auto name = to_string(static_cast<slot_kind>(k));
    if (x.slots[k] > most_slots)
      return fail(ec::bad_config, "{} slots {} outside 0..{}", name, x.slots[k],
                  most_slots);
    if (x.slot_bytes[k] % cache_line != 0 || x.slot_bytes[k] > most_bytes)
      return fail(ec::bad_config,
                  "{} slot_bytes {} is not a multiple of {} in 0..{}", name,
                  x.slot_bytes[k], cache_line, most_bytes);
    if (x.slots[k] > 0 && x.slot_bytes[k] == 0)
      return fail(ec::bad_config, "{} slot_bytes 0 with {} slots", name,
                  x.slots[k]);
  }
  return {};
}

} // namespace

core::result<arena_offsets> lay_out(const arena_sizes& sizes) {
  if (auto ok = check_ranges(sizes); !ok)
    return ok.why();
  arena_offsets at;
  // The ranges keep every product below 2^72 and every sum below 2^74.
  unsigned __int128 end = sizeof(arena_header);
  auto put = [&end](uint64_t count, uint64_t bytes) {
    auto begin = static_cast<uint64_t>(end);
    end += static_cast<unsigned __int128>(count) * bytes;
    return begin;
  };
  at.ring_stride = sizeof(ring_memory) + sizes.ring_bytes;
  at.rings = put(2 * (uint64_t{sizes.processes} - 1), at.ring_stride);
  for (size_t k = 0; k < slot_kinds; ++k)
    at.headers[k] = put(sizes.slots[k], sizeof(slot_header));
  for (size_t k = 0; k < slot_kinds; ++k)
    at.buffers[k] = put(buffers_of(static_cast<slot_kind>(k)) * sizes.slots[k],
                        sizes.slot_bytes[k]);
  if (end > most_bytes)
    return fail(ec::bad_config,
                "the arena's sizes add up to more than {} bytes", most_bytes);
  at.total_bytes = static_cast<uint64_t>(end);
  return at;
}

uint64_t build_id() {
  return this_build;
}

void describe(arena_header& header, const arena_sizes& sizes,
              uint64_t total_bytes, core::epoch epoch) {
  header.layout = layout_version;
  header.epoch = epoch.value;
  header.build = this_build;
  header.total_bytes = total_bytes;
  for (size_t k = 0; k < slot_kinds; ++k) {
    header.slots[k] = sizes.slots[k];
    header.slot_bytes[k] = sizes.slot_bytes[k];
  }
  header.ring_bytes = sizes.ring_bytes;
  header.processes = sizes.processes;
}

core::result<arena_sizes> check_header(const arena_header& header,
                                       uint64_t object_bytes) {
  if (header.magic.load(std::memory_order_acquire) != arena_magic)
    return fail(ec::incompatible, "the object is not a finished arena");
  if (header.layout != layout_version)
    return fail(ec::incompatible, "the arena has layout {}, this program {}",
                header.layout, layout_version);
  if (header.build != this_build)
    return fail(ec::incompatible,
                "the arena is of build {:016x}, this program "
                "of {:016x}",
                header.build, this_build);
  arena_sizes sizes;
  for (size_t k = 0; k < slot_kinds; ++k) {
    sizes.slots[k] = header.slots[k];
    sizes.slot_bytes[k] = header.slot_bytes[k];
  }
  sizes.ring_bytes = header.ring_bytes;
  sizes.processes = header.processes;
  auto at = lay_out(sizes);
  if (!at)
    return fail(ec::incompatible, "the arena's header: {}", at.why().text);
  if (at->total_bytes != header.total_bytes || at->total_bytes != object_bytes)
    return fail(ec::incompatible,
                "the arena needs {} bytes, says {} and has {}", at->total_bytes,
                header.total_bytes, object_bytes);
  return sizes;
}

} // namespace atelier::ipc
