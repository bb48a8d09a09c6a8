// SPDX-License-Identifier: Apache-2.0
#include "stages_rig.hpp"
#include <atelier/actors/stages/remember.hpp>
#include <atelier/actors/stages/search.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <optional>

namespace {

using namespace atelier;
using actors::remember_stage;
using core::ec;
using planning::held;
using planning::origin;

static_assert(planning::stage_type<remember_stage>);

// Keeps only the tenant of the last leftover.
struct tenant_witness : index::kept_work {
  std::vector<planning::match> near(std::string_view, std::string_view,
                                    const index::search_terms&) override {
    return {};
  }

  core::result<index::payload> state(uint64_t, uint32_t) override {
    return core::fail(ec::not_found, "nothing is kept");
  }

  core::result<index::payload> image(uint64_t, core::extent,
                                     uint32_t) override {
    return core::fail(ec::not_found, "nothing is kept");
  }

  void drop_torn(uint64_t) override {}

  bool keep(std::string_view, std::string_view, index::leftover what) override {
    whose = what.whose;
    return true;
  }

  index::kept_counts counts() const override {
    return {};
  }

  core::result<std::vector<index::kept_entry>> list(
    const index::entry_page&) override {
    return std::vector<index::kept_entry>{};
  }

  core::tenant_id whose;
};

struct fixture : test::stages_rig {
  remember_stage stage{kept, 2};

  fixture() {
    add_leg(origin::noise);
    along.store = {true, true};
  }

  // Returns an answered row whose slots may be kept.
  planning::row_view answered() {
    auto out = row();
    out.leg = nullptr;
    out.holds[static_cast<size_t>(held::capture)] = true;
    out.holds[static_cast<size_t>(held::pixels)] = true;
    out.px = out.recipe->px;
    return out;
  }

  void capture(const std::vector<std::byte>& bytes) {
    const auto n = static_cast<uint32_t>(here.reads.captures.size());
    const auto at = slot(ipc::slot_kind::capture, n);
    if (!bytes.empty())
      publish(at, bytes);
    here.reads.captures.push_back(at);
    here.reads[held::capture] = here.reads.captures.front();
  }

  void draw(size_t bytes = image_bytes) {
    here.reads[held::pixels] = slot(ipc::slot_kind::image);
    publish(here.reads[held::pixels],
            std::vector<std::byte>(bytes, std::byte{7}));
  }

  // Runs the stage for a row; returns the resulting code.
  ec remember(const planning::row_view& of) {
    const auto order = stage.begin(of);
    BOOST_REQUIRE(order);
    const auto told = stage.run(test::crossed(*order), here);
    if (told) {
      BOOST_TEST(test::crossed(*told).kept);
      BOOST_TEST((test::code_of(stage.end(*told, known)) == ec::none));
    }
    return test::code_of(told);
  }

  // Returns the matches that a search of this request would find.
  std::vector<planning::match> near() {
    planning::row_view asking{wanted, known, costs};
    asking.asked.near = true;
    const actors::search_stage search{kept, nullptr, std::chrono::seconds{1},
                                      1};
    return search.run(*search.begin(asking), here)->near;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stages_remember_test, fixture)

BOOST_AUTO_TEST_CASE(it_reads_after_the_answer) {
  const auto& row = stage.row();
  BOOST_TEST(row.name == "remember");
  BOOST_TEST((row.hook == planning::hook::after_answer));
  BOOST_TEST((row.place == planning::place::background));
  BOOST_TEST((row.otherwise == planning::if_failed::go_on));
  for (const auto& x : row.slots) {
    BOOST_TEST((x.mode == planning::access::reads));
    BOOST_TEST((x.name == held::capture || x.name == held::pixels));
  }
  BOOST_TEST(row.slots.size() == 2u);
}

BOOST_AUTO_TEST_CASE(only_what_the_route_stores_and_the_row_holds_is_kept) {
  const auto order_of = [&](planning::store_set store, bool capture,
                            bool pixels) {
    along.store = store;
    auto view = answered();
    view.holds[static_cast<size_t>(held::capture)] = capture;
    view.holds[static_cast<size_t>(held::pixels)] = pixels;
    const auto order = stage.begin(view);
    return std::pair{order && order->states, order && order->image};
  };
  BOOST_TEST((order_of({true, true}, true, true) == std::pair{true, true}));
  BOOST_TEST((order_of({true, true}, false, true) == std::pair{false, true}));
  BOOST_TEST((order_of({true, true}, true, false) == std::pair{true, false}));
  BOOST_TEST((order_of({false, true}, true, true) == std::pair{false, true}));
  BOOST_TEST((order_of({true, false}, true, true) == std::pair{true, false}));
  BOOST_TEST((order_of({false, false}, true, true) == std::pair{false, false}));
  BOOST_TEST((order_of({true, true}, false, false) == std::pair{false, false}));
  along.store = {};
  BOOST_TEST((stage.begin(answered()) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(what_no_search_could_find_is_not_kept) {
  const auto whole = stage.begin(answered());
  BOOST_REQUIRE(whole);
  BOOST_TEST(whole->depth == 0u);
  // States serve only the variant of the whole run. Images serve every variant
  // that draws in that size.
  auto by_other = how;
  by_other.variant = core::variant_id{1};
  auto refined = how;
  refined.from_image = true;
  auto view = answered();
  for (const auto* other : {&by_other, &refined}) {
    view.recipe = other;
    const auto order = stage.begin(view);
    BOOST_REQUIRE(order);
    BOOST_TEST(order->key == key());
    BOOST_TEST(!order->states);
    BOOST_TEST(order->image);
    // It is none that the whole run drew.
    BOOST_TEST(order->depth == 1u);
  }
  auto smaller = how;
  smaller.px = {8, 8};
  auto scaled = how;
  scaled.scaled_to = {32, 32};
  for (const auto* other : {&smaller, &scaled}) {
    auto states_alone = *other;
    states_alone.variant = core::variant_id{1};
    view.recipe = &states_alone;
    BOOST_TEST((stage.begin(view) == std::nullopt));
  }
  wanted.source = std::make_shared<core::source_images>();
  BOOST_TEST((stage.begin(answered()) == std::nullopt));
  wanted.source = nullptr;
  wanted.kind = core::request_kind::probe;
  BOOST_TEST((stage.begin(answered()) == std::nullopt));
  wanted.kind = core::request_kind::generate;
  costs.reuse.reset();
  BOOST_TEST((stage.begin(answered()) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(what_is_kept_is_its_tenants) {
  const auto seen = std::make_shared<tenant_witness>();
  stage = remember_stage{seen, 2};
  wanted.tenant = core::tenant_id{7};
  capture(state(5, 0.5f, latent.elements()));
  draw();
  BOOST_TEST((remember(answered()) == ec::none));
  BOOST_TEST((seen->whose == core::tenant_id{7}));
}

BOOST_AUTO_TEST_CASE(a_found_answer_is_not_kept_again) {
  along.legs.clear();
  along.from = origin::image;
  BOOST_TEST((stage.begin(answered()) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(states_and_image_are_kept_and_found_by_the_same_prompt) {
  const auto five = state(5, 0.5f, latent.elements());
  const auto ten = state(10, 0.75f);
  capture(ten);
  capture(five);
  draw();
  how.seed = 7;
  BOOST_TEST((stage.takes(*stage.begin(answered()), costs) == costs.finish));
  BOOST_TEST((remember(answered()) == ec::none));
  wanted.seed = 99;
  const auto found = near();
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST((found.front().stored == std::vector<uint32_t>{5, 10}));
  BOOST_TEST(found.front().depth == 0u);
  BOOST_TEST(found.front().seeded);
  BOOST_TEST(found.front().seed == 7u);
  BOOST_TEST((**kept->state(found.front().entry, 5) == five));
  BOOST_TEST((**kept->state(found.front().entry, 10) == ten));
  BOOST_TEST((**kept->image(found.front().entry, {16, 16}, 5)
              == std::vector<std::byte>(image_bytes, std::byte{7})));
}

BOOST_AUTO_TEST_CASE(a_preview_is_not_kept) {
  capture(state(5, 0.5f, latent.elements(), {4, 3}));
  along.store.image = false;
  BOOST_TEST((remember(answered()) == ec::none));
  const auto found = near();
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST((**kept->state(found.front().entry, 5)
              == state(5, 0.5f, latent.elements())));
}

BOOST_AUTO_TEST_CASE(a_state_captured_twice_is_kept_once) {
  capture(state(5, 0.5f));
  capture({});
  capture(state(5, 0.5f));
  draw();
  BOOST_TEST((remember(answered()) == ec::none));
  BOOST_TEST((near().front().stored == std::vector<uint32_t>{5}));
}

BOOST_AUTO_TEST_CASE(what_was_made_of_earlier_work_is_deeper_up_to_a_bound) {
  const auto depth_from = [&](origin starts,
                              uint32_t skip) -> std::optional<uint32_t> {
    along.legs.front().from = starts;
    auto view = answered();
    view.from = &from;
    view.skip = skip;
    const auto order = stage.begin(view);
    return order ? std::optional{order->depth} : std::nullopt;
  };
  for (const uint32_t depth : {0u, 1u}) {
    from.depth = depth;
    BOOST_TEST((depth_from(origin::image, 0) == depth + 1));
    BOOST_TEST((depth_from(origin::latent, 5) == depth + 1));
    // Its state was not used.
    BOOST_TEST((depth_from(origin::latent, 0) == 0u));
    BOOST_TEST((depth_from(origin::noise, 0) == 0u));
  }
  from.depth = 2;
  BOOST_TEST((depth_from(origin::image, 0) == std::nullopt));
  BOOST_TEST((depth_from(origin::latent, 5) == std::nullopt));
  BOOST_TEST((depth_from(origin::noise, 0) == 0u));
}

BOOST_AUTO_TEST_CASE(what_was_made_of_work_for_its_own_prompt_is_not_kept) {
  along.legs.front().from = origin::image;
  auto view = answered();
  view.from = &from;
  from.similarity = 0.999;
  BOOST_TEST((stage.begin(view) != std::nullopt));
  from.similarity = 1;
  BOOST_TEST((stage.begin(view) == std::nullopt));
  along.legs.front().from = origin::noise;
  BOOST_TEST((stage.begin(view) != std::nullopt));
}

BOOST_AUTO_TEST_CASE(fifty_generations_of_reuse_stay_near_what_was_drawn) {
  draw();
  wanted.text.positive = "a red fox sits in deep snow";
  BOOST_REQUIRE((remember(answered()) == ec::none));
  along.legs.front().from = origin::image;
  const auto first = wanted.text.positive;
  for (const bool same_prompt : {true, false})
    for (int i = 0; i < 50; ++i) {
      if (!same_prompt)
        wanted.text.positive = first + " number " + std::to_string(i);
      const auto found = near();
      BOOST_REQUIRE(!found.empty());
      auto view = answered();
      view.from = &found.front();
      if (stage.begin(view))
        BOOST_REQUIRE((remember(view) == ec::none));
      for (const auto& x : near())
        BOOST_TEST(x.depth <= 2u);
      if (same_prompt)
        BOOST_TEST(near().size() == 1u);
    }
}

// Requests with parameters of their own are not searched for.
BOOST_AUTO_TEST_CASE(what_no_other_request_finds_is_not_kept) {
  const auto is_kept = [this] {
    how = planning::recipe_of(wanted, {}, core::variant_id{0}, costs);
    return stage.begin(answered()).has_value();
  };
  const auto usual = how.guidance;
  BOOST_TEST(is_kept());
  wanted.fixed.guidance = usual;
  BOOST_TEST(is_kept());
  wanted.fixed.guidance = usual + 1;
  BOOST_TEST(!is_kept());
  wanted.fixed.guidance.reset();
  wanted.fixed.eta = 0.5f;
  BOOST_TEST(!is_kept());
}

BOOST_AUTO_TEST_CASE(what_is_not_sound_is_told_and_not_kept) {
  const std::vector<std::byte> cases[] = {
    std::vector<std::byte>(20),
    state(5, std::numeric_limits<float>::infinity()),
    state(5, 1, 0, {}, {4, 2, 1}),
    state(5, 1, 1),
  };
  for (const auto& bytes : cases) {
    here.reads = {};
    capture(state(4, 1));
    capture(bytes);
    draw();
    BOOST_TEST((remember(answered()) == ec::bad_payload));
  }
  here.reads = {};
  capture(state(5, 1));
  draw(image_bytes + 1);
  BOOST_TEST((remember(answered()) == ec::bad_payload));
  slot(ipc::slot_kind::image);
  BOOST_TEST((remember(answered()) == ec::incompatible));
  BOOST_TEST(kept->counts().entries == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_too_large_is_told_as_not_kept) {
  const auto little =
    std::make_shared<index::memory>(index::cache_bounds{100, 10});
  capture(state(5, 1));
  draw();
  const remember_stage to_little{little, 2};
  const auto told = to_little.run(*to_little.begin(answered()), here);
  BOOST_REQUIRE(told);
  BOOST_TEST(!told->kept);
}

BOOST_AUTO_TEST_SUITE_END()
