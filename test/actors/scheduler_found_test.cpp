// SPDX-License-Identifier: Apache-2.0

// Requests whose answer is an image that was found.

#include "actors/scheduler_plan_rig.hpp"

#include <set>

namespace {

using namespace atelier;
using test::fast;
using test::slow;

constexpr core::route_id found_route{2};

struct found_rig : test::plan_rig {
  explicit found_rig(uint32_t slots = 16) : plan_rig(slots) {
    rig->profile->reuse.emplace().full = slow;
    adjust = [](planning::plan& p) {
      planning::route r;
      r.name = "picture";
      r.from = planning::origin::image;
      p.routes.push_back(r);
    };
    policy->choosing = [](const planning::facts& known) -> planning::choice {
      if (!known.near) {
        planning::need n;
        n.near = true;
        return n;
      }
      if (known.near->empty())
        return planning::go{core::route_id{fast.value}};
      return planning::go{found_route, 0};
    };
    rig->add_device(life(2));
    publish({slow, fast}, 4, planning::joining::step);
  }

  /// Submits a request that finds these entries.
  core::request_id submit(std::vector<uint64_t> entries) {
    const auto id = rig->submit();
    std::vector<planning::match> near;
    for (const auto entry : entries)
      near.push_back({entry, 0.9, {}, 0});
    find(std::move(near));
    fetch();
    return id;
  }

  /// Fetches what is ordered, unless it is gone.
  void fetch() {
    while (auto at = rig->next<test::fetch_order>()) {
      const auto& [x, entry] = at->second;
      asked_for.push_back(entry);
      actors::stage_done told;
      told.ticket = x.ticket;
      told.stage = x.stage;
      if (gone.count(entry) != 0)
        told.failure = core::fail(core::ec::not_found, "it is gone");
      else
        BOOST_REQUIRE(
          rig->store->publish(x.writes[planning::held::pixels], 1, 0));
      told.outcome = core::typed_body::of(test::told_stage::done{});
      rig->on(told);
    }
  }

  std::set<uint64_t> gone;
  std::vector<uint64_t> asked_for;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_found, found_rig)

BOOST_AUTO_TEST_CASE(a_found_image_is_encoded_and_nothing_is_drawn) {
  const auto id = submit({7, 8});
  BOOST_TEST(rig->count<test::prepare>() == 0u);
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  const auto f = rig->take<test::finish>();
  BOOST_TEST(static_cast<bool>(rig->store->view(f.pixels)));
  BOOST_TEST((f.how.variant == slow));
  rig->done(f);
  const auto& answer = rig->answer_to(id);
  BOOST_TEST((answer.failure.code == core::ec::none));
  BOOST_TEST(answer.route == "picture");
  BOOST_TEST(answer.steps_run == 0u);
  BOOST_TEST((asked_for == std::vector<uint64_t>{7}));
  const auto& counts = rig->sut->counts();
  BOOST_TEST(counts.hits == 1u);
  BOOST_TEST(
    (counts.skips == std::vector<std::pair<uint32_t, uint64_t>>{{4, 1}}));
  BOOST_TEST(rig->work_off());
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(the_next_is_taken_where_a_image_has_gone) {
  gone = {7};
  const auto id = submit({7, 8});
  BOOST_TEST((asked_for == std::vector<uint64_t>{7, 8}));
  BOOST_TEST(rig->count<test::prepare>() == 0u);
  BOOST_TEST(rig->work_off());
  BOOST_TEST(rig->answer_to(id).route == "picture");
  BOOST_TEST(rig->sut->counts().hits == 1u);
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(it_is_drawn_where_no_image_is_left) {
  gone = {7, 8};
  const auto id = submit({7, 8});
  BOOST_TEST(rig->count<test::finish>() == 0u);
  BOOST_TEST((rig->take<test::prepare>().how.variant == fast));
  BOOST_TEST(rig->free_slots(ipc::slot_kind::image) == 16u);
  BOOST_TEST(rig->sut->counts().hits == 0u);
  rig->cancel(id);
  BOOST_TEST((rig->failure_of(id) == core::ec::cancelled));
}

BOOST_AUTO_TEST_CASE(it_waits_where_no_slot_is_left_for_its_encoding) {
  found_rig small{2};
  const auto first = small.submit({7});
  const auto held = small.rig->take<test::finish>();
  BOOST_TEST(small.rig->free_slots(ipc::slot_kind::image) == 0u);
  const auto second = small.submit({8});
  BOOST_TEST((small.asked_for == std::vector<uint64_t>{7}));
  small.rig->done(held);
  small.rig->taken(first);
  small.fetch();
  BOOST_TEST((small.asked_for == std::vector<uint64_t>{7, 8}));
  BOOST_TEST(small.rig->work_off());
  BOOST_TEST(small.rig->answer_to(second).route == "picture");
  BOOST_TEST(small.rig->quiet());
}

BOOST_AUTO_TEST_CASE(it_is_encoded_again_where_the_encoder_dies) {
  const auto id = submit({7});
  const auto lost = rig->take<test::finish>();
  rig->lose(life(1));
  rig->add_cpu(life(3));
  const auto again = rig->take<test::finish>();
  BOOST_TEST((again.pixels == lost.pixels));
  rig->done(again);
  BOOST_TEST((rig->failure_of(id) == core::ec::none));
  BOOST_TEST(asked_for.size() == 1u);
  BOOST_TEST(rig->work_off());
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(it_can_be_cancelled_and_stopped) {
  const auto cancelled = submit({7});
  rig->cancel(cancelled);
  BOOST_TEST((rig->failure_of(cancelled) == core::ec::cancelled));
  const auto stopped = submit({8});
  rig->stop();
  BOOST_TEST((rig->failure_of(stopped) == core::ec::stopping));
  BOOST_TEST(rig->work_off());
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(a_route_without_stages_names_what_was_found) {
  const auto refused = [&](planning::go how) {
    policy->choosing = [how](const planning::facts&) { return how; };
    const auto id = rig->submit();
    BOOST_TEST((rig->failure_of(id) == core::ec::internal));
  };
  refused({found_route, 0});
  refused({found_route, std::nullopt});
  refused({core::route_id{3}, 0});
  BOOST_TEST(rig->sut->counts().refused == 3u);
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_SUITE_END()
