// SPDX-License-Identifier: Apache-2.0
#pragma once

// The world of the scheduler's random schedules: processes of a few lines each,
// and how they execute the scheduler's orders.

#include "actors/expected_pixels.hpp"
#include "actors/random_process.hpp"
#include "actors/random_stages.hpp"
#include "actors/scheduler_rig.hpp"
#include "actors/watched_slots.hpp"
#include "support/seed.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace atelier::test {

/// Simulates the processes. A derived class passes the scheduler's orders to
/// them, and their reports to the scheduler.
class random_world {
public:
  explicit random_world(uint64_t number)
    : random_(test::seed(), core::purpose::test, core::request_id{number}) {}

protected:
  using ec = core::ec;
  using phase = core::phase;
  using death = actors::death;

  uint32_t pick(uint64_t n) {
    return static_cast<uint32_t>(random_.below(n));
  }

  bool chance(uint32_t percent) {
    return pick(100) < percent;
  }

  /// @param slot_bytes the bytes of an image slot; 0: slots keep none
  void watch(uint64_t slot_bytes) {
    watched_.emplace();
    pixels_.emplace(stages_->all(), rig_->store, slot_bytes);
  }

  // In any event the scheduler may abandon orders.
  template <class F>
  void watched_event(F f) {
    const auto lost = rig_->sut->counts().orders_lost;
    rig_->event(f);
    if (rig_->sut->counts().orders_lost != lost)
      pixels_->waits_no_longer();
  }

  void check_order(const sent_work& x) {
    for (const auto& wrong : {watched_->handed_off(x.to, x.what),
                              pixels_->handed_off(x.to, x.what)})
      BOOST_REQUIRE_MESSAGE(wrong.empty(), wrong);
  }

  // -- lives ------------------------------------------------------------------

  void start(random_process& p) {
    const random_process was = std::exchange(p, {});
    p.index = was.index;
    p.device = was.device;
    p.max_batch = was.max_batch;
    p.publish_every = was.publish_every;
    p.life = was.control() ? 0 : was.life + 1;
    p.alive = true;
    actors::worker_ready ready;
    ready.seats = 1 + pick(4);
    const auto announce = [&](actors::role what) {
      ready.worker = {p.who(), what, 0};
      p.outbox.emplace_back(ready);
    };
    if (p.device) {
      ready.seats = std::max(ready.seats, p.max_batch);
      ready.max_batch = p.max_batch;
      ready.variants = {"card@4", "card@2"};
      announce(actors::role::denoise_step);
      if (stages_->path().has_stage_of(actors::role::device_stage)) {
        ready = {};
        announce(actors::role::device_stage);
      }
    } else if (p.control()) {
      announce(actors::role::recall);
    } else {
      announce(actors::role::preprocess);
      announce(actors::role::postprocess);
      announce(actors::role::classifier);
    }
  }

  // The process ends; the records in its ring remain.
  void die(random_process& p, death cause) {
    if (p.alive)
      p.cause = cause;
    p.alive = false;
    p.inbox.clear();
    p.rows.clear();
    p.stopped.clear();
  }

  void send(random_process& p, actors::report x) {
    // From now on the worker touches nothing of that ticket.
    if (const auto who = ticket_of(x); who.id.value != 0)
      watched_->replied(who);
    p.outbox.push_back(std::move(x));
  }

  bool dies_at(core::request_id id, phase at) const {
    const auto i = poison_.find(id);
    return i != poison_.end() && i->second == at;
  }

  // -- pools ------------------------------------------------------------------

  void work(random_process& p) {
    if (!p.alive || p.hung)
      return;
    const auto next =
      std::find_if(p.inbox.begin(), p.inbox.end(), [&](const auto& x) {
        return p.stopped.count(x.first.role) == 0
            || asks_device_stage(x.first, x.second);
      });
    if (next == p.inbox.end())
      return;
    const auto to = next->first;
    const auto x = std::move(next->second);
    p.inbox.erase(next);
    if (const auto* c = std::get_if<actors::cancel_work>(&x)) {
      if (const auto i = p.rows.find(c->ticket); i != p.rows.end())
        i->second.cancelled = true;
    } else if (const auto* q = std::get_if<actors::ask_order>(&x)) {
      const bool stage = to.role == actors::role::device_stage;
      send(p,
           actors::has_order{q->ticket, stage ? p.stopped.count(to.role) != 0
                                              : p.rows.count(q->ticket) != 0});
    } else if (const auto* d = std::get_if<actors::denoise>(&x)) {
      take_row(p, *d);
    } else if (const auto* order = std::get_if<actors::run_stage>(&x)) {
      if (to.role == actors::role::device_stage)
        send(p, actors::stepping{to, {order->ticket}});
      if (stages_->is_stray(order->stage))
        return stray(p, to, *order);
      if (dies_at(order->ticket.id, stages_->path().phase_of(order->stage)))
        return die(p, death::crash);
      standard(p, *order);
    }
  }

  // The worker of a device's stages answers while the device's thread works.
  static bool asks_device_stage(const actors::worker_address& to,
                                const actors::work& x) {
    return to.role == actors::role::device_stage
        && std::holds_alternative<actors::ask_order>(x);
  }

  void standard(random_process& p, const actors::run_stage& order) {
    auto& store = *rig_->store;
    auto why = failure(order.ticket.id);
    const bool well = why.code == ec::none;
    if (const auto a = prepare::of(order)) {
      if (a->source && !p.lost)
        BOOST_REQUIRE_MESSAGE(store.view(a->drawn ? a->drawn : a->files),
                              "nothing to make a source of");
      if (well) {
        written(p, store.publish(a->state, 1, 0));
        if (a->source)
          written(p, store.publish(a->source, 1, 0));
      }
      prepared r;
      r.who = a->who;
      r.failure = std::move(why);
      return send(p, rig_->of_stage("prepare", r.reply()));
    }
    const auto f = finish::of(order);
    BOOST_REQUIRE(f.has_value());
    if (!p.lost)
      BOOST_REQUIRE(store.view(f->pixels));
    if (well)
      written(p, store.publish(f->encoded, 1, 0));
    finished r;
    r.who = f->who;
    r.failure = std::move(why);
    send(p, rig_->of_stage("finish", r.reply()));
  }

  void written(const random_process& p, const core::result<void>& done) {
    // Once a process is lost, the slots of an ended row may belong to another
    // row.
    BOOST_REQUIRE(done || p.lost);
  }

  core::error failure(core::request_id id) {
    if (!faults_ || !chance(3))
      return {};
    constexpr ec codes[] = {ec::out_of_resources, ec::io_failed, ec::internal};
    marked_.insert(id);
    return core::fail(codes[pick(3)], "scripted");
  }

  // -- stages that misbehave --------------------------------------------------

  conduct draw_conduct(const random_process& p) {
    if (!faults_ || chance(60))
      return conduct::well;
    constexpr conduct all[] = {conduct::fails,        conduct::tries_again,
                               conduct::end_fails,    conduct::late,
                               conduct::late,         conduct::wrong_stage,
                               conduct::leaves_empty, conduct::wrong_body,
                               conduct::hangs,        conduct::dies};
    return all[pick(p.control() ? 8 : 10)];
  }

  void stray(random_process& p, const actors::worker_address& to,
             const actors::run_stage& order) {
    const auto how = draw_conduct(p);
    const auto id = order.ticket.id;
    ++conducts_[how];
    if (how != conduct::well && how != conduct::late)
      marked_.insert(id);
    if (how == conduct::dies)
      return die(p, death::crash);
    if (how == conduct::hangs) {
      p.stopped[to.role] = std::nullopt;
      return;
    }
    actors::stage_done r;
    r.ticket = order.ticket;
    r.stage = order.stage;
    touch_slots(p, order, how != conduct::leaves_empty);
    told_stage::done found;
    if (stages_->name(order.stage) == "find") {
      found.found = (*order.order.as<told_stage::work>())->about;
      if (found.found == asked_near)
        found.found += 10 * pick(3);
    }
    if (how == conduct::end_fails)
      found.found = cannot_be_entered;
    r.outcome = core::typed_body::of(found);
    if (how == conduct::fails)
      r.failure = core::fail(ec::internal, "scripted");
    else if (how == conduct::tries_again)
      r.failure = core::fail(ec::io_failed, "scripted");
    else if (how == conduct::wrong_stage)
      r.stage = static_cast<uint16_t>(
        (order.stage + 1 + pick(stages_->all()->size() - 1))
        % stages_->all()->size());
    else if (how == conduct::wrong_body)
      r.outcome = core::typed_body::of(actors::finish_stage::done{});
    if (how == conduct::late)
      p.stopped[to.role] = std::move(r);
    else
      send(p, std::move(r));
  }

  // Reads every readable slot, and writes the slots that its row declares.
  void touch_slots(const random_process& p, const actors::run_stage& order,
                   bool writes) {
    auto& store = *rig_->store;
    for (const auto& x : stages_->all()->at(order.stage).row().slots) {
      if (const auto& slot = order.writes[x.name]; slot && writes)
        written(p, store.publish(slot, 1, 0));
      const auto& slot = order.reads[x.name];
      if (!slot || p.lost)
        continue;
      const auto seq = store.published(slot);
      BOOST_REQUIRE_MESSAGE(seq && *seq > 0, "stage '"
                                               << stages_->name(order.stage)
                                               << "' has nothing to read as '"
                                               << to_string(x.name) << "'");
    }
  }

  // A late worker sends its reply.
  void catch_up(random_process& p) {
    for (auto i = p.stopped.begin(); i != p.stopped.end(); ++i)
      if (i->second) {
        auto x = std::move(*i->second);
        p.stopped.erase(i);
        return send(p, std::move(x));
      }
  }

  // -- devices ----------------------------------------------------------------

  void take_row(random_process& p, const actors::denoise& d) {
    device_row row{d};
    source_is_there(p, row);
    const auto seq = rig_->store->published(d.from);
    if (!p.lost)
      BOOST_REQUIRE_MESSAGE(seq && *seq > 0, "nothing to go on from");
    if (seq && *seq > 0)
      row.steps_done = static_cast<uint32_t>(*seq - 1);
    BOOST_REQUIRE(p.lost || row.steps_done >= d.steps_done);
    p.rows.emplace(d.ticket, row);
  }

  void source_is_there(const random_process& p, const device_row& row) {
    BOOST_REQUIRE(row.what.recipe.from_image == bool{row.what.source});
    if (row.what.source && !p.lost)
      BOOST_REQUIRE_MESSAGE(rig_->store->view(row.what.source),
                            "a source is gone while its row runs");
  }

  // A few rows of a device run a step; rows with all their steps end.
  void step(random_process& p) {
    // A stage on the device keeps its thread.
    if (!p.device || !p.alive || p.hung || p.rows.empty()
        || p.stopped.count(actors::role::device_stage) != 0)
      return;
    std::vector<core::ticket> rows;
    for (const auto& [who, row] : p.rows)
      if (rows.size() < p.max_batch && chance(70))
        rows.push_back(who);
    if (rows.empty())
      return;
    if (rows != p.told)
      send(p, actors::stepping{scheduler_rig::device_at(p.who()), rows});
    p.told = rows;
    for (const auto who : rows)
      if (dies_at(who.id, phase::denoising) && p.rows.at(who).steps_done >= 1)
        return die(p, death::memory);
    actors::stepped sign;
    sign.worker = scheduler_rig::device_at(p.who());
    for (const auto who : rows)
      step(p, who, sign);
    send(p, sign);
    if (faults_ && chance(2))
      return die(p, chance(50) ? death::crash : death::outside);
    for (const auto who : rows)
      if (const auto& row = p.rows.at(who);
          row.cancelled || row.steps_done == core::steps_to_run(row.what.recipe)
          || chance(1))
        end(p, who);
  }

  void step(random_process& p, core::ticket who, actors::stepped& sign) {
    auto& row = p.rows.at(who);
    source_is_there(p, row);
    const auto steps = core::steps_to_run(row.what.recipe);
    if (!row.cancelled && row.steps_done < steps) {
      ++row.steps_done;
      ++row.steps_run;
      if (row.steps_done % p.publish_every == 0 || row.steps_done == steps) {
        const auto done =
          rig_->store->publish(row.what.state, uint64_t{row.steps_done} + 1, 0);
        written(p, done);
        if (done) {
          row.published = true;
          watched_->published(who);
        }
      }
    }
    if (row.published || row.what.wants_progress)
      sign.rows.push_back({who, row.steps_done, row.published});
  }

  void end(random_process& p, core::ticket who) {
    const auto row = p.rows.at(who);
    source_is_there(p, row);
    actors::denoised r;
    r.ticket = who;
    r.steps_done = row.steps_done;
    r.steps_run = row.steps_run;
    if (row.cancelled)
      r.failure = core::fail(ec::cancelled, "cancelled");
    else if (row.steps_done < core::steps_to_run(row.what.recipe))
      r.failure = core::fail(ec::out_of_resources, "scripted");
    else
      r.failure = failure(who.id);
    if (r.failure.code == ec::none)
      written(p, rig_->store->publish(row.what.image, 1, 0));
    p.rows.erase(who);
    send(p, r);
  }

  core::philox random_;
  std::optional<random_stages> stages_;
  std::optional<scheduler_rig> rig_;
  std::optional<watched_slots> watched_;
  std::optional<expected_pixels> pixels_;
  /// The CPU process, the devices and the control process.
  std::vector<random_process> processes_;
  std::vector<std::shared_ptr<const core::request>> requests_;
  // Each request with the phase in which it kills.
  std::map<core::request_id, phase> poison_;
  // Requests with a stage that failed or misbehaved.
  std::set<core::request_id> marked_;
  std::map<conduct, size_t> conducts_;
  bool faults_ = false;
};

} // namespace atelier::test
