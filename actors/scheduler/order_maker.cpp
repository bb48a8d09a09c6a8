// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/order_maker.hpp>
#include <atelier/planning/walk.hpp>

#include <array>
#include <span>
#include <utility>

namespace atelier::actors {

order_maker::order_maker(parts& of, routing& routes)
  : config_(of.config),
    path_(of.path),
    slots_(of.slots),
    records_(of.records),
    shares_(of.shares),
    routing_(routes) {}

std::optional<work> order_maker::make(core::ticket who, row& r,
                                      const worker& w) {
  return r.course.phase() == phase::denoising ? to_denoise(who, r, w)
                                              : of_stage(who, r, w);
}

std::optional<work> order_maker::of_stage(core::ticket who, const row& r,
                                          const worker& w) {
  using planning::held;
  const auto& stage = path_.at(r.course.stage());
  const auto uses = stage.row().slots;
  const bool brings = r.request->source != nullptr;
  const auto* const leg = r.course.running_leg();
  std::array<held, planning::held_names> names{};
  size_t granted = 0;
  for (const auto& x : uses)
    if (x.mode != planning::access::reads && x.name != held::capture
        && x.applies(leg, brings))
      names[granted++] = x.name;
  const auto wanted = std::span(names).first(granted);
  const auto life = w.address.process;
  const auto left = shares_.needs_of(r).leaves;
  const auto* const given =
    r.course.stage_slots().reads_files
      ? slots_.grant_with_files(who, life, wanted, *r.request->source, left)
      : slots_.grant(who, life, wanted, left);
  if (given == nullptr)
    return std::nullopt;
  for (const auto& x : uses)
    if (x.mode != planning::access::writes && x.applies(leg, brings))
      if (const auto slot = r.held[x.name])
        slots_.read(who, life, x.name, slot);
  std::optional<work> made{std::in_place, std::in_place_type<run_stage>};
  auto& order = std::get<run_stage>(*made);
  order.ticket = who;
  order.stage = static_cast<uint16_t>(r.course.stage());
  order.reads = given->reading;
  order.writes = given->granted;
  order.is_short = stage.is_short(r.course.order());
  order.px = r.course.px(r.held);
  order.order = r.course.order();
  return made;
}

std::optional<work> order_maker::to_denoise(core::ticket who, row& r,
                                            const worker& w) {
  using planning::held;
  const auto* given = slots_.grant(
    who, w.address.process, {held::state, held::pixels}, shares_.left_at(w, r));
  if (given == nullptr)
    return std::nullopt;
  slots_.drawing_begins();
  settle_start(r, w);
  const auto source = r.held[held::source];
  slots_.read(who, w.address.process, held::state, r.held[held::state]);
  if (source)
    slots_.read(who, w.address.process, held::source, source);
  const auto& next = *r.course.running_leg();
  std::optional<work> made{std::in_place, std::in_place_type<denoise>};
  auto& d = std::get<denoise>(*made);
  d.ticket = who;
  d.recipe = r.course.recipe();
  d.text = r.request->text;
  d.from = r.held[held::state];
  d.state = given->granted[held::state];
  d.image = given->granted[held::pixels];
  d.source = source;
  d.steps_done = r.held.steps();
  d.prio = r.request->prio;
  d.deadline_ns = r.request->deadline.time_since_epoch().count();
  d.tenant = r.request->tenant;
  d.share = r.request->share;
  d.wants_progress = r.request->wants_progress;
  d.preview_every = r.request->preview_every;
  if (next.check)
    d.judge = next.check->judge;
  d.captures = captures(who, r, w);
  return made;
}

std::vector<gpu::state_capture> order_maker::captures(core::ticket who, row& r,
                                                      const worker& w) {
  const auto& along = r.course.route();
  const auto& next = *r.course.running_leg();
  // Captures are not needed without a route and a stage that keep them.
  if (next.capture.empty() || !along.store.latents
      || !core::writes(r.request->cache)
      || !path_.is(path_.first(planning::hook::after_answer),
                   planning::hook::after_answer))
    return {};
  std::vector<uint32_t> wanted;
  for (const auto steps : next.capture)
    if (steps > r.held.steps()
        && steps <= core::steps_to_run(r.course.recipe()))
      wanted.push_back(steps);
  return slots_.grant_captures(r.held, who, w.address.process, wanted);
}

void order_maker::settle_start(row& r, const worker& w) {
  const auto has = r.held.steps();
  const bool source = static_cast<bool>(r.held[planning::held::source]);
  if (has <= r.course.saved()) {
    r.course.run_by(r.course.variant_on(w.host.hosting(), has), source);
    const auto skip =
      r.course.saved_by(r.course.recipe().variant, w.host.level(), source);
    // The row keeps the steps that it already has, for example after a death.
    r.course.starts_with(has);
    if (config_.devices_take_found_work && skip != 0
        && r.course.match() != nullptr) {
      slots::begin_with(r.held, skip);
      r.course.starts_with(skip);
    }
  }
  if (r.course.leg() != 0)
    return;
  const auto saved = r.course.saved();
  if (saved > 0 && r.course.route().legs.front().level_of_worker
      && r.account.note_hit())
    records_.hit(saved);
  routing_.note_reuse(r);
}

} // namespace atelier::actors
