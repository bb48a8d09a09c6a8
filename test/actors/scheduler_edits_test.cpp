// SPDX-License-Identifier: Apache-2.0
// The rows of workers that policies see when masks are known.
#include "actors/fact_questions.hpp"
#include "actors/scheduler_rig.hpp"
#include <atelier/planning/policies/instgenie/instgenie.hpp>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using planning::worker_row;

constexpr auto device = test::scheduler_rig::life(2);

planning::masked_profile masks() {
  planning::masked_profile m;
  m.variant = core::variant_id{0};
  m.blocks = 1;
  m.tokens = 16;
  m.width = 4;
  m.compute_slope = 1e-6;
  return m;
}

struct fixture : test::scheduler_rig {
  fixture() : scheduler_rig(editing()) {
    profile->masked = {masks()};
    add_cpu();
    test::fact_questions::add_worker(*this);
  }

  static options editing() {
    options o;
    o.slots = {16, 16, 0};
    o.policy = *planning::make_policy("instgenie");
    auto known = test::card_profile();
    known->masked = {masks()};
    o.plan = std::make_shared<const planning::plan>(
      o.policy->replan({}, *known, {}, {}));
    o.stages = test::fact_questions::stages();
    return o;
  }

  core::request_id edit(double ratio, bool recorded = true) {
    const auto id = submit_image(
      [](core::request& x) { x.kind = core::request_kind::edit; }, 5, 5);
    const auto& asked = questions.all(*this).back();
    BOOST_TEST((asked.who.id == id));
    BOOST_TEST(asked.what.mask);
    planning::facts found;
    found.mask = planning::mask_facts{ratio, 1, recorded};
    test::fact_questions::answer(*this, asked, found);
    while (auto p = next<test::prepare>())
      done(p->second);
    return id;
  }

  std::vector<worker_row> rows() const {
    return sut->cluster().workers.at(0).rows;
  }

  test::fact_questions questions;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_edits, fixture)

BOOST_AUTO_TEST_CASE(rows_are_told_with_their_masks_running_ones_first) {
  add_device(device, 2, 2);
  edit(0.2);
  edit(0.7, false);
  edit(0.4);
  const auto d = take<denoise>();
  // A row that records runs in full.
  BOOST_TEST((
    rows()
    == std::vector<worker_row>{{0.2, 4, true}, {1, 4, true}, {0.4, 4, false}}));
  actors::stepped on_the_way;
  on_the_way.worker = device_at(device);
  on_the_way.rows = {{d.ticket, 3, false}};
  on(on_the_way);
  BOOST_TEST((rows().front() == worker_row{0.2, 1, true}));
  done(d);
  BOOST_TEST((rows() == std::vector<worker_row>{{1, 4, true}, {0.4, 4, true}}));
  lose(device);
  add_device(test::scheduler_rig::life(3), 2, 2);
  BOOST_TEST(rows().size() == 2u);
}

BOOST_AUTO_TEST_CASE(without_edits_rows_are_not_told) {
  add_device(device, 2, 2);
  submit();
  while (auto p = next<test::prepare>())
    done(p->second);
  take<denoise>();
  BOOST_TEST(rows().empty());
}

BOOST_AUTO_TEST_SUITE_END()
