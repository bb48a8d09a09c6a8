// SPDX-License-Identifier: Apache-2.0
#include "support/stage_orders.hpp"
#include <atelier/actors/scheduler/slots.hpp>
#include <atelier/actors/source_files.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <initializer_list>
#include <memory>

namespace {

using namespace atelier;
using ipc::slot_kind;
using ipc::slot_state;
using planning::held;

constexpr ipc::process_life cpu{core::process_id{1}, core::incarnation{1}};
constexpr ipc::process_life device{core::process_id{2}, core::incarnation{1}};
constexpr core::ticket first{core::request_id{1}, 1};
constexpr core::ticket second{core::request_id{2}, 1};

struct rig {
  std::shared_ptr<ipc::heap_store> store = std::make_shared<ipc::heap_store>(
    1, actors::slot_counts{2, 3, 0}, std::array<uint64_t, 3>{64, 64, 0});
  actors::slots sut{1, {2, 3, 0}, store};

  slot_state state_of(const ipc::slot_ref& slot) const {
    return *sut.keeper().state_of(slot);
  }

  /// A stage writes these for a request, which keeps them.
  void write(actors::holding& into, core::ticket who,
             std::initializer_list<held> names,
             core::phase at = core::phase::preparing, uint64_t seq = 1) {
    BOOST_TEST_REQUIRE(sut.grant(who, cpu, names, {}) != nullptr);
    const auto done = sut.conclude(who);
    for (const auto name : names)
      BOOST_REQUIRE(store->publish(done.granted[name], seq, 0));
    BOOST_REQUIRE(sut.keep(into, done, at, "any", 10));
  }

  /// A stage replaces a request's pixels, by others of this size.
  void replace(actors::holding& into, core::phase at, core::extent px) {
    BOOST_TEST_REQUIRE(sut.grant(second, cpu, {held::pixels}, {}) != nullptr);
    sut.read(second, cpu, held::pixels, into[held::pixels]);
    const auto done = sut.conclude(second);
    BOOST_REQUIRE(store->publish(done.granted[held::pixels], 1, 0));
    BOOST_REQUIRE(sut.keep(into, done, at, "any", 10, px));
  }

  /// A device ends a leg, with or without an image.
  void draw(actors::holding& into, core::ticket who, bool with_image) {
    BOOST_TEST_REQUIRE(sut.grant(who, device, {held::state, held::pixels}, {})
                       != nullptr);
    sut.read(who, device, held::state, into[held::state]);
    sut.end_leg(into, sut.conclude(who), with_image);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(slots_test, rig)

BOOST_AUTO_TEST_CASE(a_size_belongs_to_the_pixels_that_a_stage_gave_it) {
  constexpr core::extent small{64, 64};
  constexpr core::extent large{128, 128};
  constexpr auto after = core::phase::finishing;
  actors::holding has;
  draw(has, first, true);
  BOOST_TEST((has.px() == core::extent{}));
  replace(has, after, large);
  BOOST_TEST((has.px() == large));
  replace(has, after, {});
  BOOST_TEST((has.px() == large));
  // Another leg starts from pixels of its own, and fails.
  replace(has, core::phase::preparing, {});
  BOOST_TEST((has.px() == large));
  replace(has, core::phase::preparing, small);
  BOOST_TEST((has.px() == small));
  draw(has, first, false);
  BOOST_TEST((has.px() == large));
  draw(has, first, true);
  BOOST_TEST((has.px() == core::extent{}));
}

BOOST_AUTO_TEST_CASE(
  the_newest_image_stays_while_a_leg_starts_from_a_change_of_it) {
  actors::holding has;
  draw(has, first, true);
  const auto image = has[held::pixels];
  replace(has, core::phase::preparing, {});
  BOOST_TEST(has.found());
  draw(has, first, false);
  BOOST_TEST((has[held::pixels] == image));
  BOOST_TEST(sut.holds(image));
}

BOOST_AUTO_TEST_CASE(a_dispatch_is_granted_all_or_none) {
  BOOST_TEST(sut.grant(first, device, {held::state, held::pixels}, {})
             != nullptr);
  BOOST_TEST(
    sut.grant(second, device, {held::pixels, held::state, held::state}, {})
    == nullptr);
  BOOST_TEST(sut.free(slot_kind::image) == 2u);
  BOOST_TEST(sut.free(slot_kind::state) == 1u);
  BOOST_TEST(sut.dispatches() == 1u);
  BOOST_TEST(sut.all() == 5u);
  BOOST_TEST(sut.in_use() == 2u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_grant_leaves_its_reserve) {
  BOOST_TEST(sut.grant(first, device, {held::pixels}, {0, 3, 0}) == nullptr);
  BOOST_TEST(sut.grant(first, device, {held::pixels}, {0, 2, 0}) != nullptr);
  BOOST_TEST(sut.grant(second, device, {held::pixels}, {0, 2, 0}) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_granted_slot_is_ready_for_its_writer) {
  const auto slot =
    sut.grant(first, device, {held::state}, {})->granted[held::state];
  BOOST_TEST(*store->published(slot) == 0u);
  BOOST_REQUIRE(store->publish(slot, 4, 0));
  BOOST_TEST(*store->published(slot) == 4u);
}

BOOST_AUTO_TEST_CASE(files_are_there_for_the_worker_that_decodes_them) {
  core::source_images files;
  files.image = {1, 2, 3};
  constexpr std::array wanted{held::state, held::source};
  const auto* given =
    sut.grant_with_files(first, cpu, wanted, files, {1, 1, 0});
  BOOST_REQUIRE(given != nullptr);
  BOOST_TEST(static_cast<bool>(given->granted[held::state]));
  BOOST_TEST(static_cast<bool>(given->granted[held::source]));
  BOOST_TEST(given->reads_files);
  const auto bytes = store->view(given->reading[held::files]);
  BOOST_REQUIRE(bytes);
  const auto found = actors::parse_source_files(*bytes);
  BOOST_REQUIRE(found);
  BOOST_TEST(found->image == files.image, boost::test_tools::per_element());
  const auto done = sut.conclude(first);
  const auto& were = done.reading[held::files];
  BOOST_TEST(sut.holds(were));
  sut.discard(done);
  BOOST_TEST(!sut.holds(were));
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(files_take_one_of_the_slots_that_stay_free) {
  core::source_images files;
  files.image = {1};
  constexpr std::array wanted{held::state, held::source};
  BOOST_TEST(sut.grant_with_files(first, cpu, wanted, files, {1, 3, 0})
             == nullptr);
  BOOST_TEST(sut.grant_with_files(first, cpu, wanted, files, {2, 2, 0})
             == nullptr);
  // A stage without other slots is refused, too.
  BOOST_TEST(sut.grant_with_files(first, cpu, {}, files, {0, 4, 0}) == nullptr);
  BOOST_TEST(sut.grant_with_files(first, cpu, {}, files, {3, 1, 0}) == nullptr);
  BOOST_TEST(sut.in_use() == 0u);
  BOOST_TEST(sut.grant_with_files(first, cpu, {}, files, {2, 3, 0}) != nullptr);
  BOOST_TEST(sut.in_use() == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_read_stays_until_the_reply) {
  actors::holding has;
  write(has, second, {held::state, held::source});
  const auto from = has[held::state];
  const auto source = has[held::source];
  sut.grant(first, device, {held::pixels}, {});
  sut.read(first, device, held::state, from);
  sut.read(first, device, held::source, source);
  sut.drop_start(has);
  BOOST_TEST(!has.any());
  BOOST_TEST(sut.holds(from));
  BOOST_TEST(sut.holds(source));
  const auto done = sut.conclude(first);
  BOOST_TEST(sut.free(slot_kind::state) == 2u);
  BOOST_TEST((state_of(done.granted[held::pixels]) == slot_state::held));
  sut.discard(done);
  BOOST_TEST(sut.in_use() == 0u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_publication_replaces_what_was_read) {
  actors::holding has;
  write(has, second, {held::state});
  sut.grant(first, device, {held::state}, {});
  sut.read(first, device, held::state, has[held::state]);
  sut.published(first);
  BOOST_TEST(sut.free(slot_kind::state) == 1u);
  sut.published(first);
  BOOST_TEST(sut.of(first).published);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_device_begins_with_steps_of_earlier_work) {
  actors::holding has;
  write(has, first, {held::state});
  const auto noise = has[held::state];
  actors::slots::begin_with(has, 3);
  BOOST_TEST(has.steps() == 3u);
  BOOST_TEST((has[held::state] == noise));
  sut.begin_leg(has);
  BOOST_TEST(has.steps() == 0u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_stage_that_leaves_a_slot_empty_has_failed) {
  actors::holding has;
  sut.grant(first, cpu, {held::state, held::source}, {});
  const auto done = sut.conclude(first);
  BOOST_REQUIRE(store->publish(done.granted[held::state], 1, 0));
  const auto kept = sut.keep(has, done, core::phase::preparing, "noise", 10);
  BOOST_REQUIRE(!kept);
  BOOST_TEST(kept.why().text == "stage 'noise' left nothing as 'source'");
  BOOST_TEST(!has.any());
}

BOOST_AUTO_TEST_CASE(a_state_with_too_many_steps_is_refused) {
  actors::holding has;
  sut.grant(first, cpu, {held::state}, {});
  const auto done = sut.conclude(first);
  BOOST_REQUIRE(store->publish(done.granted[held::state], 12, 0));
  const auto kept = sut.keep(has, done, core::phase::preparing, "fetch", 10);
  BOOST_REQUIRE(!kept);
  BOOST_TEST(kept.why().text
             == "stage 'fetch' left a state after 11 of 10 "
                "steps");
  BOOST_TEST(!has.any());
  write(has, second, {held::state}, core::phase::preparing, 11);
  BOOST_TEST(has.steps() == 10u);
}

BOOST_AUTO_TEST_CASE(a_leg_that_begins_anew_redraws_what_it_starts_from) {
  actors::holding has;
  write(has, first, {held::pixels});
  sut.begin_leg(has);
  BOOST_TEST(has.found());
  replace(has, core::phase::preparing, {16, 16});
  sut.begin_leg(has);
  BOOST_TEST(!has.found());
  BOOST_TEST(sut.in_use() == 0u);
  // Neither the size nor the change belongs to those that are found next.
  write(has, first, {held::pixels});
  BOOST_TEST((has.px() == core::extent{}));
  sut.begin_leg(has);
  BOOST_TEST(has.found());
  sut.drop_found(has);
  // The image stays from which a start was made.
  draw(has, first, true);
  replace(has, core::phase::preparing, {});
  sut.begin_leg(has);
  BOOST_TEST(!has.found());
  BOOST_TEST(static_cast<bool>(has[held::pixels]));
}

BOOST_AUTO_TEST_CASE(found_pixels_are_not_the_image_until_they_are_taken) {
  actors::holding has;
  write(has, first, {held::state, held::pixels});
  BOOST_TEST(has.found());
  draw(has, first, false);
  BOOST_TEST(!has.found());
  BOOST_TEST(!has.any());
  BOOST_TEST(sut.in_use() == 0u);
  write(has, first, {held::pixels});
  sut.take_found(has);
  BOOST_TEST(!has.found());
  BOOST_TEST(static_cast<bool>(has[held::pixels]));
}

BOOST_AUTO_TEST_CASE(pixels_of_a_later_stage_are_found_while_nothing_is_drawn) {
  actors::holding has;
  write(has, first, {held::pixels}, core::phase::finishing);
  BOOST_TEST(has.found());
  sut.take_found(has);
  write(has, first, {held::pixels}, core::phase::finishing);
  BOOST_TEST(!has.found());
}

BOOST_AUTO_TEST_CASE(a_leg_leaves_its_image_and_nothing_else) {
  actors::holding has;
  write(has, first, {held::state, held::source});
  draw(has, first, true);
  const auto image = has[held::pixels];
  BOOST_TEST(static_cast<bool>(image));
  BOOST_TEST(!has[held::state]);
  BOOST_TEST(!has[held::source]);
  BOOST_TEST(sut.in_use() == 1u);
  // A later leg that fails loses no image, and its start is freed.
  write(has, first, {held::state}, core::phase::preparing, 3);
  BOOST_TEST(has.steps() == 2u);
  sut.begin_leg(has);
  BOOST_TEST(has.steps() == 0u);
  write(has, first, {held::state});
  draw(has, first, false);
  BOOST_TEST((has[held::pixels] == image));
  BOOST_TEST(sut.in_use() == 1u);
  // A stage after it replaces the image.
  write(has, first, {held::pixels}, core::phase::finishing);
  BOOST_TEST((has[held::pixels] != image));
  BOOST_TEST(!has.found());
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_request_resumes_from_the_last_true_publication) {
  actors::holding has;
  write(has, first, {held::state});
  const auto noise = has[held::state];
  const auto end = [&](uint64_t seq, bool unreadable = false) {
    BOOST_TEST_REQUIRE(
      sut.grant(second, device, {held::state, held::pixels}, {}) != nullptr);
    sut.read(second, device, held::state, has[held::state]);
    if (seq > 0)
      BOOST_REQUIRE(
        store->publish(sut.of(second).granted[held::state], seq, 0));
    const auto out = sut.resume(has, sut.conclude(second), 10, unreadable);
    BOOST_TEST(sut.check() == "");
    return out;
  };
  const auto nothing = end(0);
  BOOST_TEST(!nothing.holds);
  BOOST_TEST(!nothing.lost);
  BOOST_TEST((has[held::state] == noise));
  // More steps than the leg has are no publication.
  BOOST_TEST(!end(12).holds);
  const auto four = end(5);
  BOOST_TEST(four.holds);
  BOOST_TEST(four.steps == 4u);
  BOOST_TEST(has.steps() == 4u);
  BOOST_TEST(!sut.holds(noise));
  BOOST_TEST(sut.free(slot_kind::image) == 3u);
  BOOST_TEST(end(0, true).lost);
  BOOST_TEST(sut.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(an_answered_image_stays_until_it_is_taken) {
  actors::holding has;
  write(has, first, {held::encoded, held::state}, core::phase::finishing);
  sut.answer(first.id, has);
  BOOST_TEST(sut.in_use() == 1u);
  sut.taken(first.id, has);
  BOOST_TEST(sut.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(a_request_that_ends_gives_back_what_it_holds) {
  actors::holding has;
  actors::holding other;
  write(has, first, {held::state});
  write(other, second, {held::source});
  sut.end(first.id);
  BOOST_TEST(sut.free(slot_kind::state) == 2u);
  BOOST_TEST(sut.free(slot_kind::image) == 2u);
}

BOOST_AUTO_TEST_CASE(slots_of_a_silent_process_wait_for_its_end) {
  sut.grant(first, device, {held::state}, {});
  sut.suspect(device);
  BOOST_TEST(sut.check() == "");
  const auto lost = sut.orphan(first);
  sut.discard(lost);
  BOOST_TEST((state_of(lost.granted[held::state]) == slot_state::quarantined));
  sut.lost(device, true);
  BOOST_TEST(sut.free(slot_kind::state) == 2u);
  BOOST_TEST(sut.grant(second, device, {held::state}, {}) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_dispatch_that_outlives_its_process_is_found) {
  sut.grant(first, device, {held::state}, {});
  sut.lost(device, true);
  BOOST_TEST(sut.check() == "request 1 lost a granted slot");
  sut.orphan(first);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_route_is_told_what_it_would_wait_for_for_ever) {
  planning::route along;
  along.name = "long";
  along.legs.resize(1);
  // The route needs one slot for the image and one for the file.
  const auto too_few = [&] {
    return sut.too_few_for(along.name,
                           test::standard_stages().least(along, false));
  };
  BOOST_TEST(!too_few().has_value());
  BOOST_TEST(!sut.too_few_for_source().has_value());
  along.legs.resize(3);
  BOOST_TEST(too_few()->text
             == "route 'long' needs 4 image slots, but only 3 exist "
                "(arena.image_slots)");
  along.legs.resize(2);
  BOOST_TEST(!too_few().has_value());
  BOOST_TEST(sut.too_few_for(along.name, {3, 0, 0})->text
             == "route 'long' needs 3 state slots, but only 2 exist "
                "(arena.state_slots)");
  const actors::slots two{1, {2, 2, 0}, store};
  BOOST_TEST((two.too_few_for_source()->code == core::ec::invalid_argument));
}

BOOST_AUTO_TEST_CASE(what_is_further_along_finds_its_slots) {
  planning::route along;
  along.legs.resize(2);
  const auto& stages = test::standard_stages();
  const auto left = [&](size_t leg, size_t stage) {
    return stages.reserve(along, {leg, stage}, false);
  };
  const auto denoise = stages.denoise();
  using test::finish_stage;
  using test::prepare_stage;
  BOOST_TEST((left(0, prepare_stage) == actors::slot_counts{1, 3, 0}));
  BOOST_TEST((left(1, prepare_stage) == actors::slot_counts{1, 2, 0}));
  BOOST_TEST((left(0, denoise) == actors::slot_counts{0, 2, 0}));
  BOOST_TEST((left(1, denoise) == actors::slot_counts{0, 1, 0}));
  BOOST_TEST((left(2, finish_stage) == actors::slot_counts{0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(captures_are_granted_as_far_as_there_are_some) {
  actors::slots sut_with{
    1,
    {2, 3, 2},
    std::make_shared<ipc::heap_store>(1, actors::slot_counts{2, 3, 2})};
  actors::holding has;
  sut_with.grant(first, device, {held::state}, {});
  const std::array<uint32_t, 3> wanted{5, 10, 15};
  const auto given = sut_with.grant_captures(has, first, device, wanted);
  BOOST_TEST_REQUIRE(given.size() == 2u);
  // The last ones save most.
  BOOST_TEST(given[0].steps == 10u);
  BOOST_TEST(given[1].steps == 15u);
  BOOST_TEST(has.left_out() == 1u);
  BOOST_TEST(sut_with.of(first).granted.captures.size() == 2u);
  BOOST_TEST(sut_with.check() == "");
  const auto done = sut_with.conclude(first);
  sut_with.discard(done);
  BOOST_TEST(sut_with.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_remembered_outlives_its_request) {
  actors::holding has;
  write(has, first, {held::pixels});
  const auto image = has[held::pixels];
  planning::slot_set reads;
  reads[held::pixels] = image;
  sut.read_alone(second, cpu, reads);
  sut.end(first.id);
  BOOST_TEST(sut.holds(image));
  sut.conclude(second);
  BOOST_TEST(sut.in_use() == 0u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(who_waits_for_images_waits_long_after_as_many_drawings) {
  actors::slots some{1, {8, 4, 0}, store};
  for (int i = 0; i < 4; ++i)
    some.drawing_begins();
  BOOST_TEST(!some.waits_long());
  some.wait_for_images(core::request_id{1}, 3);
  for (int i = 0; i < 4; ++i) {
    BOOST_TEST(!some.waits_long());
    some.wait_for_images(core::request_id{1}, 3);
    some.drawing_begins();
  }
  BOOST_TEST(some.waits_long());
  some.end(core::request_id{1});
  BOOST_TEST(!some.waits_long());
}

BOOST_AUTO_TEST_CASE(a_tenant_leaves_an_eighth_to_others) {
  const actors::slots many{1, {64, 32, 0}, store};
  BOOST_TEST((many.left_for_others(core::phase::preparing, 0)
              == actors::slot_counts{8, 4, 0}));
  BOOST_TEST((many.left_for_others(core::phase::denoising, 0)
              == actors::slot_counts{4, 2, 0}));
  // One for each active tenant and one more, a quarter at most.
  BOOST_TEST((many.left_for_others(core::phase::preparing, 6)
              == actors::slot_counts{8, 7, 0}));
  BOOST_TEST((many.left_for_others(core::phase::denoising, 1)
              == actors::slot_counts{4, 2, 0}));
  BOOST_TEST((many.left_for_others(core::phase::denoising, 100)
              == actors::slot_counts{16, 8, 0}));
}

BOOST_AUTO_TEST_SUITE_END()
