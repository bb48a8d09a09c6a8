// SPDX-License-Identifier: Apache-2.0

// The stages of a row's legs and of its answer.

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
using planning::access;
using planning::held;
using planning::hook;
using planning::if_failed;
using planning::queue_of;
using test::card_4;
using test::layers_rig;
using test::told_stage;

const core::error broken = core::fail(ec::internal, "broken");

// Stages before the device ("early"), behind it ("grade") and before the answer
// ("check").
struct plays {
  if_failed otherwise = if_failed::fail;
  told_stage::script early = {};
};

struct rig : layers_rig {
  explicit rig(const plays& how = {}) : layers_rig(with(how)) {}

  static options with(const plays& how) {
    const auto stage = [&](std::string_view name, hook at,
                           told_stage::script says = {}) {
      return test::told(name, at, how.otherwise, {}, std::move(says));
    };
    options o;
    o.stages = test::pipeline_with(
      {}, {{stage("early", hook::each_leg, how.early), "prepare"},
           {stage("grade", hook::each_leg), "denoise"},
           {stage("check", hook::before_answer), "grade"}});
    o.adjust = [](planning::plan& x) {
      planning::route twice = x.routes[0];
      twice.legs.push_back(twice.legs.front());
      twice.legs[0].check = planning::gate{"judge", 0};
      x.thresholds = {0.5};
      x.routes.push_back(twice);
    };
    return o;
  }

  // Continues a row that waits nowhere.
  void next(actors::row& r, std::string_view from) {
    sut.next_stage(id_of(r), r, stage(from), now);
  }

  void next_after(actors::row& r, std::string_view last) {
    waiting.leave(id_of(r), r, now);
    sut.next_stage(id_of(r), r, stage(last) + 1, now);
  }

  bool waits_at(const actors::row& r, std::string_view name,
                core::queue_id where) const {
    return r.state() == row_state::waiting && r.course.stage() == stage(name)
        && queue(r) == where;
  }

  actors::lifecycle& sut = lifecycle;
};

struct tolerant_rig : rig {
  tolerant_rig() : rig(plays{if_failed::go_on}) {}
};

// A stage makes an image of the requested size, or throws.
class scaling_stage {
public:
  struct work {
    uint32_t width = 0;
    uint32_t height = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.width, x.height);
    }
  };

  struct done {
    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done&) {
      return f();
    }
  };

  // An image of this width cannot be scaled.
  static constexpr uint32_t bad_width = 13;

  explicit scaling_stage(core::extent to) : to_(to) {
    row_.name = "scale";
    row_.hook = hook::before_answer;
    row_.slots = replaces_pixels;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view&) const {
    return work{to_.width, to_.height};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return {};
  }

  core::extent px(const work& x) const {
    if (x.width == bad_width)
      throw std::runtime_error("no such width");
    return {x.width, x.height};
  }

  core::result<done> run(const work&, planning::worker_context&) const {
    return done{};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  static constexpr planning::slot_use replaces_pixels[] = {
    {held::pixels, access::replaces}};

  core::extent to_;
  planning::stage_row row_;
};

struct scaling_rig : layers_rig {
  explicit scaling_rig(core::extent to, uint64_t image_bytes = 32 * 32 * 3)
    : layers_rig(with(to, image_bytes)), r(accept()) {
    route(r);
    draw(r);
    r.course.finish();
    lifecycle.next_stage(id_of(r), r, stage("scale"), now);
  }

  static options with(core::extent to, uint64_t image_bytes) {
    actors::standard_stages own;
    own.checks = {planning::make_stage(scaling_stage{to})};
    options o;
    o.stages = test::pipeline_with(own);
    o.slot_bytes = {0, image_bytes, 0};
    return o;
  }

  bool waits_to_be_scaled() {
    return answers().empty() && r.course.stage() == stage("scale")
        && queue(r) == actors::finish_queue;
  }

  actors::row& r;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(lifecycle_stages_test, rig)

// -- from stage to stage ------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_visits_its_stages_in_their_order) {
  auto& r = accept();
  route(r);
  next(r, "prepare");
  BOOST_TEST(waits_at(r, "prepare", actors::prepare_queue));
  write(r, {held::state});
  next_after(r, "prepare");
  BOOST_TEST(waits_at(r, "early", actors::prepare_queue));
  BOOST_TEST((r.course.phase() == core::phase::preparing));
  const auto order = r.course.order().as<told_stage::work>();
  BOOST_TEST_REQUIRE(bool(order));
  BOOST_TEST((*order)->about == id_of(r).value);
  next_after(r, "early");
  BOOST_TEST(waits_at(r, "denoise", queue_of(card_4)));
  BOOST_TEST((r.course.phase() == core::phase::denoising));
  waiting.leave(id_of(r), r, now);
  draw(r);
  next(r, "grade");
  BOOST_TEST(waits_at(r, "grade", actors::finish_queue));
  BOOST_TEST(!r.course.answering());
  next_after(r, "grade");
  BOOST_TEST(waits_at(r, "check", actors::finish_queue));
  BOOST_TEST(r.course.answering());
  next_after(r, "check");
  BOOST_TEST(waits_at(r, "finish", actors::finish_queue));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_begins_its_next_leg_behind_the_stages_of_the_last) {
  auto& r = accept();
  route(r, core::route_id{2});
  draw(r);
  next(r, "grade");
  next_after(r, "grade");
  BOOST_TEST(waits_at(r, "prepare", actors::prepare_queue));
  BOOST_TEST(r.course.leg() == 1u);
}

BOOST_AUTO_TEST_CASE(encoded_image_is_answered_behind_the_last_stage) {
  auto& r = waits_to_finish();
  write(r, {held::encoded});
  planning::facts found;
  found.file.emplace();
  r.course.learn(std::move(found));
  next_after(r, "finish");
  BOOST_TEST((only_answer().failure.code == ec::none));
  BOOST_TEST((only_answer().image == r.held[held::encoded]));
}

BOOST_AUTO_TEST_CASE(row_enters_the_back_of_its_queue) {
  const auto& first = waits_to_prepare();
  auto& r = accept();
  route(r);
  next(r, "prepare");
  BOOST_TEST((of.queues.of(actors::prepare_queue)
              == std::vector{id_of(first), id_of(r)}));
}

BOOST_AUTO_TEST_CASE(stage_without_work_is_passed) {
  told_stage::script idle;
  idle.begin = [](const auto&) -> std::optional<told_stage::work> {
    return std::nullopt;
  };
  rig x{{if_failed::fail, idle}};
  auto& r = x.accept();
  x.route(r);
  x.next(r, "early");
  BOOST_TEST(x.waits_at(r, "denoise", queue_of(card_4)));
  BOOST_TEST(x.left_out("early") == 0u);
}

BOOST_AUTO_TEST_CASE(stage_that_cannot_begin_fails_its_row_or_is_left_out) {
  told_stage::script failing;
  failing.begin = [](const auto&) -> std::optional<told_stage::work> {
    throw std::runtime_error("no words");
  };
  rig strict{{if_failed::fail, failing}};
  auto& r = strict.accept();
  strict.route(r);
  strict.next(r, "early");
  BOOST_TEST(strict.only_answer().failure.text.find("no words")
             != std::string::npos);
  rig tolerant{{if_failed::go_on, failing}};
  auto& other = tolerant.accept();
  tolerant.route(other);
  tolerant.next(other, "early");
  BOOST_TEST(tolerant.waits_at(other, "denoise", queue_of(card_4)));
  BOOST_TEST(tolerant.left_out("early") == 1u);
}

// -- sizes --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(image_of_a_stage_must_fit_its_slot) {
  BOOST_TEST(scaling_rig({32, 32}).waits_to_be_scaled());
  scaling_rig larger({33, 32});
  BOOST_TEST((larger.only_answer().failure.code == ec::invalid_argument));
  BOOST_TEST(larger.only_answer().failure.text
             == "stage 'scale' makes an image of 33x32 pixels, of 3 bytes "
                "each; an image slot (arena.image_slot_kib) holds 3072 bytes");
}

BOOST_AUTO_TEST_CASE(image_of_a_stage_has_pixels_or_keeps_its_size) {
  scaling_rig flat({0, 8});
  BOOST_TEST((flat.only_answer().failure.code == ec::invalid_argument));
  BOOST_TEST(scaling_rig({0, 0}).waits_to_be_scaled());
}

BOOST_AUTO_TEST_CASE(image_of_any_size_fits_slots_without_bytes) {
  BOOST_TEST(scaling_rig({4096, 4096}, 0).waits_to_be_scaled());
  BOOST_TEST(!scaling_rig({0, 8}, 0).waits_to_be_scaled());
}

BOOST_AUTO_TEST_CASE(stage_whose_size_throws_fails_its_row) {
  scaling_rig x({scaling_stage::bad_width, 8});
  BOOST_TEST(x.only_answer().failure.text.find("no such width")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(image_has_the_size_that_its_stage_gave_it) {
  scaling_rig x({16, 8});
  auto& r = x.r;
  BOOST_TEST((r.course.px(r.held) == core::extent{32, 32}));
  BOOST_REQUIRE(x.lifecycle.keep(r, x.wrote(r, {held::pixels})));
  BOOST_TEST((r.course.px(r.held) == core::extent{16, 8}));
}

BOOST_AUTO_TEST_CASE(stage_whose_size_throws_leaves_nothing) {
  scaling_rig x({16, 8});
  auto& r = x.r;
  const auto before = r.held[held::pixels];
  r.course.set_order(
    core::typed_body::of(scaling_stage::work{scaling_stage::bad_width, 8}));
  const auto kept = x.lifecycle.keep(r, x.wrote(r, {held::pixels}));
  BOOST_TEST_REQUIRE(!kept);
  BOOST_TEST(kept.why().text.find("no such width") != std::string::npos);
  BOOST_TEST((r.held[held::pixels] == before));
}

// -- failures -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_fails_with_the_error_of_a_stage_that_it_needs) {
  auto& r = accept();
  route(r);
  next(r, "early");
  sut.stage_failed(id_of(r), r, broken, now);
  BOOST_TEST((only_answer().failure == broken));
  BOOST_TEST(counts().failed == 1u);
  BOOST_TEST(left_out("early") == 0u);
}

BOOST_FIXTURE_TEST_CASE(row_continues_without_a_stage_that_may_fail,
                        tolerant_rig) {
  auto& r = accept();
  route(r);
  prepare(r);
  enter(r, "early");
  sut.stage_failed(id_of(r), r, broken, now);
  BOOST_TEST(answers().empty());
  BOOST_TEST(left_out("early") == 1u);
  BOOST_TEST(waits_at(r, "denoise", queue_of(card_4)));
  BOOST_TEST(bool(r.held[held::state]));
}

// -- suspicions ---------------------------------------------------------------

BOOST_AUTO_TEST_CASE(suspicion_ends_with_its_stage_and_its_record_too) {
  auto& r = accept();
  const auto id = id_of(r);
  of.suspicions.accept(id, {}, true);
  route(r);
  enter(r, "prepare");
  accuse(r);
  of.suspicions.next_record(id, actors::place_of(r));
  write(r, {held::state});
  next(r, "early");
  BOOST_TEST(!of.suspicions.is_alone(id));
  BOOST_TEST(waits_at(r, "early", actors::prepare_queue));
  BOOST_TEST_REQUIRE(notes().size() == 1u);
  BOOST_TEST((notes()[0].id == id));
  BOOST_TEST(notes()[0].how.trials == 0u);
  BOOST_TEST(!notes()[0].waits);
}

BOOST_AUTO_TEST_CASE(suspicion_without_a_record_ends_silently) {
  auto& r = accept();
  route(r);
  enter(r, "prepare");
  accuse(r);
  next(r, "early");
  BOOST_TEST(!of.suspicions.is_alone(id_of(r)));
  BOOST_TEST(notes().empty());
}

BOOST_AUTO_TEST_CASE(suspicion_of_an_earlier_server_applies_at_its_place) {
  auto& r = accept();
  of.suspicions.accept(id_of(r), {core::phase::denoising, 0, 0, 1}, true);
  route(r);
  next(r, "prepare");
  BOOST_TEST(waits_at(r, "prepare", actors::prepare_queue));
  write(r, {held::state});
  next_after(r, "early");
  BOOST_TEST(waits_at(r, "denoise", actors::alone_queue(queue_of(card_4))));
}

BOOST_AUTO_TEST_CASE(request_that_ended_two_processes_before_is_not_tried) {
  auto& r = accept();
  const auto id = id_of(r);
  of.suspicions.accept(id, {core::phase::preparing, 0, 0, 2}, true);
  route(r);
  next(r, "prepare");
  BOOST_TEST((only_answer().failure.code == ec::poison));
  BOOST_TEST(only_answer().failure.text
             == "its worker died 2 times while preparing it alone (last: "
                "before the server was started again)");
  BOOST_TEST(counts().failed == 1u);
  BOOST_TEST(!of.queues.contains(id));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_SUITE_END()
