// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/slots.hpp>
#include <atelier/actors/source_files.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>

namespace {

using namespace atelier;
using ipc::slot_kind;
using ipc::slot_state;

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

  ipc::slot_ref filled(core::ticket who, slot_kind kind) {
    return sut.fill(who, kind, {}, [](const auto&) { return true; });
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(slots_test, rig)

BOOST_AUTO_TEST_CASE(a_dispatch_is_granted_all_or_none) {
  BOOST_TEST(sut.grant(first, device, {slot_kind::state, slot_kind::image}, {})
             != nullptr);
  BOOST_TEST(sut.grant(second, device,
                       {slot_kind::image, slot_kind::state, slot_kind::state},
                       {})
             == nullptr);
  BOOST_TEST(sut.free(slot_kind::image) == 2u);
  BOOST_TEST(sut.free(slot_kind::state) == 1u);
  BOOST_TEST(sut.dispatches() == 1u);
  BOOST_TEST(sut.all() == 5u);
  BOOST_TEST(sut.in_use() == 2u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_grant_leaves_its_reserve) {
  BOOST_TEST(sut.grant(first, device, {slot_kind::image}, {0, 3, 0})
             == nullptr);
  BOOST_TEST(sut.grant(first, device, {slot_kind::image}, {0, 2, 0})
             != nullptr);
  BOOST_TEST(sut.grant(second, device, {slot_kind::image}, {0, 2, 0})
             == nullptr);
}

BOOST_AUTO_TEST_CASE(a_granted_slot_is_ready_for_its_writer) {
  const auto slot =
    sut.grant(first, device, {slot_kind::state}, {})->granted[0];
  BOOST_TEST(*sut.last_published(slot) == 0u);
  BOOST_REQUIRE(store->publish(slot, 4, 0));
  BOOST_TEST(*sut.last_published(slot) == 4u);
}

BOOST_AUTO_TEST_CASE(files_are_there_for_the_worker_that_decodes_them) {
  core::source_images files;
  files.image = {1, 2, 3};
  const auto* held = sut.grant_with_files(first, cpu, files, {1, 1, 0});
  BOOST_REQUIRE(held != nullptr);
  BOOST_TEST(held->granted.size() == 2u);
  BOOST_TEST(held->reads_files);
  const auto bytes = store->view(held->reading);
  BOOST_REQUIRE(bytes);
  const auto found = actors::parse_source_files(*bytes);
  BOOST_REQUIRE(found);
  BOOST_TEST(found->image == files.image, boost::test_tools::per_element());
  const auto done = sut.conclude(first);
  sut.drop(done.reading);
  BOOST_TEST(!sut.holds(done.reading));
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(files_need_a_slot_more_than_the_reserve) {
  core::source_images files;
  files.image = {1};
  BOOST_TEST(sut.grant_with_files(first, cpu, files, {1, 3, 0}) == nullptr);
  BOOST_TEST(sut.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_read_stays_until_the_reply) {
  const auto from = filled(first, slot_kind::state);
  const auto source = filled(first, slot_kind::image);
  sut.grant(first, device, {slot_kind::image}, {});
  sut.read(first, device, from);
  sut.read_source(first, device, source);
  sut.drop(from);
  sut.drop(source);
  BOOST_TEST(sut.holds(from));
  BOOST_TEST(sut.holds(source));
  const auto done = sut.conclude(first);
  BOOST_TEST(sut.free(slot_kind::state) == 2u);
  BOOST_TEST((state_of(done.granted[0]) == slot_state::held));
  sut.discard(done);
  BOOST_TEST(sut.in_use() == 0u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_publication_replaces_what_was_read) {
  const auto from = filled(first, slot_kind::state);
  sut.grant(first, device, {slot_kind::state}, {});
  sut.read(first, device, from);
  sut.published(first);
  BOOST_TEST(sut.free(slot_kind::state) == 1u);
  sut.published(first);
  BOOST_TEST(sut.of(first).published);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_slot_that_nobody_filled_is_free_again) {
  const auto none =
    sut.fill(first, slot_kind::state, {}, [](const auto&) { return false; });
  BOOST_TEST(!none);
  BOOST_TEST(sut.free(slot_kind::state) == 2u);
  BOOST_TEST(
    !sut.fill(first, slot_kind::state, {2, 0, 0}, [](const auto&) -> bool {
      BOOST_ERROR("there was no slot to fill");
      return true;
    }));
  const auto slot = filled(first, slot_kind::state);
  BOOST_TEST((state_of(slot) == slot_state::held));
}

BOOST_AUTO_TEST_CASE(an_answered_picture_stays_until_it_is_taken) {
  sut.grant(first, cpu, {slot_kind::image, slot_kind::state}, {});
  const auto done = sut.conclude(first);
  sut.answer(first.id, done.granted[0]);
  BOOST_TEST(sut.in_use() == 1u);
  sut.taken(first.id, done.granted[0]);
  BOOST_TEST(sut.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(a_request_that_ends_gives_back_what_it_holds) {
  filled(first, slot_kind::state);
  filled(second, slot_kind::image);
  sut.end(first.id);
  BOOST_TEST(sut.free(slot_kind::state) == 2u);
  BOOST_TEST(sut.free(slot_kind::image) == 2u);
}

BOOST_AUTO_TEST_CASE(slots_of_a_silent_process_wait_for_its_end) {
  sut.grant(first, device, {slot_kind::state}, {});
  sut.suspect(device);
  BOOST_TEST(sut.check() == "");
  const auto held = sut.orphan(first);
  sut.discard(held);
  BOOST_TEST((state_of(held.granted[0]) == slot_state::quarantined));
  sut.lost(device, true);
  BOOST_TEST(sut.free(slot_kind::state) == 2u);
  BOOST_TEST(sut.grant(second, device, {slot_kind::state}, {}) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_dispatch_that_outlives_its_process_is_found) {
  sut.grant(first, device, {slot_kind::state}, {});
  sut.lost(device, true);
  BOOST_TEST(sut.check() == "request 1 lost a granted slot");
  sut.orphan(first);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_route_is_told_what_it_would_wait_for_for_ever) {
  planning::route along;
  along.name = "long";
  along.legs.resize(1);
  // One for the image, one for the file.
  BOOST_TEST(!sut.too_few_for(along, false).has_value());
  BOOST_TEST(!sut.too_few_for_source().has_value());
  along.legs.resize(3);
  BOOST_TEST(sut.too_few_for(along, false)->text
             == "route 'long' needs 4 image slots, there are 3 "
                "(arena.image_slots)");
  along.legs.resize(2);
  BOOST_TEST(sut.too_few_for(along, false)->text
             == "route 'long' needs 3 state slots, there are 2 "
                "(arena.state_slots)");
  const actors::slots two{1, {2, 2, 0}, store};
  BOOST_TEST((two.too_few_for_source()->code == core::ec::invalid_argument));
}

BOOST_AUTO_TEST_CASE(what_is_further_along_finds_its_slots) {
  using actors::slots;
  using core::phase;
  planning::route along;
  along.legs.resize(2);
  const auto left = [&](size_t leg, phase at) {
    return slots::left_for_next(along, leg, at, false);
  };
  BOOST_TEST((left(0, phase::preparing) == actors::slot_counts{2, 3, 0}));
  BOOST_TEST((left(1, phase::preparing) == actors::slot_counts{1, 2, 0}));
  BOOST_TEST((left(0, phase::denoising) == actors::slot_counts{0, 2, 0}));
  BOOST_TEST((left(1, phase::denoising) == actors::slot_counts{0, 1, 0}));
  BOOST_TEST((left(1, phase::finishing) == actors::slot_counts{0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_tenant_leaves_an_eighth_to_others) {
  const actors::slots many{1, {64, 32, 0}, store};
  BOOST_TEST((many.left_for_others(core::phase::preparing)
              == actors::slot_counts{8, 4, 0}));
  BOOST_TEST((many.left_for_others(core::phase::denoising)
              == actors::slot_counts{4, 2, 0}));
}

BOOST_AUTO_TEST_SUITE_END()
