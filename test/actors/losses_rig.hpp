// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/layers_rig.hpp"
#include "support/told_stage.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace atelier::test {

/// Orders that end without their result. A stage finds facts before the route.
class losses_rig : public layers_rig {
public:
  using tickets = std::vector<core::ticket>;

  explicit losses_rig(uint32_t attempts = 20,
                      std::shared_ptr<actors::timeline> into = nullptr)
    : layers_rig(with(attempts, std::move(into))) {}

  actors::row& row_of(core::ticket who) {
    return of.requests.at(who.id);
  }

  // -- orders -----------------------------------------------------------------

  /// Publishes the state of an order after so many steps.
  void reach(core::ticket who, uint32_t steps) {
    publish(of.slots.of(who).granted[planning::held::state],
            uint64_t{steps} + 1);
  }

  /// A row of the batch that a device reported.
  core::ticket steps_at(actors::worker& w) {
    const auto who = draws_at(w);
    of.orders.report(who, true);
    return who;
  }

  core::ticket prepares_at(actors::worker& w, core::tenant_id whose = {}) {
    auto& r = waits_to_prepare([&](core::request& x) { x.tenant = whose; });
    return prepares_again(r, w);
  }

  core::ticket prepares_again(actors::row& r, actors::worker& w) {
    of.requests.count_ahead(r.request->tenant, true);
    return run(r, w);
  }

  // -- questions about orders -------------------------------------------------

  /// The time of the rig's orders passes, which is two seconds.
  void overdue() {
    pass(2s + 1ns);
    losses.ask_about_orders(now);
  }

  /// Returns the orders about which workers were asked.
  tickets asked() {
    tickets all;
    for (const auto& x : take_sent<actors::ask_order>())
      all.push_back(x.ticket);
    return all;
  }

  void answer(core::ticket who, bool has) {
    losses.on(actors::has_order{who, has}, now);
  }

  /// A worker that was asked about an order does not have it.
  void lose_order(core::ticket who) {
    overdue();
    BOOST_REQUIRE(of.orders.is_asked(who));
    answer(who, false);
  }

  /// A worker in the control process, which cannot be replaced.
  actors::worker& at_home(actors::role what) {
    actors::worker_ready x;
    x.worker = {{}, what, 0};
    x.seats = 4;
    x.variants = {"card@4", "card@2"};
    return announce(x);
  }

private:
  static options with(uint32_t attempts,
                      std::shared_ptr<actors::timeline> into) {
    actors::standard_stages own;
    own.classify =
      told("guess", planning::hook::before_route, planning::if_failed::go_on);
    options o;
    o.slots = {16, 16, 4};
    o.stages = pipeline_with(own);
    o.pace.attempts = attempts;
    o.drawing = std::move(into);
    return o;
  }
};

} // namespace atelier::test
