// SPDX-License-Identifier: Apache-2.0

// Orders of stages, and to draw. order_maker_start_test has the work that a
// drawing starts from, and captures.

#include "actors/layers_rig.hpp"
#include "support/told_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using actors::role;
using actors::run_stage;
using ipc::slot_kind;
using planning::access;
using planning::held;
using planning::hook;
using planning::if_failed;
using test::layers_rig;
using test::parts_rig;

constexpr core::tenant_id ann{1};
constexpr core::tenant_id ben{2};

constexpr auto image_kind = static_cast<size_t>(slot_kind::image);

// A rig with the layer that is tested.
struct rig : layers_rig {
  rig() : rig(options{}) {}

  explicit rig(const options& o)
    : layers_rig(o), preparing(pool(role::preprocess)) {}

  std::optional<actors::work> make(actors::row& r, const actors::worker& w) {
    return sut.make(ticket_of_next(r), r, w);
  }

  template <class Order>
  Order made(actors::row& r, const actors::worker& w) {
    auto x = make(r, w);
    BOOST_REQUIRE(x.has_value());
    BOOST_REQUIRE(std::holds_alternative<Order>(*x));
    return std::get<Order>(std::move(*x));
  }

  // A row whose next stage is to be prepared.
  template <class F>
  actors::row& to_prepare(F adjust) {
    auto& r = accept(adjust);
    route(r);
    lifecycle.next_stage(id_of(r), r, stage("prepare"), now);
    waiting.leave(id_of(r), r, now);
    return r;
  }

  actors::row& to_prepare(core::tenant_id whose = {}) {
    return to_prepare([&](core::request& x) { x.tenant = whose; });
  }

  // A row that is prepared and waits nowhere.
  template <class F>
  actors::row& to_draw(F adjust, core::route_id along = {}) {
    auto& r = accept(adjust);
    route(r, along);
    prepare(r);
    return r;
  }

  actors::row& to_draw() {
    return to_draw([](core::request&) {});
  }

  actors::order_maker& sut = maker;
  actors::worker& preparing;
};

// Many slots, some of which tenants leave to each other.
struct many_slots_rig : rig {
  many_slots_rig() : rig(with()) {}

  static options with() {
    options o;
    o.slots = {16, 16, 0};
    return o;
  }
};

// A stage before the answer that uses these slots.
struct checking_rig : rig {
  explicit checking_rig(std::vector<planning::slot_use> slots)
    : rig(with(std::move(slots))) {}

  static options with(std::vector<planning::slot_use> slots) {
    actors::standard_stages own;
    own.checks = {test::told("check", hook::before_answer, if_failed::fail,
                             std::move(slots))};
    options o;
    o.slots = {8, 8, 1};
    o.stages = test::pipeline_with(own);
    return o;
  }

  // A row that is at that stage.
  actors::row& to_check() {
    auto& r = accept();
    route(r);
    draw(r);
    r.course.finish();
    enter(r, "check");
    return r;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(order_maker_test, rig)

// -- stages -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(order_of_a_stage_has_its_work_and_its_slots) {
  auto& r = to_prepare();
  const auto x = made<run_stage>(r, preparing);
  BOOST_TEST((x.ticket == ticket_of_next(r)));
  BOOST_TEST(size_t{x.stage} == stage("prepare"));
  BOOST_TEST((x.left == core::timespan::max()));
  BOOST_TEST(bool(x.writes[held::state]));
  BOOST_TEST(!x.writes[held::source]);
  BOOST_TEST((x.reads == planning::slot_set{}));
  BOOST_TEST((x.writes == of.slots.of(x.ticket).granted));
  BOOST_TEST((x.px == core::extent{32, 32}));
  const auto work = x.order.as<actors::prepare_stage::work>();
  BOOST_TEST_REQUIRE(bool(work));
  BOOST_TEST(((*work)->recipe == r.course.recipe()));
}

BOOST_AUTO_TEST_CASE(short_work_is_ordered_as_such) {
  BOOST_TEST(made<run_stage>(to_prepare(), preparing).is_short);
  auto& edit = to_prepare(&parts_rig::bring_image);
  BOOST_TEST(!made<run_stage>(edit, preparing).is_short);
}

BOOST_AUTO_TEST_CASE(order_to_prepare_an_image_has_its_files) {
  auto& edit = to_prepare(&parts_rig::bring_image);
  const auto x = made<run_stage>(edit, preparing);
  BOOST_TEST(bool(x.writes[held::state]));
  BOOST_TEST(bool(x.writes[held::source]));
  BOOST_TEST(bool(x.reads[held::files]));
  BOOST_TEST(bool(store->view(x.reads[held::files])));
  BOOST_TEST(of.slots.of(x.ticket).reads_files);
}

BOOST_AUTO_TEST_CASE(slots_of_an_order_belong_to_its_workers_process) {
  const auto x = made<run_stage>(to_prepare(), preparing);
  of.slots.suspect(life(5));
  BOOST_TEST(of.slots.keeper().census(slot_kind::state).quarantined == 0u);
  of.slots.suspect(preparing.address.process);
  BOOST_TEST(of.slots.keeper().census(slot_kind::state).quarantined == 1u);
}

BOOST_AUTO_TEST_CASE(order_to_finish_reads_the_image) {
  auto& finishing = pool(role::postprocess);
  auto& r = waits_to_finish();
  lifecycle.next_stage(id_of(r), r, stage("finish"), now);
  const auto x = made<run_stage>(r, finishing);
  BOOST_TEST((x.reads[held::pixels] == r.held[held::pixels]));
  BOOST_TEST(bool(x.writes[held::encoded]));
  BOOST_TEST((of.slots.of(x.ticket).reading == x.reads));
  // The image stays while it is read.
  of.slots.end(id_of(r));
  BOOST_TEST(of.slots.holds(x.reads[held::pixels]));
}

BOOST_AUTO_TEST_CASE(stage_that_replaces_the_image_reads_the_old_one) {
  checking_rig x{{{held::pixels, access::replaces}}};
  auto& r = x.to_check();
  const auto order = x.made<run_stage>(r, x.pool(role::postprocess));
  BOOST_TEST((order.reads[held::pixels] == r.held[held::pixels]));
  BOOST_TEST(bool(order.writes[held::pixels]));
  BOOST_TEST((order.writes[held::pixels] != order.reads[held::pixels]));
}

BOOST_AUTO_TEST_CASE(stage_uses_only_what_applies_to_its_row) {
  const auto never = [](const planning::leg*, bool) { return false; };
  checking_rig x{{{held::pixels, access::reads, never},
                  {held::encoded, access::writes, never},
                  {held::source, access::writes}}};
  const auto order = x.made<run_stage>(x.to_check(), x.pool(role::postprocess));
  BOOST_TEST(!order.reads[held::pixels]);
  BOOST_TEST(!order.writes[held::encoded]);
  BOOST_TEST(bool(order.writes[held::source]));
}

BOOST_AUTO_TEST_CASE(stage_writes_no_slots_of_captures) {
  checking_rig x{
    {{held::capture, access::writes}, {held::pixels, access::reads}}};
  const auto order = x.made<run_stage>(x.to_check(), x.pool(role::postprocess));
  BOOST_TEST((order.writes == planning::slot_set{}));
  BOOST_TEST(x.of.slots.free(slot_kind::capture) == 1u);
}

BOOST_AUTO_TEST_CASE(stage_that_reads_what_the_row_lacks_gets_none) {
  checking_rig x{{{held::state, access::reads}, {held::pixels, access::reads}}};
  const auto order = x.made<run_stage>(x.to_check(), x.pool(role::postprocess));
  BOOST_TEST(!order.reads[held::state]);
  BOOST_TEST(bool(order.reads[held::pixels]));
}

// -- slots --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(stage_leaves_the_slots_that_rows_under_way_need) {
  auto& r = to_prepare();
  auto& other = accept();
  route(other);
  // A row that is prepared needs another state to be drawn.
  leave_free(other, held::state, 1);
  const auto orders = of.slots.dispatches();
  BOOST_TEST(!make(r, preparing).has_value());
  BOOST_TEST(of.slots.dispatches() == orders);
  BOOST_TEST(of.slots.free(slot_kind::state) == 1u);
  of.slots.drop_start(other.held);
  BOOST_TEST(make(r, preparing).has_value());
}

BOOST_AUTO_TEST_CASE(row_that_brings_an_image_waits_for_all_its_slots) {
  auto& edit = to_prepare(&parts_rig::bring_image);
  const auto needs = edit.course.stage_slots();
  const auto least = needs.granted[image_kind] + needs.reserve[image_kind];
  auto& other = accept();
  route(other);
  leave_free(other, held::source, least - 1);
  BOOST_TEST(!make(edit, preparing).has_value());
  BOOST_TEST(of.slots.free(slot_kind::image) == least - 1);
  of.slots.drop_source(other.held);
  BOOST_TEST(make(edit, preparing).has_value());
  // Its source, and its files in a slot of the reserve.
  BOOST_TEST(of.slots.free(slot_kind::image) == least - 2);
}

BOOST_FIXTURE_TEST_CASE(tenant_with_rows_ahead_leaves_slots_to_others,
                        many_slots_rig) {
  waits_to_draw(ann);
  auto& more = to_prepare(ann);
  auto& first = to_prepare(ben);
  auto& other = accept();
  route(other);
  leave_free(other, held::state, 3);
  BOOST_TEST(!make(more, preparing).has_value());
  BOOST_TEST(make(first, preparing).has_value());
}

BOOST_FIXTURE_TEST_CASE(tenant_that_draws_leaves_slots_to_others,
                        many_slots_rig) {
  auto& w = device(2);
  draws_at(w, ann);
  const auto of_tenant = [&](core::tenant_id whose) -> auto& {
    return to_draw([&](core::request& x) { x.tenant = whose; });
  };
  auto& more = of_tenant(ann);
  auto& first = of_tenant(ben);
  auto& other = accept();
  route(other);
  leave_free(other, held::state, 1);
  BOOST_TEST(!make(more, w).has_value());
  BOOST_TEST(make(first, w).has_value());
}

BOOST_AUTO_TEST_CASE(row_without_slots_is_not_drawn_and_stays_as_it_is) {
  follow([](planning::plan& x) {
    x.routes[0].legs[0].any_of = {test::card_4, test::card_2};
  });
  auto& r = to_draw();
  auto& w = lighter(2);
  auto& other = accept();
  route(other);
  leave_free(other, held::source, 0);
  const auto orders = of.slots.dispatches();
  BOOST_TEST(!make(r, w).has_value());
  BOOST_TEST(of.slots.dispatches() == orders);
  BOOST_TEST((r.course.recipe().variant == test::card_4));
}

BOOST_AUTO_TEST_CASE(drawings_count_for_requests_that_wait_for_images) {
  auto& w = device(2);
  const auto waits = [&] {
    of.slots.wait_for_images(core::request_id{99}, 3);
    return of.slots.waiting_for_images().has_value();
  };
  BOOST_TEST_REQUIRE(waits());
  of.slots.end(core::request_id{99});
  // Half as many drawings as image slots come before the next note.
  for (int i = 0; i < 3; ++i)
    made<denoise>(to_draw(), w);
  BOOST_TEST(!waits());
  made<denoise>(to_draw(), w);
  BOOST_TEST(waits());
}

// -- drawing ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(order_to_draw_has_what_the_request_says) {
  auto& w = device(2);
  auto& r = to_draw([&](core::request& x) {
    x.text.negative = "a blue ball";
    x.prio = core::priority::high;
    x.deadline = now + 9s;
    x.tenant = ann;
    x.share = 3;
    x.wants_progress = true;
    x.preview_every = 2;
  });
  const auto d = made<denoise>(r, w);
  BOOST_TEST((d.ticket == ticket_of_next(r)));
  BOOST_TEST((d.recipe == r.course.recipe()));
  BOOST_TEST((d.text == r.request->text));
  BOOST_TEST((d.prio == core::priority::high));
  BOOST_TEST(d.deadline_ns == r.request->deadline.time_since_epoch().count());
  BOOST_TEST((d.tenant == ann));
  BOOST_TEST(d.share == 3u);
  BOOST_TEST(d.wants_progress);
  BOOST_TEST(d.preview_every == 2u);
  BOOST_TEST(d.judge.empty());
  BOOST_TEST(!d.more);
}

BOOST_AUTO_TEST_CASE(order_to_draw_has_old_and_new_slots) {
  auto& w = device(2);
  auto& r = to_draw(&parts_rig::bring_image);
  const auto d = made<denoise>(r, w);
  BOOST_TEST((d.from == r.held[held::state]));
  BOOST_TEST((d.source == r.held[held::source]));
  const auto& given = of.slots.of(d.ticket);
  BOOST_TEST((d.state == given.granted[held::state]));
  BOOST_TEST((d.image == given.granted[held::pixels]));
  BOOST_TEST((d.state != d.from));
  BOOST_TEST((given.reading[held::state] == d.from));
  BOOST_TEST((given.reading[held::source] == d.source));
  BOOST_TEST(!made<denoise>(to_draw(), w).source);
}

BOOST_AUTO_TEST_CASE(order_to_draw_names_the_judge_of_its_leg) {
  follow([](planning::plan& x) {
    x.routes[0].legs[0].check = planning::gate{"critic", 0};
  });
  BOOST_TEST(made<denoise>(to_draw(), device(2)).judge == "critic");
}

BOOST_AUTO_TEST_SUITE_END()
