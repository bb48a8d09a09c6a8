// SPDX-License-Identifier: Apache-2.0
#include "stages_rig.hpp"
#include <atelier/actors/stages/fetch.hpp>
#include <atelier/gpu/source_format.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <limits>

namespace {

using namespace atelier;
using actors::fetch_stage;
using core::ec;
using planning::held;
using planning::origin;

static_assert(planning::stage_type<fetch_stage>);

struct fixture : test::stages_rig {
  fetch_stage stage{kept};

  // Returns a row whose leg starts from a state after 5 of its steps.
  planning::row_view from_state() {
    along.legs.clear();
    add_leg(origin::latent);
    auto out = row();
    out.from = &from;
    out.skip = 5;
    return out;
  }

  planning::row_view from_image() {
    along.legs.clear();
    add_leg(origin::image);
    auto out = row();
    out.from = &from;
    out.skip = 5;
    return out;
  }

  static index::leftover left(std::vector<std::byte> bytes,
                              uint32_t steps = 5) {
    index::leftover out;
    out.states.push_back({steps, std::move(bytes)});
    return out;
  }

  static index::leftover left_image(size_t bytes = image_bytes) {
    index::leftover out;
    out.image.assign(bytes, std::byte{7});
    out.px = {16, 16};
    return out;
  }

  // Runs the order; returns the resulting code.
  ec run(const std::optional<fetch_stage::work>& order) {
    BOOST_REQUIRE(order);
    return test::code_of(stage.run(test::crossed(*order), here));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stages_fetch_test, fixture)

BOOST_AUTO_TEST_CASE(it_stands_in_each_leg_and_may_be_chosen_without) {
  const auto& row = stage.row();
  BOOST_TEST(row.name == "fetch");
  BOOST_TEST((row.hook == planning::hook::each_leg));
  BOOST_TEST((row.place == planning::place::background));
  BOOST_TEST((row.otherwise == planning::if_failed::choose_again));
}

BOOST_AUTO_TEST_CASE(it_writes_what_its_leg_starts_from) {
  const auto writes = [&](const planning::leg* in, held name) {
    for (const auto& x : stage.row().slots)
      if (x.name == name && x.applies(in, false)) {
        BOOST_TEST((x.mode == planning::access::writes));
        return true;
      }
    return false;
  };
  planning::leg leg;
  for (const auto& [starts, state, source] :
       {std::tuple{origin::noise, false, false},
        {origin::latent, true, false},
        {origin::image, false, true},
        {origin::stage_image, false, false},
        {origin::template_image, false, false}}) {
    leg.from = starts;
    BOOST_TEST(writes(&leg, held::state) == state);
    BOOST_TEST(writes(&leg, held::source) == source);
    BOOST_TEST(!writes(&leg, held::pixels));
  }
  BOOST_TEST(!writes(nullptr, held::state));
  BOOST_TEST(!writes(nullptr, held::source));
  BOOST_TEST(writes(nullptr, held::pixels));
}

BOOST_AUTO_TEST_CASE(legs_from_elsewhere_are_not_its_business) {
  keep(left(state(5, 1)));
  BOOST_TEST((stage.begin(from_state()) != std::nullopt));
  for (const auto starts :
       {origin::noise, origin::stage_image, origin::template_image}) {
    along.legs.clear();
    add_leg(starts);
    auto view = row();
    view.from = &from;
    view.skip = 5;
    BOOST_TEST((stage.begin(view) == std::nullopt));
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_fetched_where_there_is_nothing_to_do) {
  keep(left(state(5, 1)));
  auto without_match = from_state();
  without_match.from = nullptr;
  BOOST_TEST((stage.begin(without_match) == std::nullopt));
  auto whole = from_state();
  whole.skip = 0;
  BOOST_TEST((stage.begin(whole) == std::nullopt));
  auto resumed = from_state();
  resumed.holds[static_cast<size_t>(held::state)] = true;
  BOOST_TEST((stage.begin(resumed) == std::nullopt));
  auto has_image = from_image();
  has_image.holds[static_cast<size_t>(held::source)] = true;
  BOOST_TEST((stage.begin(has_image) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(a_state_arrives_bit_by_bit_as_that_publication) {
  const auto bytes = state(5, 0.25f, latent.elements());
  keep(left(bytes));
  here.writes[held::state] = slot(ipc::slot_kind::state);
  const auto order = stage.begin(from_state());
  BOOST_TEST((stage.takes(*order, costs) == costs.prepare));
  BOOST_TEST((run(order) == ec::none));
  BOOST_TEST(*slots.published(here.writes[held::state]) == 6u);
  BOOST_TEST((published(here.writes[held::state]) == bytes));
  BOOST_TEST(kept->counts().dropped_torn == 0u);
}

BOOST_AUTO_TEST_CASE(an_image_arrives_for_a_leg_and_for_an_answer) {
  const auto left_one = left_image();
  keep(left_one);
  here.writes[held::source] = slot(ipc::slot_kind::image);
  BOOST_TEST((run(stage.begin(from_image())) == ec::none));
  BOOST_TEST(*slots.published(here.writes[held::source]) == 1u);
  const auto source = published(here.writes[held::source]);
  const auto parts = gpu::parse_source(source);
  BOOST_REQUIRE(parts);
  BOOST_TEST((parts->px == core::extent{16, 16}));
  BOOST_TEST(parts->mask.empty());
  BOOST_TEST(std::ranges::equal(std::as_bytes(parts->pixels), left_one.image));

  along = {};
  along.from = origin::image;
  auto answer = row();
  answer.from = &from;
  here.writes[held::pixels] = slot(ipc::slot_kind::image, 1);
  BOOST_TEST((run(stage.begin(answer)) == ec::none));
  BOOST_TEST((published(here.writes[held::pixels]) == left_one.image));
}

// Three requests skip 5 steps with the first image, and one skips all its 20
// steps with the second.
BOOST_AUTO_TEST_CASE(the_cache_counts_the_steps_that_requests_skip) {
  const auto small = std::make_shared<index::memory>(
    index::cache_bounds{1 << 20, 2, 0, core::eviction_rule::lcbfu});
  const fetch_stage sut{small};
  const auto keep_one = [&] {
    BOOST_REQUIRE(small->keep(key(), "a red fox", left_image()));
  };
  keep_one();
  keep_one();
  const auto fetch = [&](uint64_t entry, const planning::row_view& row) {
    from.entry = entry;
    here.writes[held::source] = slot(ipc::slot_kind::image);
    here.writes[held::pixels] = slot(ipc::slot_kind::image, 1);
    BOOST_TEST((test::code_of(sut.run(test::crossed(*sut.begin(row)), here))
                == ec::none));
  };
  for (int i = 0; i < 3; ++i)
    fetch(1, from_image());
  along = {};
  along.from = origin::image;
  auto answer = row();
  answer.from = &from;
  fetch(2, answer);
  keep_one();
  const auto left = small->near(key(), "a red fox", {3});
  BOOST_REQUIRE(left.size() == 2u);
  BOOST_TEST(left[0].entry == 3u);
  BOOST_TEST(left[1].entry == 2u);
}

BOOST_AUTO_TEST_CASE(an_image_has_the_size_of_the_whole_run) {
  costs.variants[1].native_px = {8, 8};
  costs.variants[1].native_only = true;
  keep(left_image());
  auto view = from_image();
  const auto small =
    planning::recipe_of(wanted, along.legs.front(), core::variant_id{1}, costs);
  BOOST_REQUIRE((small.px == core::extent{8, 8}));
  view.recipe = &small;
  here.writes[held::source] = slot(ipc::slot_kind::image);
  BOOST_TEST((run(stage.begin(view)) == ec::none));
  // The image is scaled to the size that the leg draws.
  const auto source = published(here.writes[held::source]);
  const auto parts = gpu::parse_source(source);
  BOOST_REQUIRE(parts);
  BOOST_TEST((parts->px == small.px));
}

BOOST_AUTO_TEST_CASE(what_is_gone_is_told_and_nothing_published) {
  keep(left(state(5, 1)));
  here.writes[held::state] = slot(ipc::slot_kind::state);
  here.writes[held::source] = slot(ipc::slot_kind::image);
  BOOST_TEST((run(stage.begin(from_image())) == ec::not_found));
  auto too_far = from_state();
  too_far.skip = 6;
  BOOST_TEST((run(stage.begin(too_far)) == ec::not_found));
  kept->drop_torn(from.entry);
  BOOST_TEST((run(stage.begin(from_state())) == ec::not_found));
  BOOST_TEST(*slots.published(here.writes[held::state]) == 0u);
  BOOST_TEST(*slots.published(here.writes[held::source]) == 0u);
}

BOOST_AUTO_TEST_CASE(a_state_that_cannot_be_gone_on_from_is_dropped) {
  const auto with = [](float bad, size_t at, size_t history = 0) {
    auto out = state(5, 1, history);
    std::memcpy(out.data() + sizeof(gpu::state_head) + 4 * at, &bad, 4);
    return out;
  };
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  constexpr auto infinite = std::numeric_limits<float>::infinity();
  auto short_by_one = state(5, 1);
  short_by_one.pop_back();
  auto no_magic = state(5, 1);
  no_magic[0] ^= std::byte{1};
  const std::vector<std::byte> cases[] = {
    std::vector<std::byte>(10),
    no_magic,
    short_by_one,
    state(4, 1),
    state(5, 1, 0, {}, {4, 2, 3}),
    state(5, 1, 0, {}, {4, 4, 1}),
    state(5, 1, 3),
    with(nan, 0),
    with(infinite, latent.elements() - 1),
    with(-infinite, latent.elements() + 2, latent.elements()),
  };
  uint64_t dropped = 0;
  for (const auto& bytes : cases) {
    keep(left(bytes));
    here.writes[held::state] = slot(ipc::slot_kind::state);
    const auto order = stage.begin(from_state());
    BOOST_TEST((run(order) == ec::bad_payload));
    BOOST_TEST(*slots.published(here.writes[held::state]) == 0u);
    BOOST_TEST(kept->counts().dropped_torn == ++dropped);
    BOOST_TEST((run(order) == ec::not_found));
  }
}

BOOST_AUTO_TEST_CASE(an_image_of_other_bytes_than_its_size_is_dropped) {
  keep(left_image(image_bytes - 1));
  here.writes[held::source] = slot(ipc::slot_kind::image);
  BOOST_TEST((run(stage.begin(from_image())) == ec::bad_payload));
  BOOST_TEST(*slots.published(here.writes[held::source]) == 0u);
  BOOST_TEST(kept->counts().dropped_torn == 1u);
}

BOOST_AUTO_TEST_CASE(torn_bytes_are_never_published) {
  keep(left(state(5, 1)));
  const auto bytes = *kept->state(from.entry, 5);
  const_cast<std::byte&>(bytes->back()) ^= std::byte{1};
  here.writes[held::state] = slot(ipc::slot_kind::state);
  BOOST_TEST((run(stage.begin(from_state())) == ec::bad_payload));
  BOOST_TEST(*slots.published(here.writes[held::state]) == 0u);
  BOOST_TEST(kept->counts().dropped_torn == 1u);
}

BOOST_AUTO_TEST_CASE(a_slot_that_is_too_small_or_stale_is_told) {
  keep(left(state(5, 1)));
  ipc::heap_store small{1, {1, 1, 1}, {64, 64, 64}};
  const ipc::slot_ref at{1, 0, 1, ipc::slot_kind::state};
  small.open(at);
  planning::worker_context there{small, {}, {}, here.now, notes};
  there.writes[held::state] = at;
  BOOST_TEST((test::code_of(stage.run(*stage.begin(from_state()), there))
              == ec::out_of_resources));
  BOOST_TEST(*small.published(at) == 0u);
  here.writes[held::state] = slot(ipc::slot_kind::state);
  slot(ipc::slot_kind::state);
  BOOST_TEST((run(stage.begin(from_state())) == ec::incompatible));
  BOOST_TEST(kept->counts().dropped_torn == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
