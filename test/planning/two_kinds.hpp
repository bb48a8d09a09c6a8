// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/profile.hpp>

#include <chrono>
#include <string>

namespace atelier::test {

/// Returns a light variant of 0.1 s and a heavy one of 1 s, with a judge
/// between them and a deadline of 5 s. Devices of the kind "slow" take eight
/// times as long, including loads and memory. Devices of the kind "quick" are
/// not listed.
inline planning::profile two_kinds() {
  using std::chrono::milliseconds;
  planning::profile p;
  planning::kind_profile slow;
  slow.kind = "slow";
  slow.idle_watts = 5;
  for (const bool heavy : {false, true}) {
    planning::variant_profile v;
    v.model = heavy ? "heavy" : "light";
    v.steps = heavy ? 10 : 1;
    v.name = v.model + "@" + std::to_string(v.steps);
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, milliseconds{100}, 9}};
    v.quality = heavy ? 1 : 0.5;
    v.load = std::chrono::seconds{1};
    v.memory_bytes = 1000;
    planning::running_costs own = v;
    for (auto& s : own.step)
      s.took *= 8;
    own.load *= 8;
    own.memory_bytes *= 8;
    own.busy_watts = 20;
    slow.variants.emplace_back(own);
    p.variants.push_back(v);
  }
  planning::cascade_profile c;
  c.light = core::variant_id{0};
  c.heavy = core::variant_id{1};
  c.judge = "judge";
  c.judging = milliseconds{20};
  slow.judging = {{"judge", milliseconds{160}}};
  c.deadline = std::chrono::seconds{5};
  for (int i = 0; i <= 20; ++i)
    c.deferred.emplace_back(i / 20.0, i / 20.0);
  p.cascades.push_back(c);
  p.kinds.push_back(slow);
  return p;
}

/// Returns `quick` quick workers, then `slow` slow ones, all with the light
/// variant.
inline planning::cluster_view quick_and_slow(uint32_t quick, uint32_t slow) {
  planning::cluster_view there;
  for (uint32_t i = 0; i < quick + slow; ++i) {
    planning::worker_view w;
    w.worker = core::worker_id{i + 1};
    w.device_kind = i < quick ? "quick" : "slow";
    w.hosting = {core::variant_id{0}};
    w.max_batch = w.seats_free = 1;
    there.workers.push_back(w);
  }
  return there;
}

} // namespace atelier::test
