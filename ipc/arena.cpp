// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/layout.hpp>
#include <atelier/ipc/shared_memory.hpp>
#include <atelier/ipc/slot_table.hpp>

#include <atomic>
#include <utility>

namespace atelier::ipc {

namespace {

using core::ec;
using core::fail;

constexpr core::epoch private_epoch{1};

// Numbers the shared arenas of this process.
core::epoch next_epoch() {
  static std::atomic<uint32_t> last{private_epoch.value};
  return core::epoch{++last};
}

} // namespace

struct arena::impl {
  shared_memory memory;
  arena_sizes sizes;
  arena_offsets places;
  core::epoch epoch;
  std::byte* base;
  slot_table slots;

  // Takes sizes that were checked. Later changes of the header are ignored.
  impl(shared_memory mapped, const arena_sizes& checked,
       const arena_offsets& offsets, core::epoch of)
    : memory(std::move(mapped)),
      sizes(checked),
      places(offsets),
      epoch(of),
      base(memory.data()) {
    std::array<slot_block, slot_kinds> blocks;
    for (size_t k = 0; k < slot_kinds; ++k)
      blocks[k] = {reinterpret_cast<slot_header*>(base + places.headers[k]),
                   base + places.buffers[k], sizes.slots[k],
                   sizes.slot_bytes[k]};
    slots = slot_table{epoch.value, blocks};
  }

  core::result<ring_pair> rings(core::process_id process) const {
    if (process.value == 0 || process.value >= sizes.processes)
      return fail(ec::invalid_argument, "process {} outside 1..{}",
                  process.value, sizes.processes - 1);
    auto* first = base + places.rings
                + 2 * uint64_t{process.value - 1} * places.ring_stride;
    const auto place = [this](std::byte* at) {
      return ring_place{reinterpret_cast<ring_memory*>(at), sizes.ring_bytes};
    };
    return ring_pair{place(first), place(first + places.ring_stride)};
  }

  static void clear(ring_memory& x) {
    x.head.store(0);
    x.tail.store(0);
    x.roused.store(0);
    x.reader_sleeps.store(0);
    x.writer_sleeps.store(0);
  }

  // Writes the header, the magic last.
  void write_header() {
    auto& header = *reinterpret_cast<arena_header*>(base);
    describe(header, sizes, places.total_bytes, epoch);
    header.magic.store(arena_magic, std::memory_order_release);
  }
};

arena::arena(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

arena::~arena() = default;

const arena_sizes& arena::sizes() const {
  return impl_->sizes;
}

core::epoch arena::host_epoch() const {
  return impl_->epoch;
}

uint32_t arena::id() const {
  return impl_->epoch.value;
}

core::result<ring_pair> arena::rings(core::process_id process) {
  return impl_->rings(process);
}

size_t arena::capacity(slot_kind kind) const {
  return impl_->slots.capacity(kind);
}

void arena::open(const slot_ref& slot) {
  impl_->slots.open(slot);
}

core::result<std::span<std::byte>> arena::buffer(const slot_ref& slot) {
  return impl_->slots.buffer(slot);
}

core::result<void> arena::publish(const slot_ref& slot, uint64_t seq,
                                  size_t bytes) {
  return impl_->slots.publish(slot, seq, bytes);
}

core::result<uint64_t> arena::published(const slot_ref& slot) const {
  return impl_->slots.published(slot);
}

core::result<uint64_t> arena::read(const slot_ref& slot,
                                   std::vector<std::byte>& into) const {
  return impl_->slots.read(slot, into);
}

core::result<std::span<const std::byte>> arena::view(
  const slot_ref& slot) const {
  return impl_->slots.view(slot);
}

arena_owner::arena_owner(std::unique_ptr<impl> x) : arena(std::move(x)) {}

arena_owner::~arena_owner() = default;

core::result<std::unique_ptr<arena_owner>> arena_owner::make(
  const arena_sizes& sizes, core::epoch epoch,
  core::result<shared_memory> (*memory_of)(uint64_t bytes)) {
  auto offsets = lay_out(sizes);
  if (!offsets)
    return offsets.why();
  auto memory = memory_of(offsets->total_bytes);
  if (!memory)
    return memory.why();
  auto x = std::make_unique<impl>(std::move(*memory), sizes, *offsets, epoch);
  x->write_header();
  return std::unique_ptr<arena_owner>{new arena_owner(std::move(x))};
}

core::result<std::unique_ptr<arena_owner>> arena_owner::make_shared_memory(
  const arena_sizes& sizes) {
  return make(sizes, next_epoch(), shared_memory::make);
}

core::result<std::unique_ptr<arena_owner>> arena_owner::make_private(
  const arena_sizes& sizes) {
  return make(sizes, private_epoch, shared_memory::make_private);
}

core::result<ring_pair> arena_owner::begin_life(core::process_id process) {
  auto rings = impl_->rings(process);
  if (!rings)
    return rings;
  for (const auto& x : {rings->inbound, rings->outbound})
    impl::clear(*x.memory);
  impl_->write_header();
  return rings;
}

int arena_owner::descriptor() const {
  return impl_->memory.descriptor();
}

arena_view::arena_view(std::unique_ptr<impl> x) : arena(std::move(x)) {}

core::result<std::unique_ptr<arena_view>> arena_view::adopt(int descriptor) {
  auto memory = shared_memory::adopt(descriptor);
  if (!memory)
    return memory.why();
  if (memory->bytes() < sizeof(arena_header))
    return fail(ec::incompatible, "{} bytes are not an arena", memory->bytes());
  const auto& header = *reinterpret_cast<const arena_header*>(memory->data());
  auto sizes = check_header(header, memory->bytes());
  if (!sizes)
    return sizes.why();
  auto offsets = lay_out(*sizes);
  if (!offsets)
    return offsets.why();
  const core::epoch epoch{header.epoch};
  auto x = std::make_unique<impl>(std::move(*memory), *sizes, *offsets, epoch);
  return std::unique_ptr<arena_view>{new arena_view(std::move(x))};
}

} // namespace atelier::ipc
