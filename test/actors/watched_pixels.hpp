// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/random_sizes.hpp"
#include "support/stage_orders.hpp"
#include "support/told_stage.hpp"
#include <atelier/actors/messages.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace atelier::test {

/// The pixels in a slot: as a device drew them, or as stages changed them.
struct known_pixels {
  struct change {
    std::string_view stage;
    core::extent to;
  };

  core::extent drawn_px;
  std::vector<change> by = {};

  core::extent px() const {
    return by.empty() ? drawn_px : by.back().to;
  }
};

/// Follows from the orders alone, without what the scheduler notes of sizes,
/// which pixels are in each slot. Orders that read pixels say their size; no
/// stage changes pixels that it changed before.
class watched_pixels {
public:
  /// @param slot_bytes the bytes of an image slot; 0: slots keep none
  watched_pixels(std::shared_ptr<const planning::pipeline> stages,
                 uint64_t slot_bytes)
    : stages_(std::move(stages)), slot_bytes_(slot_bytes) {}

  /// Notes which pixels the work makes of which. Returns the fault, or an empty
  /// string.
  std::string handed_off(const actors::work& what) {
    if (const auto* d = std::get_if<actors::denoise>(&what))
      of_[d->image] = {d->recipe.px};
    const auto* order = std::get_if<actors::run_stage>(&what);
    return order == nullptr ? std::string{} : ordered(*order);
  }

  /// @pre an order wrote pixels into the slot
  const known_pixels& of(const ipc::slot_ref& slot) const {
    return of_.at(slot);
  }

  /// Returns the first of the order's sizes that is not that of the pixels; an
  /// empty string if all are.
  std::string check(const actors::run_stage& x, core::extent px) const {
    if (x.px != px)
      return fault(x, "is of", x.px, px);
    if (const auto told = x.order.as<told_stage::work>();
        told && (*told)->seen != px)
      return fault(x, "was shown", (*told)->seen, px);
    if (const auto p = prepare::of(x);
        p && p->how.from_image && p->drawn_px != px)
      return fault(x, "starts from", p->drawn_px, px);
    if (const auto f = finish::of(x); f && f->px != px)
      return fault(x, "encodes", f->px, px);
    return {};
  }

  std::string fault(const actors::run_stage& x, std::string_view what) const {
    return fmt::format("stage '{}' of request {} {}", name_of(x),
                       x.ticket.id.value, what);
  }

private:
  std::string ordered(const actors::run_stage& x) {
    using planning::held;
    const auto& from = x.reads[held::pixels];
    const auto& into = x.writes[held::pixels];
    known_pixels made;
    if (from) {
      const auto i = of_.find(from);
      if (i == of_.end())
        return fault(x, "reads pixels that nothing wrote");
      made = i->second;
      if (auto wrong = check(x, made.px()); !wrong.empty())
        return wrong;
    }
    const auto told = x.order.as<told_stage::work>();
    const auto said = told ? (*told)->becomes : core::extent{};
    if (said != core::extent{}
        && (said.pixels() == 0 || !holds(slot_bytes_, said)))
      return fault(x, "runs with an impossible size");
    if (!into)
      return {};
    const auto name = name_of(x);
    if (std::any_of(made.by.begin(), made.by.end(),
                    [&](const auto& y) { return y.stage == name; }))
      return fault(x, "changes the same pixels twice");
    if (from)
      made.by.push_back({name, said != core::extent{} ? said : made.px()});
    else if (told)
      made.drawn_px = (*told)->seen;
    of_[into] = std::move(made);
    return {};
  }

  std::string_view name_of(const actors::run_stage& x) const {
    return stages_->at(x.stage).row().name;
  }

  std::string fault(const actors::run_stage& x, std::string_view what,
                    core::extent said, core::extent px) const {
    return fault(x, fmt::format("{} {}x{} pixels, but they are {}x{}", what,
                                said.width, said.height, px.width, px.height));
  }

  std::shared_ptr<const planning::pipeline> stages_;
  uint64_t slot_bytes_;
  std::map<ipc::slot_ref, known_pixels> of_;
};

} // namespace atelier::test
