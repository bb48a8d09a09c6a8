// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "actors/watched_pixels.hpp"
#include "support/stage_orders.hpp"
#include <atelier/actors/source_files.hpp>
#include <atelier/gpu/device/detail/test_card_rows.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace atelier::test {

/// Returns the file that a request of the test card gets by itself and without
/// faults, if stages change its image as they did for `made`.
inline std::vector<std::byte> undisturbed_image(
  const core::request& what, const planning::policy& policy,
  const std::shared_ptr<const planning::profile>& costs,
  const known_pixels& made) {
  using ipc::slot_kind;
  const auto leg = policy.replan({}, *costs, {}, {})
                     .routes.at(what.fixed.variant == "card@4" ? 0 : 1)
                     .legs.front();
  prepare p;
  p.how = planning::recipe_of(what, leg, leg.any_of.front(), *costs);
  const auto& v = costs->variants[p.how.variant.value];
  p.latent = planning::latent_of(v, p.how.px);
  const auto slots =
    std::make_shared<ipc::heap_store>(1u, std::array<uint32_t, 3>{2, 5, 0},
                                      std::array<uint64_t, 3>{4096, 16384, 0});
  const ipc::slot_ref noise{1, 0, 1, slot_kind::state};
  const ipc::slot_ref state{1, 1, 1, slot_kind::state};
  const ipc::slot_ref image{1, 0, 1, slot_kind::image};
  const ipc::slot_ref file{1, 1, 1, slot_kind::image};
  const ipc::slot_ref files{1, 2, 1, slot_kind::image};
  const ipc::slot_ref source{1, 3, 1, slot_kind::image};
  const ipc::slot_ref changed{1, 4, 1, slot_kind::image};
  for (const auto& x : {noise, state, image, file, files, source, changed})
    slots->open(x);
  p.who = {what.id, 1};
  p.state = noise;
  if (what.source) {
    p.files = files;
    p.source = source;
    BOOST_REQUIRE(
      actors::write_source_files(*slots->buffer(files), *what.source));
    BOOST_REQUIRE(
      slots->publish(files, 1, actors::source_files_bytes(*what.source)));
  }
  const auto ready = do_alone(p.order(), *slots);
  BOOST_REQUIRE((ready.failure.code == core::ec::none));
  gpu::detail::test_card_rows rows{costs, slots};
  gpu::open_job job;
  job.ticket = p.who;
  job.recipe = p.how;
  job.text = what.text;
  job.from = noise;
  job.state = state;
  job.image = image;
  job.source = p.source;
  rows.open(job);
  rows.find(p.who)->advance(core::steps_to_run(p.how));
  BOOST_REQUIRE((rows.decode_part(p.who)->failure.code == core::ec::none));
  const auto drawn = slots->view(image);
  std::vector<std::byte> pixels{drawn->begin(), drawn->end()};
  auto px = p.how.px;
  for (const auto& x : made.by) {
    pixels = redrawn(x.stage, pixels, px, x.to);
    px = x.to;
  }
  std::copy(pixels.begin(), pixels.end(), slots->buffer(changed)->begin());
  BOOST_REQUIRE(slots->publish(changed, 1, pixels.size()));
  finish f;
  f.who = p.who;
  f.how = p.how;
  f.text = what.text;
  f.model = v.model;
  f.variant = v.name;
  f.output = what.output;
  f.px = px;
  f.pixels = changed;
  f.encoded = file;
  f.notes = ready.notes;
  BOOST_REQUIRE((do_alone(f.order(), *slots).failure.code == core::ec::none));
  const auto bytes = slots->view(file);
  return {bytes->begin(), bytes->end()};
}

} // namespace atelier::test
