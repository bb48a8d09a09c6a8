// SPDX-License-Identifier: Apache-2.0

// Rows that start from earlier work, choices that are made again, and what rows
// keep of their stages.

#include "actors/layers_rig.hpp"
#include "support/told_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::row_state;
using core::ec;
using ipc::slot_kind;
using planning::access;
using planning::held;
using planning::hook;
using planning::if_failed;
using planning::origin;
using planning::queue_of;
using test::card_4;
using test::layers_rig;
using test::told_stage;

// Vanilla's routes are the first two.
constexpr core::route_id from_noise{0};
constexpr core::route_id from_latent{2};
constexpr core::route_id from_found{3};
constexpr core::route_id found_image{4};
constexpr core::route_id to_latent{5};

const core::error broken = core::fail(ec::internal, "broken");

// A stage in the control process fetches earlier work; a stage behind the
// device grades its image.
struct rig : layers_rig {
  explicit rig(core::timespan queue = 1h) : layers_rig(with(queue)) {}

  static options with(core::timespan queue) {
    told_stage::script fetches;
    fetches.begin =
      [](const planning::row_view& x) -> std::optional<told_stage::work> {
      if (x.from == nullptr)
        return std::nullopt;
      return told_stage::work{x.from->entry};
    };
    told_stage::script grades;
    grades.begin =
      [](const planning::row_view& x) -> std::optional<told_stage::work> {
      if (x.leg == nullptr)
        return std::nullopt;
      return told_stage::work{};
    };
    actors::standard_stages own;
    own.fetch = test::told(
      "fetch", hook::each_leg, if_failed::choose_again,
      {{held::state, access::writes,
        [](const planning::leg* in, bool) { return in != nullptr; }}},
      fetches, planning::place::background);
    options o;
    o.stages = test::pipeline_with(
      own, {{test::told("grade", hook::each_leg, if_failed::choose_again, {},
                        grades),
             "denoise"}});
    o.limits.queue = queue;
    o.profile = test::card_profile();
    o.profile->reuse.emplace().full = card_4;
    o.adjust = [](planning::plan& x) {
      auto along = x.routes[0];
      along.name = "latent";
      along.legs[0].from = origin::latent;
      along.legs[0].skip = 3;
      x.routes.push_back(along);
      along.name = "refined";
      along.legs[0].from = origin::image;
      along.legs[0].skip = 2;
      x.routes.push_back(along);
      planning::route image;
      image.name = "image";
      image.from = origin::image;
      x.routes.push_back(image);
      along = x.routes[from_latent.value];
      along.name = "then latent";
      along.legs.insert(along.legs.begin(), x.routes[0].legs.front());
      x.routes.push_back(along);
    };
    return o;
  }

  // Rows with a match take this route, others begin from noise.
  void choose_by_match(core::route_id along) {
    policy->choosing = [along](const planning::facts& x) -> planning::choice {
      if (!x.near || x.near->empty())
        return planning::go{from_noise};
      return planning::go{along, 0u};
    };
  }

  // A row with a match that begins on this route.
  actors::row& begins(core::route_id along) {
    choose_by_match(along);
    auto& r = accept();
    find_match(r);
    sut.begin(id_of(r), r, now);
    return r;
  }

  // The same row without its place in a queue.
  actors::row& fetches(core::route_id along) {
    auto& r = begins(along);
    BOOST_REQUIRE(queue(r) == actors::recall_queue);
    waiting.leave(id_of(r), r, now);
    return r;
  }

  void next_after(actors::row& r, std::string_view last) {
    sut.next_stage(id_of(r), r, stage(last) + 1, now);
  }

  void fails(actors::row& r) {
    sut.stage_failed(id_of(r), r, broken, now);
  }

  bool begins_from_noise(const actors::row& r) const {
    return queue(r) == actors::prepare_queue
        && r.course.route().name == "card@4" && r.course.match() == nullptr;
  }

  actors::lifecycle& sut = lifecycle;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(lifecycle_found_test, rig)

// -- routes -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(steps_that_a_route_leaves_out_count_when_it_is_chosen) {
  auto& r = begins(from_latent);
  BOOST_TEST((queue(r) == actors::recall_queue));
  BOOST_TEST(counts().hits == 1u);
  BOOST_TEST_REQUIRE(counts().skips.size() == 1u);
  BOOST_TEST(counts().skips[0].first == 2u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(found_image_counts_when_it_is_fetched) {
  auto& r = fetches(found_image);
  BOOST_TEST(counts().hits == 0u);
  BOOST_TEST((r.course.recipe().variant == card_4));
  write(r, {held::pixels});
  next_after(r, "fetch");
  BOOST_TEST(counts().hits == 1u);
  BOOST_TEST(counts().skips.at(0).first == 4u);
  BOOST_TEST(r.account.notes().size() == 1u);
  BOOST_TEST(r.course.answering());
  BOOST_TEST((queue(r) == actors::finish_queue));
  BOOST_TEST(!r.held.found());
  BOOST_TEST(bool(r.held[held::pixels]));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(route_is_chosen_again_if_no_image_was_fetched) {
  auto& r = fetches(found_image);
  next_after(r, "fetch");
  BOOST_TEST(begins_from_noise(r));
  BOOST_TEST(counts().hits == 0u);
  BOOST_TEST(check() == "");
}

// -- failures -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(route_is_chosen_again_without_work_that_failed) {
  auto& r = fetches(from_latent);
  write(r, {held::state, held::source});
  fails(r);
  BOOST_TEST(left_out("fetch") == 1u);
  BOOST_TEST(begins_from_noise(r));
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_is_turned_away_if_its_second_choice_is_refused) {
  auto& r = fetches(from_latent);
  policy->choosing = [](const planning::facts&) {
    return planning::refuse{broken, 3s};
  };
  fails(r);
  BOOST_TEST((only_answer().retry_after == 3s));
  BOOST_TEST(counts().refused == 1u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(own_work_of_a_row_does_not_keep_it_from_another_route) {
  rig x{20ms};
  x.measure(card_4, x.device(2));
  auto& r = x.fetches(from_latent);
  BOOST_TEST_REQUIRE((x.of.forecast.work_of(x.id_of(r)) == 27ms));
  x.fails(r);
  BOOST_TEST(x.answers().empty());
  BOOST_TEST(x.begins_from_noise(r));
}

BOOST_AUTO_TEST_CASE(row_without_earlier_work_continues) {
  auto& r = accept();
  route(r);
  prepare(r);
  enter(r, "fetch");
  fails(r);
  BOOST_TEST(left_out("fetch") == 1u);
  // It is prepared already.
  BOOST_TEST((queue(r) == queue_of(card_4)));
}

BOOST_AUTO_TEST_CASE(row_with_an_image_continues) {
  auto& r = fetches(from_latent);
  draw(r);
  enter(r, "grade");
  fails(r);
  BOOST_TEST(left_out("grade") == 1u);
  BOOST_TEST(r.course.answering());
  BOOST_TEST((queue(r) == actors::finish_queue));
}

BOOST_AUTO_TEST_CASE(row_in_a_later_leg_continues) {
  auto& r = accept();
  find_match(r);
  route(r, to_latent, 0);
  r.course.end_leg(ec::internal);
  r.course.begin_leg(1);
  enter(r, "fetch");
  fails(r);
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST(r.course.leg() == 1u);
  BOOST_TEST(r.course.route().name == "then latent");
}

// -- what stages leave --------------------------------------------------------

BOOST_AUTO_TEST_CASE(state_of_a_stage_saves_its_steps) {
  auto& r = fetches(from_latent);
  BOOST_TEST_REQUIRE(r.course.saved() == 2u);
  BOOST_REQUIRE(sut.keep(r, wrote(r, {held::state}, 4)));
  BOOST_TEST(r.held.steps() == 3u);
  BOOST_TEST(r.course.saved() == 3u);
}

BOOST_AUTO_TEST_CASE(source_that_was_found_shortens_the_run) {
  auto& r = fetches(from_found);
  BOOST_TEST(!r.course.recipe().from_image);
  BOOST_REQUIRE(sut.keep(r, wrote(r, {held::source})));
  BOOST_TEST(r.course.recipe().from_image);
  BOOST_TEST(core::steps_to_run(r.course.recipe()) == 2u);
  BOOST_TEST(bool(r.held[held::source]));
  BOOST_TEST(r.course.saved() == 0u);
}

BOOST_AUTO_TEST_CASE(run_of_one_step_keeps_no_source) {
  choose_by_match(from_found);
  auto& r = accept([](core::request& x) { x.fixed.steps = 1; });
  find_match(r);
  sut.begin(id_of(r), r, now);
  BOOST_REQUIRE(sut.keep(r, wrote(r, {held::source})));
  BOOST_TEST(!r.held[held::source]);
  BOOST_TEST(of.slots.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(stage_that_leaves_a_slot_empty_leaves_nothing) {
  auto& r = fetches(from_latent);
  const auto kept = sut.keep(r, wrote(r, {held::state}, 0));
  BOOST_TEST_REQUIRE(!kept);
  BOOST_TEST(kept.why().text == "stage 'fetch' left nothing as 'state'");
  BOOST_TEST(!r.held.any());
  BOOST_TEST(r.course.saved() == 2u);
}

BOOST_AUTO_TEST_CASE(state_has_no_more_steps_than_its_run) {
  auto& r = fetches(from_latent);
  BOOST_REQUIRE(sut.keep(r, wrote(r, {held::state}, 5)));
  const auto kept = sut.keep(r, wrote(r, {held::state}, 6));
  BOOST_TEST_REQUIRE(!kept);
  BOOST_TEST(kept.why().text
             == "stage 'fetch' left a state after 5 of 4 steps");
}

BOOST_AUTO_TEST_SUITE_END()
