// SPDX-License-Identifier: Apache-2.0
#pragma once

// The laws of random schedules. The class sees everything that crosses between
// the scheduler and the world.

#include "actors/random_scheduler_world.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace atelier::test {

/// Suspects run by themselves, and are tried once the trial is written down.
/// Deaths of others delay no request twice. An answer counts only for its own
/// question. An image has the size that the last stage gave it. Every failure
/// has a reason.
class random_laws : public random_world {
public:
  using random_world::random_world;

  size_t trials() const {
    return trials_;
  }

  size_t late_facts() const {
    return late_facts_;
  }

protected:
  // -- orders -----------------------------------------------------------------

  // An order that moves a row.
  void main_order(random_process& p, core::ticket who, size_t stage) {
    const auto id = who.id;
    const auto at = stages_->path().phase_of(stage);
    const auto role = stages_->path().worker_of(stage);
    at_[id] = stage;
    drawn_[id] =
      drawn_[id] || at == phase::denoising || stages_->name(stage) == "prepare";
    if (const auto i = questions_.find(id); i != questions_.end())
      i->second.over = true;
    if (const auto i = held_.find(id); i != held_.end() && i->second.phase == at
                                       && role != actors::role::recall) {
      suspects_[id] = stage;
      held_.erase(i);
    }
    if (const auto i = suspects_.find(id);
        i != suspects_.end() && i->second != stage)
      suspects_.erase(i);
    const bool lone = suspects_.count(id) != 0;
    BOOST_REQUIRE_MESSAGE(p.outstanding.empty() || !lone,
                          "a suspect of a death runs with others");
    nobody_joins_a_suspect(p);
    if (!lone)
      return;
    ++trials_;
    if (keeps_.count(id) != 0)
      BOOST_REQUIRE_MESSAGE(written_.erase(id) == 1,
                            "a trial that is not written down");
    if (!roomy_ || (p.device && devices() > 1))
      return;
    for (const auto other : delayed_)
      if (const auto there = waits_for(other);
          there && !is_suspect(other) && has_its_turn(other, id)) {
        const bool encodes = role == actors::role::preprocess
                          && there == actors::role::postprocess;
        BOOST_REQUIRE_MESSAGE(
          role != there && !encodes && !(on_device(role) && on_device(*there)),
          "request " << other.value << " may be delayed again");
      }
  }

  // A trial has the whole device.
  static bool on_device(actors::role x) {
    return x == actors::role::denoise_step || x == actors::role::device_stage;
  }

  // An order that finds facts, or follows the answer.
  void side_order(random_process& p, const actors::run_stage& x) {
    const auto id = x.ticket.id;
    nobody_joins_a_suspect(p);
    side_.insert(x.ticket);
    const auto hook = stages_->all()->at(x.stage).row().hook;
    if (hook == planning::hook::after_answer) {
      BOOST_REQUIRE_MESSAGE(rig_->answered(id), "an answer waits for a stage");
      return;
    }
    auto& q = questions_[id];
    if (q.event != events_)
      q = {events_, {}, {}, {}, false};
    q.until = std::max(q.until, core::after(rig_->now, x.left));
    q.open.insert(x.ticket);
    if (stages_->name(x.stage) == "find")
      q.about[x.ticket] = (*x.order.as<told_stage::work>())->about;
  }

  void nobody_joins_a_suspect(const random_process& p) {
    for (const auto other : p.outstanding)
      BOOST_REQUIRE_MESSAGE(side_.count(other) != 0
                              || suspects_.count(other.id) == 0
                              || suspects_.at(other.id) != at_.at(other.id)
                              || rig_->answered(other.id),
                            "others join a suspect of a death");
  }

  // -- replies ----------------------------------------------------------------

  // Called before the scheduler receives a report.
  void replied(core::ticket who, const actors::report& x) {
    const auto* done = std::get_if<actors::stage_done>(&x);
    if (side_.count(who) != 0)
      return side_replied(who, *done);
    if (rig_->answered(who.id))
      return;
    // Its leg begins anew, and a suspicion stays.
    const auto* leg = std::get_if<actors::denoised>(&x);
    if (leg != nullptr && leg->failure.code == ec::io_failed
        && leg->steps_done == 0 && suspects_.count(who.id) != 0) {
      held_[who.id] = {phase::denoising, 0, 0, 1};
      auto& alone = deaths_alone_[who.id];
      alone = std::max(alone, 1u);
    }
    auto& at = at_[who.id];
    const bool goes_on = done != nullptr && stages_->is_stray(at)
                      && stages_->otherwise(at) == planning::if_failed::go_on;
    const bool well = succeeded(x) && (done == nullptr || behaved(*done, at));
    if ((well || goes_on) && stages_->name(at) != "finish") {
      // The next leg has the same stage, and is no suspect.
      if (const auto i = suspects_.find(who.id);
          leg != nullptr && i != suspects_.end() && i->second == at)
        suspects_.erase(i);
      at = stages_->next(who.id, at, drawn_[who.id]);
    }
  }

  // Facts count while their question is open, that is, until its time is over
  // or the row has moved on.
  void side_replied(core::ticket who, const actors::stage_done& x) {
    const auto i = questions_.find(who.id);
    const bool asks = i != questions_.end() && !i->second.over
                   && i->second.open.erase(who) != 0;
    if (!asks) {
      late_facts_ += stages_->name(x.stage) == "find" ? 1u : 0u;
      return;
    }
    auto& q = i->second;
    if (const auto about = q.about.find(who);
        about != q.about.end() && x.failure.code == core::ec::none) {
      const auto found = x.outcome.as<told_stage::done>();
      const bool counts = found && stages_->name(x.stage) == "find"
                       && (*found)->found != cannot_be_entered;
      if (counts && about->second == asked_near && (*found)->found >= 10)
        near_.insert(who.id);
      if (counts && about->second == asked_tolerated)
        tolerated_.insert(who.id);
    }
    q.over = q.open.empty();
  }

  bool behaved(const actors::stage_done& x, size_t stage) const {
    if (!stages_->is_stray(stage))
      return true;
    const auto found = x.outcome.as<told_stage::done>();
    return x.stage == stage && found && (*found)->found != cannot_be_entered;
  }

  void time_passed() {
    for (auto& [id, q] : questions_)
      q.over = q.over || q.until <= rig_->now;
  }

  // -- deaths -----------------------------------------------------------------

  // The rows that it worked on are suspects; all other rows there were delayed.
  void blame(const random_process& p, death cause) {
    std::set<core::ticket> worked_on;
    // A device's thread does one thing at a time: a stage, or steps.
    for (const auto what :
         {actors::role::device_stage, actors::role::denoise_step})
      if (const auto i = p.heard.find(what);
          i != p.heard.end() && worked_on.empty())
        for (const auto who : i->second)
          if (p.outstanding.count(who) != 0)
            worked_on.insert(who);
    const bool named = cause == death::watchdog && !p.silent.empty();
    for (const auto& [what, orders] : p.orders)
      if (!orders.empty() && (!named || p.silent.count(what) != 0))
        worked_on.insert(orders.front());
    if (worked_on.empty())
      return;
    for (const auto& what : requests_) {
      // If there are several devices, another one serves them.
      const bool elsewhere = p.device && devices() > 1;
      const auto needed = waits_for(what->id);
      if (!elsewhere && !is_suspect(what->id) && needed
          && p.there.count(*needed) != 0)
        delayed_.insert(what->id);
    }
    for (const auto who : p.outstanding)
      if (worked_on.count(who) == 0 && side_.count(who) == 0)
        delayed_.insert(who.id);
    for (const auto who : worked_on)
      if (side_.count(who) == 0 && !rig_->answered(who.id)
          && !suspects_.emplace(who.id, at_.at(who.id)).second)
        ++deaths_alone_[who.id];
  }

  // Its dispatches are over, and those aside found nothing.
  void gone(const random_process& p) {
    for (const auto who : p.outstanding)
      if (const auto i = questions_.find(who.id); i != questions_.end()) {
        i->second.open.erase(who);
        i->second.over = i->second.over || i->second.open.empty();
      }
    lost_any_ = true;
  }

  // -- the end ----------------------------------------------------------------

  void judge() {
    BOOST_REQUIRE_MESSAGE(rig_->sut->rows() == 0,
                          "these wait for ever:" << unanswered());
    BOOST_REQUIRE(rig_->quiet());
    BOOST_REQUIRE_EQUAL(rig_->answers.size(), requests_.size());
    for (const auto& what : requests_)
      judge(*what);
    const auto& c = rig_->sut->counts();
    BOOST_REQUIRE_EQUAL(c.arrived, requests_.size());
    BOOST_REQUIRE_EQUAL(c.arrived,
                        c.refused + c.answered + c.failed + c.cancelled);
  }

  void judge(const core::request& what) {
    const auto id = what.id;
    const auto& answer = rig_->answers.at(id);
    const auto code = answer.failure.code;
    BOOST_REQUIRE_MESSAGE(may_end(what, code), "request "
                                                 << id.value << ": "
                                                 << to_string(answer.failure));
    const bool found = code == ec::none && answer.route == "picture";
    BOOST_REQUIRE_MESSAGE(!found || near_.count(id) != 0,
                          "request " << id.value
                                     << " is answered by facts that came late");
    if (code == ec::none && stages_->finds())
      BOOST_REQUIRE_MESSAGE(
        answer.tolerated.has_value() == (tolerated_.count(id) != 0),
        "request " << id.value << ": what its second question found");
    if (code != ec::none)
      return;
    const auto px = pixels_->px_of(id);
    BOOST_REQUIRE_MESSAGE(answer.px == px, "request " << id.value
                                                      << " is answered by "
                                                      << answer.px.width << "x"
                                                      << answer.px.height);
    BOOST_REQUIRE_MESSAGE(!stages_->must_fail(what), "request " << id.value);
    if (const auto i = poison_.find(id); i != poison_.end()) {
      if (i->second == phase::denoising)
        BOOST_REQUIRE(found || core::steps_to_run(answer.recipe) == 1);
      else
        BOOST_REQUIRE(found && i->second == phase::preparing);
    }
  }

  // Describes the unanswered requests in words.
  std::string unanswered() const {
    std::string out;
    for (const auto& what : requests_)
      if (!rig_->answered(what->id))
        out += fmt::format("\n{} {} {}{}", what->id.value,
                           waits(what->id) ? "before" : "in",
                           stages_->name(at_.at(what->id)),
                           is_suspect(what->id) ? ", suspected" : "");
    for (const auto kind : {ipc::slot_kind::state, ipc::slot_kind::image})
      out += fmt::format("\n{} of {} {} slots are free", rig_->free_slots(kind),
                         rig_->sut->keeper().count(kind), to_string(kind));
    for (const auto& p : processes_)
      for (const auto who : p.outstanding)
        out += fmt::format("\nprocess {} has {}.{}{}", p.index, who.id.value,
                           who.attempt, side_.count(who) != 0 ? " aside" : "");
    return out + "\nstages: " + stages_->all()->signature();
  }

  bool may_end(const core::request& what, core::ec code) const {
    const auto alone = deaths_alone_.find(what.id);
    switch (code) {
      case ec::none:
      case ec::overloaded:
        return true;
      case ec::out_of_resources:
        // A step failed, or a route needs more than the arena has.
        return true;
      case ec::unavailable:
        return lost_any_ || requires_facts();
      case ec::internal:
      case ec::bad_payload:
      case ec::io_failed:
        return marked_.count(what.id) != 0 || stages_->may_fail(what.id, code);
      case ec::invalid_argument:
        return (what.source && image_slots_ < 3)
            || stages_->may_fail(what.id, code);
      case ec::cancelled:
        return cancelled_.count(what.id) != 0;
      case ec::deadline_missed:
        return what.deadline != core::never;
      case ec::poison:
        return alone != deaths_alone_.end() && alone->second >= 2;
      default:
        return false;
    }
  }

  // -- queries ----------------------------------------------------------------

  bool requires_facts() const {
    const auto& path = stages_->path();
    for (size_t i = 0; path.is(i, planning::hook::before_route); ++i)
      if (path.at(i).row().otherwise == planning::if_failed::fail)
        return true;
    return false;
  }

  size_t devices() const {
    return static_cast<size_t>(
      std::count_if(processes_.begin(), processes_.end(),
                    [](const auto& p) { return p.device; }));
  }

  // Returns the workers that a request waits for. The stage at which it waits
  // depends on the results of earlier stages, which the scheduler knows.
  std::optional<actors::role> waits_for(core::request_id id) const {
    const auto stage = waits(id) ? rig_->sut->stage_of(id) : std::nullopt;
    if (!stage)
      return std::nullopt;
    return stages_->path().worker_of(*stage);
  }

  // A request of a tenant with many prepared ones waits for others of it, and
  // meanwhile a trial of another tenant's is none of its delay.
  bool has_its_turn(core::request_id waiting, core::request_id suspect) const {
    const auto tenant_of = [&](core::request_id id) {
      return requests_.at(id.value - 1)->tenant;
    };
    return tenant_of(waiting) == tenant_of(suspect);
  }

  // Returns whether the request is a suspect now, or becomes one at the start
  // of its phase because of an earlier server's note.
  bool is_suspect(core::request_id id) const {
    const auto at = at_.at(id);
    const auto now = suspects_.find(id);
    const auto held = held_.find(id);
    return (now != suspects_.end() && now->second == at)
        || (held != held_.end()
            && held->second.phase == stages_->path().phase_of(at));
  }

  // Returns whether the request is in a queue.
  bool waits(core::request_id id) const {
    const auto q = questions_.find(id);
    if (rig_->answered(id) || (q != questions_.end() && !q->second.over))
      return false;
    return std::none_of(
      processes_.begin(), processes_.end(), [&](const auto& p) {
        return std::any_of(
          p.outstanding.begin(), p.outstanding.end(),
          [&](auto who) { return who.id == id && side_.count(who) == 0; });
      });
  }

  // A question about a request before its route is chosen.
  struct question {
    uint64_t event = 0;
    core::time_point until;
    std::set<core::ticket> open;
    std::map<core::ticket, uint64_t> about;
    bool over = false;
  };

  uint64_t events_ = 0;
  std::map<core::request_id, question> questions_;
  std::set<core::ticket> side_;
  // Requests whose facts arrived in time.
  std::set<core::request_id> near_;
  std::set<core::request_id> tolerated_;
  size_t late_facts_ = 0;
  std::set<core::request_id> cancelled_;
  // The stage that a request is in or enters next, and the requests that must
  // do it by themselves.
  std::map<core::request_id, size_t> at_;
  std::map<core::request_id, bool> drawn_;
  std::map<core::request_id, size_t> suspects_;
  std::map<core::request_id, core::suspicion> held_;
  std::map<core::request_id, uint32_t> deaths_alone_;
  // Requests delayed by a death that another request caused.
  std::set<core::request_id> delayed_;
  std::set<core::request_id> keeps_;
  std::set<core::request_id> written_;
  size_t trials_ = 0;
  bool lost_any_ = false;
  // There is a slot for every request.
  bool roomy_ = false;
  uint32_t image_slots_ = 0;
};

} // namespace atelier::test
