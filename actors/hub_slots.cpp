// SPDX-License-Identifier: Apache-2.0

// Which slots a dispatch is given, and which must stay free.

#include <atelier/actors/hub.hpp>
#include <atelier/actors/slot_needs.hpp>
#include <atelier/actors/source_files.hpp>
#include <atelier/core/log.hpp>

#include <utility>

namespace atelier::actors {

namespace {

constexpr ipc::process_life control_life{};

} // namespace

bool hub::grant(core::ticket who, const worker& w,
                std::initializer_list<ipc::slot_kind> kinds,
                std::array<uint32_t, ipc::slot_kinds> reserve,
                dispatched& into) {
  auto slots = keeper_.grant(who, w.where.where,
                             std::span(kinds.begin(), kinds.size()), reserve);
  if (!slots)
    return false;
  for (const auto& slot : *slots)
    ports_.slots->open(slot);
  into.granted = std::move(*slots);
  return true;
}

std::array<uint32_t, ipc::slot_kinds> hub::left_for_others(
  const row& r, bool has_some) const {
  if (r.what->tenant == core::tenant_id{} || r.stage > 0 || !has_some)
    return {};
  // What is prepared can go on: it leaves less.
  const uint32_t parts = r.at == phase::preparing ? 2 : 1;
  std::array<uint32_t, ipc::slot_kinds> out{};
  for (size_t kind = 0; kind < out.size(); ++kind)
    out[kind] = parts * (config_.slots[kind] / (2 * share_for_others));
  return out;
}

std::array<uint32_t, ipc::slot_kinds> hub::left_for_next(const row& r) const {
  const auto& along = r.under->routes[r.along.value];
  const bool brings_image = r.what->source != nullptr;
  switch (r.at) {
    case phase::preparing:
      return {state_slots_from(along, r.stage) - 1,
              image_slots_from(along, r.stage, phase::denoising, brings_image),
              0};
    case phase::denoising: {
      const bool last = r.stage + 1 >= along.stages.size();
      return {0,
              image_slots_from(along, r.stage + 1,
                               last ? phase::finishing : phase::preparing,
                               brings_image),
              0};
    }
    case phase::finishing:
      break;
  }
  return {0, 0, 0};
}

bool hub::grant_with_source(core::ticket who, const row& r, const worker& w,
                            dispatched& into) {
  using ipc::slot_kind;
  const auto others = left_for_others(r, ahead_of_.contains(r.what->tenant));
  auto reserve = sum(left_for_next(r), others);
  if (!grant(who, w, {slot_kind::state, slot_kind::image}, reserve, into))
    return false;
  // The control process writes this slot, and is done with it at once. It goes
  // when the files are decoded.
  constexpr std::array kinds{slot_kind::image};
  reserve[static_cast<size_t>(slot_kind::image)] -= 1;
  reserve[static_cast<size_t>(slot_kind::state)] = 0;
  const auto slots = keeper_.grant(who, control_life, kinds, reserve);
  ATELIER_EXPECTS(slots.has_value(), "the grant before left slots for this");
  into.reading = slots->front();
  into.reads_files = true;
  const auto& files = *r.what->source;
  auto& store = *ports_.slots;
  store.open(into.reading);
  const auto write = [&]() -> core::result<void> {
    if (store.capacity(slot_kind::image) == 0)
      return store.publish(into.reading, 1, 0);
    const auto buffer = store.buffer(into.reading);
    if (!buffer)
      return buffer.why();
    if (auto written = write_source_files(*buffer, files); !written)
      return written;
    return store.publish(into.reading, 1, source_files_bytes(files));
  };
  // The worker finds nothing there and says so; the door lets no such through.
  if (auto written = write(); !written)
    core::log_error("the source of request {}: {}", who.id.value,
                    core::to_string(written.why()));
  keeper_.begin_read(into.reading, who, w.where.where);
  keeper_.release(into.reading, who);
  return true;
}

bool hub::grant_for_preparing(core::ticket who, const row& r, const worker& w,
                              dispatched& into) {
  using ipc::slot_kind;
  if (r.what->source)
    return grant_with_source(who, r, w, into);
  const auto left = sum(left_for_next(r),
                        left_for_others(r, ahead_of_.contains(r.what->tenant)));
  if (!r.how.from_image)
    return grant(who, w, {slot_kind::state},
                 {left[static_cast<size_t>(slot_kind::state)], 0, 0}, into);
  if (!grant(who, w, {slot_kind::state, slot_kind::image}, left, into))
    return false;
  into.reading = r.known.done[*r.known.best].image;
  keeper_.begin_read(into.reading, who, w.where.where);
  return true;
}

} // namespace atelier::actors
