// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/layers_rig.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace atelier::test {

/// Rows that run alone, since a process died while it worked on them.
class trials_rig : public layers_rig {
public:
  static constexpr core::route_id two_legs{2};

  trials_rig() : trials_rig(with()) {}

  explicit trials_rig(const options& o) : layers_rig(o) {}

  static options with() {
    options o;
    o.slots = {32, 32, 0};
    o.adjust = [](planning::plan& x) {
      auto twice = x.routes[0];
      twice.legs.push_back(twice.legs.front());
      x.routes.push_back(twice);
    };
    return o;
  }

  void pump() {
    dispatcher.pump(now);
    BOOST_TEST(check() == "");
  }

  bool runs(const actors::row& r) const {
    return r.state() == actors::row_state::running;
  }

  bool runs_alone(const actors::row& r) const {
    return runs(r) && of.orders.at({id_of(r), r.attempt()}).alone;
  }

  /// A suspect that waits for a device. A client records what it is suspected
  /// of, or none does.
  actors::row& suspect(bool records = false, core::route_id along = {}) {
    auto& r = accept();
    of.suspicions.accept(id_of(r), {}, records);
    route(r, along);
    prepare(r);
    accuse(r);
    wait(r);
    return r;
  }

  /// A suspect that waits for a pool.
  actors::row& pool_suspect(std::string_view at = "prepare",
                            bool records = false) {
    auto& r = accept();
    of.suspicions.accept(id_of(r), {}, records);
    route(r);
    if (at == "finish") {
      draw(r);
      r.course.finish();
    }
    enter(r, at);
    accuse(r);
    wait(r);
    return r;
  }

  /// Returns the image slots with which a device can take a row.
  static uint32_t images_for(const actors::row& r) {
    constexpr auto image = static_cast<size_t>(ipc::slot_kind::image);
    const auto& x = r.course.stage_slots();
    return x.granted[image] + x.reserve[image];
  }

  /// An order ends, and its worker offers its seats.
  void end(core::ticket who) {
    auto& w = of.workers.at(of.orders.at(who).worker);
    auto& r = of.requests.at(who.id);
    lose(who);
    waiting.leave(who.id, r, now);
    endings.turn_away(who.id, r, core::fail(core::ec::internal, "over"), {},
                      now);
    of.slots.end(who.id);
    out.offer(w);
  }
};

} // namespace atelier::test
