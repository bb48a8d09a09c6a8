// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/layout.hpp>
#include <atelier/ipc/segment.hpp>
#include <atelier/ipc/slot_table.hpp>
#include <atelier/ipc/stale_segments.hpp>

#include <unistd.h>

#include <optional>
#include <utility>

namespace atelier::ipc {

namespace {

using core::ec;
using core::fail;

enum class direction : uint32_t { inbound, outbound };

} // namespace

struct arena::impl {
  std::optional<segment_owner> owned;
  std::optional<segment_view> viewed;
  std::string name;
  arena_sizes sizes;
  arena_offsets places;
  core::epoch epoch;
  std::byte* base = nullptr;
  slot_table slots;

  // Takes sizes that were checked. Later changes of the header are ignored.
  void settle(const arena_sizes& checked, const arena_offsets& offsets,
              core::epoch of, std::byte* memory) {
    sizes = checked;
    places = offsets;
    epoch = of;
    base = memory;
    std::array<slot_block, slot_kinds> blocks;
    for (size_t k = 0; k < slot_kinds; ++k)
      blocks[k] = {reinterpret_cast<slot_header*>(base + places.headers[k]),
                   base + places.buffers[k], sizes.slots[k],
                   sizes.slot_bytes[k]};
    slots = slot_table{epoch.value, blocks};
  }

  ring_memory* ring(core::process_id process, direction way) const {
    if (process.value == 0 || process.value >= sizes.processes)
      return nullptr;
    auto index = 2 * uint64_t{process.value - 1} + static_cast<uint32_t>(way);
    return reinterpret_cast<ring_memory*>(base + places.rings
                                          + index * places.ring_stride);
  }

  ring_memory* sound_ring(core::process_id process, direction way) const {
    auto* x = ring(process, way);
    return x != nullptr && x->capacity == sizes.ring_bytes ? x : nullptr;
  }

  process_record* record(core::process_id process) const {
    if (process.value >= sizes.processes)
      return nullptr;
    return reinterpret_cast<process_record*>(base + places.processes)
         + process.value;
  }

  void clear(ring_memory& x) const {
    x.capacity = sizes.ring_bytes;
    x.head.store(0);
    x.tail.store(0);
    x.interrupted.store(0);
    x.roused.store(0);
    x.reader_sleeps.store(0);
    x.writer_sleeps.store(0);
  }

  // Writes the header of new memory, the magic last.
  void found(const arena_sizes& wanted, const arena_offsets& offsets,
             core::epoch of) {
    name = owned->name();
    settle(wanted, offsets, of, owned->data());
    for (uint32_t p = 1; p < sizes.processes; ++p)
      for (auto way : {direction::inbound, direction::outbound})
        clear(*ring(core::process_id{p}, way));
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

const std::string& arena::name() const {
  return impl_->name;
}

ring_memory* arena::inbound(core::process_id process) {
  return impl_->sound_ring(process, direction::inbound);
}

ring_memory* arena::outbound(core::process_id process) {
  return impl_->sound_ring(process, direction::outbound);
}

process_entry arena::process(core::process_id process) const {
  const auto* record = impl_->record(process);
  if (record == nullptr)
    return {};
  process_entry x;
  x.pid = record->pid.load(std::memory_order_acquire);
  x.start_time = record->start_time.load(std::memory_order_relaxed);
  x.life = core::incarnation{record->life.load(std::memory_order_relaxed)};
  return x;
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

core::result<std::unique_ptr<arena_owner>> arena_owner::make_shared_memory(
  const arena_sizes& sizes, core::timespan patience) {
  auto offsets = lay_out(sizes);
  if (!offsets)
    return offsets.why();
  // Stale objects are removed before memory is reserved, because they may hold
  // it.
  auto swept = sweep_stale_segments(patience);
  if (!swept)
    return swept.why();
  auto segment = segment_owner::make_shared_memory(offsets->total_bytes);
  if (!segment)
    return segment.why();
  auto x = std::make_unique<impl>();
  x->owned.emplace(std::move(*segment));
  // Epoch 0 is never used, even after 2^32 epochs.
  auto next = swept->highest.value + 1;
  x->found(sizes, *offsets, core::epoch{next == 0 ? 1 : next});
  std::unique_ptr<arena_owner> made{new arena_owner(std::move(x))};
  made->set_process({},
                    {getpid(), start_time_of(getpid()), core::incarnation{1}});
  return made;
}

core::result<std::unique_ptr<arena_owner>> arena_owner::make_private(
  const arena_sizes& sizes) {
  auto offsets = lay_out(sizes);
  if (!offsets)
    return offsets.why();
  auto segment = segment_owner::make_private(offsets->total_bytes);
  if (!segment)
    return segment.why();
  auto x = std::make_unique<impl>();
  x->owned.emplace(std::move(*segment));
  x->found(sizes, *offsets, core::epoch{1});
  return std::unique_ptr<arena_owner>{new arena_owner(std::move(x))};
}

void arena_owner::begin_life(core::process_id process, core::incarnation life) {
  auto* record = impl_->record(process);
  ATELIER_EXPECTS(record != nullptr, "no such process");
  if (record == nullptr)
    return;
  record->pid.store(0);
  record->start_time.store(0);
  record->life.store(life.value);
  for (auto way : {direction::inbound, direction::outbound})
    if (auto* x = impl_->ring(process, way))
      impl_->clear(*x);
}

void arena_owner::set_process(core::process_id process,
                              const process_entry& entry) {
  auto* record = impl_->record(process);
  ATELIER_EXPECTS(record != nullptr, "no such process");
  if (record == nullptr)
    return;
  // This order lets a successor read a whole entry or none.
  record->pid.store(0);
  record->start_time.store(entry.start_time);
  record->life.store(entry.life.value);
  record->pid.store(entry.pid, std::memory_order_release);
}

arena_view::arena_view(std::unique_ptr<impl> x) : arena(std::move(x)) {}

core::result<std::unique_ptr<arena_view>> arena_view::open_shared_memory(
  const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos)
    return fail(ec::not_found, "'{}' names no arena", name);
  auto segment = segment_view::open(name);
  if (!segment)
    return segment.why();
  if (segment->bytes() < sizeof(arena_header))
    return fail(ec::incompatible, "{}: {} bytes are not an arena", name,
                segment->bytes());
  const auto& header = *reinterpret_cast<const arena_header*>(segment->data());
  auto sizes = check_header(header, segment->bytes());
  if (!sizes)
    return fail(sizes.why().code, "{}: {}", name, sizes.why().text);
  auto offsets = lay_out(*sizes);
  if (!offsets)
    return offsets.why();
  auto x = std::make_unique<impl>();
  x->name = name;
  auto* base = segment->data();
  auto epoch = core::epoch{header.epoch};
  x->viewed.emplace(std::move(*segment));
  x->settle(*sizes, *offsets, epoch, base);
  return std::unique_ptr<arena_view>{new arena_view(std::move(x))};
}

core::result<std::vector<std::string>> remove_stale(core::timespan patience) {
  auto swept = sweep_stale_segments(patience);
  if (!swept)
    return swept.why();
  return std::move(swept->removed);
}

} // namespace atelier::ipc
