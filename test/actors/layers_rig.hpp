// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/parts_rig.hpp"
#include <atelier/actors/scheduler/asides.hpp>
#include <atelier/actors/scheduler/dispatcher.hpp>
#include <atelier/actors/scheduler/endings.hpp>
#include <atelier/actors/scheduler/lifecycle.hpp>
#include <atelier/actors/scheduler/losses.hpp>
#include <atelier/actors/scheduler/order_maker.hpp>
#include <atelier/actors/scheduler/placement.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>
#include <atelier/actors/scheduler/replies.hpp>
#include <atelier/actors/scheduler/routing.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::test {

/// Variants of card_profile.
inline constexpr core::variant_id card_4{0};
inline constexpr core::variant_id card_2{1};

/// The parts of a scheduler with all its layers. A test brings the parts into a
/// state by their own verbs, calls one function of a layer, and looks at the
/// parts and at what left.
class layers_rig : public parts_rig {
public:
  layers_rig() : layers_rig(options{}) {}

  explicit layers_rig(const options& o)
    : parts_rig(o),
      routing(of),
      asides(of, out),
      endings(of, out, waiting, asides),
      lifecycle(of, waiting, routing, asides, endings),
      placement(of, out, waiting, lifecycle),
      maker(of, routing),
      dispatcher(of, out, waiting, lifecycle, placement, maker),
      losses(of, out, waiting, lifecycle, placement),
      replies(of, out, waiting, lifecycle, endings, placement, losses) {}

  // -- rows -------------------------------------------------------------------

  /// Gives a row the image that a device drew in its leg, which is over.
  /// @param score the judge's
  void draw(actors::row& r, double score = 0) {
    using planning::held;
    const auto who = ticket_of_next(r);
    of.requests.count_aside(r);
    BOOST_REQUIRE(of.slots.grant(who, life(99), {held::state, held::pixels}, {})
                  != nullptr);
    if (const auto state = r.held[held::state])
      of.slots.read(who, life(99), held::state, state);
    publish(of.slots.of(who).granted[held::pixels]);
    of.slots.end_leg(r.held, of.slots.conclude(who), true);
    r.course.end_leg(core::ec::none, score);
  }

  /// Accepts a row that has its image and waits to be encoded.
  actors::row& waits_to_finish() {
    auto& r = accept();
    route(r);
    draw(r);
    r.course.finish();
    enter(r, "finish");
    wait(r);
    return r;
  }

  /// Makes a row hold a state for later requests.
  void capture(actors::row& r) {
    using planning::held;
    const auto who = ticket_of_next(r);
    of.requests.count_aside(r);
    BOOST_REQUIRE(of.slots.grant(who, life(99), {held::state}, {}) != nullptr);
    const uint32_t wanted[] = {1};
    const auto given = of.slots.grant_captures(r.held, who, life(99), wanted);
    BOOST_REQUIRE_EQUAL(given.size(), 1u);
    publish(given.front().into);
    of.slots.resume(r.held, of.slots.conclude(who), 99, false);
  }

  /// Makes a row know earlier work with states after one, two and four steps.
  static void find_match(actors::row& r) {
    planning::facts found;
    planning::match x;
    x.entry = 7;
    x.similarity = 0.9;
    x.stored = {1, 2, 4};
    found.near = {x};
    r.course.learn(std::move(found));
  }

  /// The request of a row is cancelled.
  void cancel(actors::row& r) {
    endings.fail(id_of(r), r, actors::row_state::cancelled,
                 core::fail(core::ec::cancelled, "cancelled"), now);
  }

  /// Another request's death delays a row that waits.
  void delay(const actors::row& r) {
    of.suspicions.note_delay(id_of(r));
    of.queues.hold_up(id_of(r));
  }

  // -- slots ------------------------------------------------------------------

  void publish(const ipc::slot_ref& slot, uint64_t seq = 1) {
    BOOST_REQUIRE(store->publish(slot, seq, 0));
  }

  /// Returns new slots of these names, as a stage wrote them for a row. Each is
  /// published as `seq`; 0: not.
  actors::held_slots wrote(actors::row& r,
                           const std::vector<planning::held>& names,
                           uint64_t seq = 1) {
    const auto who = ticket_of_next(r);
    of.requests.count_aside(r);
    BOOST_REQUIRE(of.slots.grant(who, life(99), names, {}) != nullptr);
    for (const auto& slot : of.slots.of(who).granted.slots)
      if (slot && seq > 0)
        publish(slot, seq);
    return of.slots.conclude(who);
  }

  /// Makes a row hold as many slots of that name as leave `most` of their kind
  /// free.
  void leave_free(actors::row& r, planning::held name, uint32_t most) {
    enter(r, "prepare");
    while (of.slots.free(planning::kind_of(name)) > most)
      write(r, {name});
    BOOST_REQUIRE_EQUAL(of.slots.free(planning::kind_of(name)), most);
  }

  // -- workers ----------------------------------------------------------------

  /// A device that offers its free seats.
  template <class F>
  actors::worker& serving(uint32_t process, F adjust) {
    auto& w = device(process, adjust);
    out.offer(w);
    return w;
  }

  actors::worker& serving(uint32_t process) {
    return serving(process, [](actors::worker_ready&) {});
  }

  /// A device that hosts only the second variant and offers its seats.
  actors::worker& lighter(uint32_t process) {
    return serving(process,
                   [](actors::worker_ready& x) { x.variants = {"card@2"}; });
  }

  /// A worker of a pool that offers its free seats.
  actors::worker& serving_pool(actors::role what, uint32_t process = 1,
                               uint32_t seats = 4) {
    auto& w = pool(what, process, seats);
    out.offer(w);
    return w;
  }

  /// Time passes in which the scheduler runs.
  void pass(core::timespan time) {
    const auto until = now + time;
    while (now + 500ms < until) {
      now += 500ms;
      out.running_time(now);
    }
    now = until;
    out.running_time(now);
  }

  // -- what can be seen -------------------------------------------------------

  const actors::counters& counts() const {
    return of.records.counts();
  }

  size_t stage(std::string_view name) const {
    return of.path.stages().find(name).value();
  }

  /// Returns how often a stage was left out.
  uint64_t left_out(std::string_view name) const {
    const auto& all = counts().stages_left_out;
    return stage(name) < all.size() ? all[stage(name)] : 0;
  }

  std::optional<core::queue_id> queue(const actors::row& r) const {
    return of.queues.where(id_of(r));
  }

  /// Takes the queues that must be looked at.
  std::vector<core::queue_id> looked_at() {
    std::vector<core::queue_id> all;
    while (const auto next = of.queues.next())
      all.push_back(*next);
    return all;
  }

  bool offers(const actors::worker& w, core::queue_id to) const {
    return of.queues.offered(to).contains({w.seat.taken(), w.id()});
  }

  const actors::answer& only_answer() {
    BOOST_REQUIRE_EQUAL(answers().size(), 1u);
    return answers().front();
  }

  /// Returns the progress that clients saw.
  std::vector<scheduler_rig::progress>& progress() {
    return clients_->progress;
  }

  /// Returns the suspicions that clients must record.
  std::vector<scheduler_rig::note>& notes() {
    return clients_->notes;
  }

  /// Returns the processes that the supervisor must end, with the reasons.
  std::vector<std::pair<ipc::process_life, std::string>>& suspects() {
    return watch_->suspects;
  }

  /// Returns the processes that requests ended.
  std::vector<ipc::process_life>& blamed() {
    return watch_->blamed;
  }

  actors::routing routing;
  actors::asides asides;
  actors::endings endings;
  actors::lifecycle lifecycle;
  actors::placement placement;
  actors::order_maker maker;
  actors::dispatcher dispatcher;
  actors::losses losses;
  actors::replies replies;
};

} // namespace atelier::test
