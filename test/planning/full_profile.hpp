// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning/sample.hpp"
#include <atelier/planning/profile.hpp>

#include <chrono>

namespace atelier::test {

/// Returns base@50, base@20 and turbo@1 with all facts that policies read from
/// a profile. An image of 512 x 512 takes 4.2 s, 1.68 s and 0.1 s.
inline planning::profile full_profile() {
  using namespace planning;
  using namespace std::chrono_literals;
  profile p = three_variants();
  constexpr uint64_t px = 512 * 512;
  const core::variant_id full{0};
  const core::variant_id middle{1};
  const core::variant_id light{2};
  for (variant_profile& v : p.variants) {
    v.step = {{1, px, 84ms}, {4, px, 160ms}};
    v.load = 9s;
    v.busy_watts = 300;
  }
  p.variants[2].step = {{1, px, 100ms}, {4, px, 220ms}};
  p.variants[1].quality = 0.9;
  p.variants[2].quality = 0.8;
  p.idle_watts = 60;
  ladder_profile latents;
  latents.kind = ladder_kind::cached_latents;
  latents.levels = {{full, 0, 1, {1, 1, 1}},
                    {full, 10, 0.95, {0.85, 1, 1}},
                    {full, 25, 0.85, {0.7, 0.85, 1}}};
  latents.class_shares = {0.25, 0.25, 0.5};
  latents.accuracy = 0.75;
  ladder_profile models;
  models.kind = ladder_kind::smaller_models;
  models.levels = {{full, 0, 1, {}}, {middle, 0, 0.9, {}}, {light, 0, 0.8, {}}};
  p.ladders = {latents, models};
  cascade_profile c;
  c.light = light;
  c.heavy = full;
  c.judge = "eye";
  c.judging = 10ms;
  c.deadline = 5s;
  c.deferred = {{0.25, 0.25}, {0.5, 0.5}, {0.75, 1}};
  c.fid = {{0, 18.5}, {0.5, 17}, {1, 23}};
  p.cascades = {c};
  reuse_profile r;
  r.full = full;
  r.small = {middle, light};
  r.latents = {{5, 0.65}, {10, 0.75}, {15, 0.85}, {20, 0.9}, {25, 0.95}};
  r.images = {{5, 0.25}, {10, 0.27}, {15, 0.28}, {25, 0.29}, {30, 0.3}};
  r.retrieval = 50ms;
  r.near = {0.8125, 0.125, 0.9375};
  r.predictor = {0.875, 0.25};
  p.reuse = r;
  p.masked = {{full, 16, 1024, 320, 2, false, 1e-12, 1e-4, 2e-11, 1e-4}};
  return p;
}

} // namespace atelier::test
