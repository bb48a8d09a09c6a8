// SPDX-License-Identifier: Apache-2.0
#include "actors/parts_rig.hpp"
#include "support/told_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::slot_counts;
using planning::held;
using test::parts_rig;

constexpr core::tenant_id ann{1};
constexpr core::tenant_id ben{2};

constexpr auto state_kind = static_cast<size_t>(ipc::slot_kind::state);
constexpr auto image_kind = static_cast<size_t>(ipc::slot_kind::image);

// An eighth of 16 slots is left for others by rows that are prepared, half of
// that by rows that are drawn.
struct rig : parts_rig {
  explicit rig(slot_counts slots = {16, 16, 0}, uint32_t legs = 1)
    : parts_rig(with(slots, legs)) {}

  static options with(slot_counts slots, uint32_t legs) {
    options o;
    o.slots = slots;
    o.adjust = [legs](planning::plan& x) {
      auto& along = x.routes[0].legs;
      while (along.size() < legs)
        along.push_back(along.front());
    };
    return o;
  }

  const actors::slot_shares& sut = of.shares;

  actors::row& at_stage(std::string_view stage, core::tenant_id whose = {}) {
    auto& r = accept(whose);
    route(r);
    if (stage == "finish") {
      r.course.end_leg(core::ec::none);
      r.course.finish();
    }
    enter(r, stage);
    return r;
  }

  // A row that a device is about to take.
  actors::row& prepared(core::tenant_id whose = {}) {
    auto& r = accept(whose);
    route(r);
    prepare(r);
    return r;
  }

  // The slots that its route makes a row leave.
  static const slot_counts& reserve(const actors::row& r) {
    return r.course.stage_slots().reserve;
  }

  // A request waits for so many image slots.
  actors::row& awaits(uint32_t images) {
    auto& r = accept();
    of.slots.wait_for_images(id_of(r), images);
    return r;
  }
};

struct two_leg_rig : rig {
  two_leg_rig() : rig({16, 16, 0}, 2) {}
};

struct tight_rig : rig {
  tight_rig() : rig({3, 3, 0}) {}
};

// Before a row is prepared, "look" reads its files and "grade" uses no slot.
struct reading_rig : parts_rig {
  reading_rig() : parts_rig(with()) {}

  static options with() {
    const auto stage = [](std::string_view name,
                          std::vector<planning::slot_use> slots) {
      return test::told(name, planning::hook::each_leg,
                        planning::if_failed::fail, std::move(slots));
    };
    actors::standard_stages own;
    own.fetch = stage("look", {{held::files}});
    options o;
    o.slots = {16, 16, 0};
    o.stages = test::pipeline_with(own, {{stage("grade", {}), "look"}});
    return o;
  }

  actors::row& edit_at(std::string_view stage) {
    auto& r = accept([](core::request& x) {
      x.tenant = ann;
      bring_image(x);
    });
    route(r);
    enter(r, stage);
    return r;
  }

  void take_all_images() {
    auto& other = accept();
    while (of.slots.free(ipc::slot_kind::image) > 0)
      write(other, {held::source});
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(slot_shares_test, rig)

// -- pools --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(stage_takes_and_leaves_what_its_route_says) {
  device(2);
  for (const auto stage : {"prepare", "denoise", "finish"}) {
    const auto& r = at_stage(stage);
    const auto needs = sut.needs_of(r);
    BOOST_TEST((needs.takes == r.course.stage_slots().granted));
    BOOST_TEST((needs.leaves == reserve(r)));
    BOOST_TEST((needs.takes != slot_counts{}));
  }
}

BOOST_AUTO_TEST_CASE(tenant_with_rows_ahead_leaves_slots_of_the_kind_it_takes) {
  waits_to_draw();
  const auto& first = at_stage("prepare", ann);
  BOOST_TEST((sut.needs_of(first).leaves == reserve(first)));
  waits_to_draw(ann);
  auto expected = reserve(first);
  expected[state_kind] += 2;
  BOOST_TEST((sut.needs_of(first).leaves == expected));
  // Other tenants have nothing ahead.
  const auto& other = at_stage("prepare", ben);
  BOOST_TEST((sut.needs_of(other).leaves == reserve(other)));
  const auto& unnamed = at_stage("prepare");
  BOOST_TEST((sut.needs_of(unnamed).leaves == reserve(unnamed)));
}

BOOST_AUTO_TEST_CASE(tenant_with_rows_at_devices_leaves_slots) {
  draws_at(device(2), ann);
  const auto& r = at_stage("prepare", ann);
  auto expected = reserve(r);
  expected[state_kind] += 2;
  BOOST_TEST((sut.needs_of(r).leaves == expected));
}

BOOST_AUTO_TEST_CASE(each_active_tenant_without_any_has_a_slot_left) {
  draws_at(device(2), ann);
  const auto& r = at_stage("prepare", ann);
  const auto left = [&] {
    return sut.needs_of(r).leaves[state_kind] - reserve(r)[state_kind];
  };
  accept(ben);
  BOOST_TEST(left() == 2u);
  accept(core::tenant_id{3});
  BOOST_TEST(left() == 3u);
  // Tenants that have some are no others.
  waits_to_draw(ben);
  BOOST_TEST(left() == 2u);
  // A fourth of all is left at most.
  for (uint64_t i = 4; i < 12; ++i)
    accept(core::tenant_id{i});
  BOOST_TEST(left() == 4u);
}

BOOST_AUTO_TEST_CASE(files_of_a_source_take_an_image_slot_from_others) {
  waits_to_draw(ann);
  auto& r = accept([](core::request& x) {
    x.tenant = ann;
    bring_image(x);
  });
  route(r);
  enter(r, "prepare");
  BOOST_TEST_REQUIRE(r.course.stage_slots().reads_files);
  auto expected = reserve(r);
  expected[state_kind] += 2;
  expected[image_kind] += 2;
  BOOST_TEST((sut.needs_of(r).leaves == expected));
}

BOOST_FIXTURE_TEST_CASE(row_in_a_later_leg_leaves_nothing_to_others,
                        two_leg_rig) {
  waits_to_draw(ann);
  auto& r = at_stage("prepare", ann);
  BOOST_TEST((sut.needs_of(r).leaves != reserve(r)));
  r.course.begin_leg(1);
  BOOST_TEST((sut.needs_of(r).leaves == reserve(r)));
}

BOOST_FIXTURE_TEST_CASE(row_has_slots_while_enough_are_free, tight_rig) {
  const auto& r = at_stage("prepare");
  const auto needs = sut.needs_of(r);
  BOOST_TEST((needs.takes == slot_counts{1, 0, 0}));
  BOOST_TEST((needs.leaves == slot_counts{1, 2, 0}));
  auto& other = accept();
  write(other, {held::state});
  // Exactly those that it takes and leaves are free.
  BOOST_TEST(sut.has_slots(r));
  write(accept(), {held::state});
  BOOST_TEST(!sut.has_slots(r));
  of.slots.end(id_of(other));
  BOOST_TEST(sut.has_slots(r));
  write(accept(), {held::source});
  BOOST_TEST(sut.has_slots(r));
  write(accept(), {held::source});
  BOOST_TEST(!sut.has_slots(r));
}

BOOST_FIXTURE_TEST_CASE(stage_that_takes_no_slot_needs_none, reading_rig) {
  const auto& r = edit_at("grade");
  take_all_images();
  BOOST_TEST(of.shares.has_slots(r));
  const auto& reads = edit_at("look");
  BOOST_TEST((of.shares.needs_of(reads).takes == slot_counts{}));
  BOOST_TEST(!of.shares.has_slots(reads));
}

BOOST_FIXTURE_TEST_CASE(files_alone_take_an_image_slot_from_others,
                        reading_rig) {
  const auto& r = edit_at("look");
  const auto before = of.shares.needs_of(r).leaves[image_kind];
  waits_to_draw(ann);
  BOOST_TEST(of.shares.needs_of(r).leaves[image_kind] == before + 2);
}

BOOST_AUTO_TEST_CASE(row_that_is_finished_leaves_nothing_to_others) {
  waits_to_draw(ann);
  const auto& r = at_stage("finish", ann);
  BOOST_TEST((sut.needs_of(r).leaves == reserve(r)));
}

// -- devices ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_leaves_slots_if_its_tenant_has_some_at_the_device) {
  auto& w = device(2);
  auto& elsewhere = device(3);
  const auto& r = prepared(ann);
  draws_at(elsewhere, ann);
  draws_at(w, ben);
  BOOST_TEST((sut.left_at(w, r) == reserve(r)));
  draws_at(w, ann);
  auto expected = reserve(r);
  ++expected[state_kind];
  ++expected[image_kind];
  BOOST_TEST((sut.left_at(w, r) == expected));
}

BOOST_AUTO_TEST_CASE(drawing_leaves_images_to_a_request_that_waits_for_some) {
  auto& w = device(2);
  const auto& r = prepared();
  awaits(3);
  // Nothing runs that will free any.
  BOOST_TEST((sut.left_at(w, r) == reserve(r)));
  const auto running = draws_at(w);
  auto expected = reserve(r);
  expected[image_kind] += 3;
  BOOST_TEST((sut.left_at(w, r) == expected));
  of.orders.abandon(running);
  BOOST_TEST((sut.left_at(w, r) == reserve(r)));
}

BOOST_AUTO_TEST_CASE(preparing_frees_no_images) {
  auto& w = device(2);
  const auto& r = prepared();
  awaits(3);
  run(waits_to_prepare(), pool(actors::role::preprocess));
  BOOST_TEST((sut.left_at(w, r) == reserve(r)));
}

BOOST_AUTO_TEST_CASE(drawing_that_began_before_leaves_no_images) {
  auto& w = device(2);
  awaits(3);
  draws_at(w);
  auto& r = prepared();
  actors::slots::begin_with(r.held, 1);
  BOOST_TEST((sut.left_at(w, r) == reserve(r)));
}

BOOST_FIXTURE_TEST_CASE(row_in_a_later_leg_leaves_no_images, two_leg_rig) {
  auto& w = device(2);
  auto& r = prepared();
  awaits(3);
  draws_at(w);
  BOOST_TEST((sut.left_at(w, r) != reserve(r)));
  r.course.begin_leg(1);
  BOOST_TEST((sut.left_at(w, r) == reserve(r)));
}

BOOST_AUTO_TEST_CASE(suspect_leaves_no_images) {
  auto& w = device(2);
  const auto& r = prepared();
  awaits(3);
  draws_at(w);
  accuse(r);
  BOOST_TEST((sut.left_at(w, r) == reserve(r)));
}

BOOST_AUTO_TEST_CASE(larger_share_leaves_no_images_until_a_smaller_waits_long) {
  auto& w = device(2);
  auto& r = accept([](core::request& x) { x.share = 2; });
  route(r);
  prepare(r);
  draws_at(w);
  const auto left = [&] {
    return sut.left_at(w, r)[image_kind] - reserve(r)[image_kind];
  };
  auto& small = awaits(3);
  BOOST_TEST(left() == 0u);
  for (int i = 0; i < 16; ++i) {
    BOOST_TEST(left() == 0u);
    of.slots.drawing_begins();
  }
  BOOST_TEST(left() == 3u);
  of.slots.end(id_of(small));
  for (int i = 0; i < 16; ++i)
    of.slots.drawing_begins();
  // A request of the same share makes it wait at once.
  const auto& equal = accept([](core::request& x) { x.share = 2; });
  of.slots.wait_for_images(id_of(equal), 2);
  BOOST_TEST(left() == 2u);
}

BOOST_AUTO_TEST_CASE(request_awaits_images_until_it_ends) {
  BOOST_TEST(!sut.awaits_images());
  const auto& r = awaits(2);
  BOOST_TEST(sut.awaits_images());
  of.slots.end(id_of(r));
  BOOST_TEST(!sut.awaits_images());
}

BOOST_AUTO_TEST_SUITE_END()
