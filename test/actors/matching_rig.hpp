// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/parts_rig.hpp"
#include <atelier/actors/scheduler/queue_ids.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace atelier::test {

/// Variants of `matching_profile`: the first two have the same weights.
inline constexpr core::variant_id four_steps{0};
inline constexpr core::variant_id two_steps{1};
inline constexpr core::variant_id other_model{2};

/// Returns card_profile with a variant of another model, whose steps take ten
/// times as long on devices of the kind "slow".
inline std::shared_ptr<planning::profile> matching_profile() {
  auto p = card_profile();
  auto other = p->variants.front();
  other.model = other.name = "other";
  p->variants.push_back(other);
  planning::kind_profile slow;
  slow.kind = "slow";
  for (const auto& v : p->variants) {
    planning::running_costs own = v;
    for (auto& x : own.step)
      x.took *= 10;
    slow.variants.emplace_back(own);
  }
  p->kinds.push_back(slow);
  return p;
}

/// The parts of a scheduler with that profile.
struct matching_rig : parts_rig {
  matching_rig() : matching_rig(options{}) {}

  explicit matching_rig(options o) : parts_rig(with_profile(std::move(o))) {}

  static options with_profile(options o) {
    o.slots = {64, 64, 0};
    o.profile = matching_profile();
    return o;
  }

  /// A device that hosts all variants.
  actors::worker& device_of(uint32_t process, const std::string& kind,
                            uint32_t seats = 4, uint32_t max_batch = 4) {
    return device(process, [&](actors::worker_ready& x) {
      x.kind = kind;
      x.seats = seats;
      x.max_batch = max_batch;
      x.variants = {"card@4", "card@2", "other"};
    });
  }

  /// A device that offers its free seats.
  actors::worker& offering(uint32_t process, const std::string& kind = "quick",
                           uint32_t seats = 4, uint32_t max_batch = 4) {
    auto& w = device_of(process, kind, seats, max_batch);
    out.offer(w);
    return w;
  }

  /// A row runs at a device, which then offers the other seats.
  core::ticket runs_at(actors::worker& w, core::variant_id v = four_steps) {
    const auto who = draws_at(w, {}, core::route_id{v.value});
    out.offer(w);
    return who;
  }

  /// Makes rows join a device's batches in this way.
  void join(actors::worker& w, planning::joining how, uint32_t batch = 4) {
    planning::assignment x;
    x.batch = batch;
    x.join = how;
    of.hosting.apply(w, x, {}, now);
  }

  static core::queue_id queue(core::variant_id v) {
    return planning::queue_of(v);
  }

  static std::vector<core::request_id> ids(
    const std::vector<planning::waiting>& rows) {
    std::vector<core::request_id> found;
    for (const auto& x : rows)
      found.push_back(x.request);
    return found;
  }
};

} // namespace atelier::test
