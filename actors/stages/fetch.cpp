// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/fetch.hpp>
#include <atelier/actors/stages/kept_state.hpp>
#include <atelier/actors/stages/source_decoding.hpp>
#include <atelier/gpu/source_format.hpp>

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace atelier::actors {

namespace {

using planning::held;
using planning::origin;

bool from_latent(const planning::leg* in, bool) {
  return in != nullptr && in->from == origin::latent;
}

bool from_image(const planning::leg* in, bool) {
  return in != nullptr && in->from == origin::image;
}

// A route without legs answers with an image that was found.
bool is_answer(const planning::leg* in, bool) {
  return in == nullptr;
}

constexpr planning::slot_use fetch_uses[] = {
  {held::state, planning::access::writes, from_latent},
  {held::source, planning::access::writes, from_image},
  {held::pixels, planning::access::writes, is_answer},
};

constexpr planning::stage_row fetch_row = {
  .name = "fetch",
  .place = planning::place::background,
  .hook = planning::hook::each_leg,
  .slots = fetch_uses,
  .otherwise = planning::if_failed::choose_again,
};

core::result<void> check_image(const std::vector<std::byte>& bytes,
                               core::extent px) {
  if (bytes.size() != gpu::drawn_bytes(px))
    return core::fail(core::ec::bad_payload,
                      "a kept image of {}x{} pixels has {} bytes, not {}",
                      px.width, px.height, bytes.size(), gpu::drawn_bytes(px));
  return {};
}

/// Copies kept bytes into the slot's buffer; returns their number.
core::result<uint64_t> copy(const std::vector<std::byte>& bytes,
                            std::span<std::byte> buffer) {
  if (bytes.size() > buffer.size())
    return core::fail(core::ec::out_of_resources,
                      "{} kept bytes do not fit their slot of {} bytes",
                      bytes.size(), buffer.size());
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return bytes.size();
}

} // namespace

fetch_stage::fetch_stage(std::shared_ptr<index::kept_work> kept)
  : kept_(std::move(kept)) {}

const planning::stage_row& fetch_stage::row() const {
  return fetch_row;
}

std::optional<fetch_stage::work> fetch_stage::begin(
  const planning::row_view& of) const {
  if (of.from == nullptr || of.route == nullptr || of.recipe == nullptr)
    return std::nullopt;
  work order;
  order.entry = of.from->entry;
  switch (of.leg != nullptr ? of.leg->from : of.route->from) {
    case origin::latent:
      // After a death the row may be further along than the kept state.
      if (of.skip == 0 || of.holds[static_cast<size_t>(held::state)])
        return std::nullopt;
      order.slot = held::state;
      order.steps = of.skip;
      order.latent = planning::latent_of(
        of.costs.variants[of.recipe->variant.value], of.recipe->px);
      return order;
    case origin::image: {
      order.slot = of.leg != nullptr ? held::source : held::pixels;
      if (of.holds[static_cast<size_t>(order.slot)])
        return std::nullopt;
      // The found image was drawn as the whole run of this request would be,
      // and not by a smaller variant that refines it.
      const auto drawn =
        of.costs.reuse
          ? planning::recipe_of(of.wanted, {}, of.costs.reuse->full, of.costs)
          : *of.recipe;
      order.px = drawn.px;
      order.steps = of.leg != nullptr ? of.skip : of.recipe->steps;
      if (of.leg == nullptr)
        return order;
      order.scaled_to = drawn.scaled_to;
      order.into_px = of.recipe->px;
      order.answered = core::answered_px(*of.recipe);
      return order;
    }
    default:
      return std::nullopt;
  }
}

core::timespan fetch_stage::takes(const work&,
                                  const planning::profile& costs) const {
  return costs.prepare;
}

core::result<fetch_stage::done> fetch_stage::run(
  const work& order, planning::worker_context& here) const {
  const bool state = order.slot == held::state;
  const auto bytes = state ? kept_->state(order.entry, order.steps)
                           : kept_->image(order.entry, order.px, order.steps);
  if (!bytes)
    return bytes.why();
  const auto sound = state ? check_state(**bytes, order.latent, order.steps)
                           : check_image(**bytes, order.px);
  if (!sound) {
    kept_->drop_torn(order.entry);
    return sound.why();
  }
  const auto& into = here.writes[order.slot];
  const auto buffer = here.slots.buffer(into);
  if (!buffer)
    return buffer.why();
  const auto written = order.slot == held::source
                       ? write_drawn_source({order.px, order.scaled_to,
                                             order.into_px, order.answered},
                                            **bytes, {}, *buffer)
                       : copy(**bytes, *buffer);
  if (!written)
    return written.why();
  const auto told =
    here.slots.publish(into, state ? uint64_t{order.steps} + 1 : 1, *written);
  if (!told)
    return told.why();
  return done{};
}

core::result<void> fetch_stage::end(const done&, planning::facts&) const {
  return {};
}

} // namespace atelier::actors
