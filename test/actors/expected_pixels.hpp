// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/random_stages.hpp"
#include "actors/watched_pixels.hpp"
#include <atelier/ipc/slot_store.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::test {

/// Follows from the orders and the replies to them which pixels each request
/// holds: those that the last successful stage wrote. A stage that failed, or
/// whose reply does not count, changes none; and a leg that begins anew starts
/// from the newest image.
class expected_pixels {
public:
  /// @param slot_bytes the bytes of an image slot; 0: slots keep none
  expected_pixels(std::shared_ptr<const planning::pipeline> stages,
                  std::shared_ptr<const ipc::slot_store> store,
                  uint64_t slot_bytes)
    : stages_(std::move(stages)),
      store_(std::move(store)),
      slots_(stages_, slot_bytes) {}

  /// The scheduler sent a work. Returns the fault, or an empty string.
  std::string handed_off(const actors::worker_address& to,
                         const actors::work& what) {
    if (const auto* x = std::get_if<actors::cancel_work>(&what))
      open_.erase(x->ticket);
    if (auto wrong = slots_.handed_off(what); !wrong.empty())
      return wrong;
    if (const auto* d = std::get_if<actors::denoise>(&what)) {
      for (auto& row : rows_of(d->ticket.id)) {
        enter(row, stages_->denoise());
        row.found = {};
      }
      begin(to, d->ticket, stages_->denoise(), {d->image}, d->image);
    }
    const auto* run = std::get_if<actors::run_stage>(&what);
    return run == nullptr ? std::string{} : ordered(to, *run);
  }

  /// A report arrives at the scheduler, which has not seen it yet.
  void arrives(const actors::report& x) {
    if (const auto* none = std::get_if<actors::has_order>(&x);
        none != nullptr && !none->has)
      open_.erase(none->ticket);
    if (const auto* leg = std::get_if<actors::denoised>(&x))
      ended(leg->ticket, leg->failure.code == core::ec::none, std::nullopt);
    if (const auto* done = std::get_if<actors::stage_done>(&x))
      ended(done->ticket, done->failure.code == core::ec::none, *done);
  }

  /// A process is gone: its orders are over.
  void gone(ipc::process_life who) {
    std::erase_if(open_, [&](const auto& x) { return x.second.at == who; });
  }

  /// The scheduler waits no longer for some orders. The control process may
  /// answer its own ones nevertheless, which then does not count.
  void waits_no_longer() {
    for (auto& [who, x] : open_)
      x.abandoned = x.abandoned || x.at == ipc::process_life{};
  }

  /// Returns the size of an answered request's image.
  core::extent px_of(core::request_id id) const {
    return slots_.of(rows_.at(id).front().image).px();
  }

  /// Returns how often a stage changed the size of pixels.
  size_t changes() const {
    return changes_;
  }

private:
  /// The slots of a request's pixels, and the stage that was ordered last.
  struct held_pixels {
    ipc::slot_ref image;
    /// Pixels that its leg starts from, or that answer it.
    ipc::slot_ref found;
    size_t stage = 0;

    const ipc::slot_ref& newest() const {
      return found ? found : image;
    }
  };

  struct order {
    ipc::process_life at;
    size_t stage = 0;
    std::vector<ipc::slot_ref> writes;
    ipc::slot_ref pixels;
    /// The scheduler may wait no longer for it.
    bool abandoned = false;
  };

  // What a request may hold: several things if a reply may not have counted.
  std::vector<held_pixels>& rows_of(core::request_id id) {
    auto& out = rows_[id];
    if (out.empty())
      out.emplace_back();
    return out;
  }

  std::string ordered(const actors::worker_address& to,
                      const actors::run_stage& x) {
    using planning::hook;
    const auto at = stages_->at(x.stage).row().hook;
    if (at == hook::before_route)
      return {};
    std::vector<held_pixels> possible;
    std::string wrong;
    for (auto row : rows_of(x.ticket.id)) {
      enter(row, x.stage);
      if (auto why = check(x, row); why.empty())
        possible.push_back(row);
      else
        wrong = std::move(why);
    }
    if (possible.empty())
      return wrong;
    rows_[x.ticket.id] = std::move(possible);
    if (at == hook::after_answer)
      return {};
    std::vector<ipc::slot_ref> writes;
    for (const auto& slot : x.writes.slots)
      if (slot)
        writes.push_back(slot);
    begin(to, x.ticket, x.stage, std::move(writes),
          x.writes[planning::held::pixels]);
    return {};
  }

  void begin(const actors::worker_address& to, core::ticket who, size_t stage,
             std::vector<ipc::slot_ref> writes, const ipc::slot_ref& pixels) {
    open_[who] = {to.process, stage, std::move(writes), pixels};
    current_[who.id] = who;
  }

  // A stage is next. If it is before the last one, its leg begins; and what is
  // prepared without an image is drawn instead of what was found.
  void enter(held_pixels& row, size_t stage) const {
    const auto& next = stages_->at(stage).row();
    if (next.hook == planning::hook::each_leg) {
      if (stage < row.stage || (next.name == "prepare" && !row.image))
        row.found = {};
    } else {
      if (!row.image)
        row.image = row.found;
      row.found = {};
    }
    row.stage = stage;
  }

  std::string check(const actors::run_stage& x, const held_pixels& row) const {
    using planning::held;
    const auto& own = row.newest();
    const auto& from = x.reads[held::pixels];
    if (from && from != own)
      return slots_.fault(x, "reads other pixels than the newest");
    for (const auto& use : stages_->at(x.stage).row().slots)
      if (own && !from && use.name == held::pixels && use.when == nullptr
          && use.mode != planning::access::writes)
        return slots_.fault(x, "is not given the pixels");
    if (own)
      return slots_.check(x, slots_.of(own).px());
    const auto told = x.order.as<told_stage::work>();
    if (told && !x.writes[held::pixels] && (*told)->seen != core::extent{})
      return slots_.fault(x, "was shown a size without pixels");
    return {};
  }

  void ended(core::ticket who, bool well,
             const std::optional<actors::stage_done>& reply) {
    const auto i = open_.find(who);
    if (i == open_.end()
        || (i->second.stage == stages_->denoise()) == reply.has_value())
      return;
    const auto was = i->second;
    open_.erase(i);
    if (!well || current_.at(who.id) != who || !wrote_all(was) || !was.pixels
        || (reply && !is_entered(*reply, was)))
      return;
    auto& rows = rows_of(who.id);
    const auto before = rows;
    for (auto& row : rows)
      take(row, was);
    if (was.abandoned)
      rows.insert(rows.end(), before.begin(), before.end());
  }

  void take(held_pixels& row, const order& was) {
    const bool drawn = was.stage == stages_->denoise();
    if (!drawn && row.newest())
      changes_ +=
        slots_.of(row.newest()).px() != slots_.of(was.pixels).px() ? 1u : 0u;
    if (was.stage < stages_->denoise() || (!drawn && !row.image)) {
      row.found = was.pixels;
      return;
    }
    row.image = was.pixels;
    row.found = {};
  }

  bool wrote_all(const order& was) const {
    return std::all_of(was.writes.begin(), was.writes.end(),
                       [&](const auto& slot) {
                         const auto seq = store_->published(slot);
                         return seq && *seq > 0;
                       });
  }

  // Returns whether an outcome is one that its stage enters.
  bool is_entered(const actors::stage_done& x, const order& was) const {
    const auto name = stages_->at(was.stage).row().name;
    if (x.stage != was.stage || name == "prepare" || name == "finish")
      return x.stage == was.stage;
    const auto found = x.outcome.as<told_stage::done>();
    return found && (*found)->found != cannot_be_entered;
  }

  std::shared_ptr<const planning::pipeline> stages_;
  std::shared_ptr<const ipc::slot_store> store_;
  watched_pixels slots_;
  std::map<core::request_id, std::vector<held_pixels>> rows_;
  std::map<core::request_id, core::ticket> current_;
  std::map<core::ticket, order> open_;
  size_t changes_ = 0;
};

} // namespace atelier::test
