// SPDX-License-Identifier: Apache-2.0

// What a plan changes at workers, and what policies ask before they choose.

#include "actors/hub_rig.hpp"
#include <atelier/planning/policies/vanilla.hpp>

#include <cmath>
#include <functional>
#include <limits>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using planning::joining;

constexpr core::variant_id slow{0};
constexpr core::variant_id fast{1};

/// Vanilla but for what a test says.
struct scripted_policy : planning::vanilla {
  planning::choice choose(const core::request& wanted,
                          const planning::facts& known,
                          const planning::profile& costs,
                          const planning::plan& in_force,
                          const planning::cluster_view& there,
                          core::philox& random) const override {
    if (choosing)
      return choosing(known);
    return vanilla::choose(wanted, known, costs, in_force, there, random);
  }

  core::lane_id place(const core::request& wanted, const planning::stage& next,
                      const planning::plan& in_force,
                      const planning::cluster_view& there,
                      core::philox& random) const override {
    if (own_lanes && !there.workers.empty())
      return planning::lane_of(there.workers.front().worker);
    return vanilla::place(wanted, next, in_force, there, random);
  }

  std::function<planning::choice(const planning::facts&)> choosing;
  bool own_lanes = false;
};

struct fixture {
  fixture() {
    test::hub_rig::options o;
    o.policy = policy;
    o.slots = {16, 16, 0};
    o.facts = questions;
    rig.emplace(std::move(o));
    for (auto& v : rig->profile->variants)
      v.load = 1s;
    rig->add_cpu(life(1), 16);
  }

  static constexpr ipc::process_life life(uint32_t n) {
    return test::hub_rig::life(n);
  }

  /// Publishes a plan in which each device has this hosting and batch.
  void publish(std::vector<core::variant_id> hosting, uint32_t batch,
               joining join, uint32_t level = 0) {
    planning::plan next =
      policy->replan({}, *rig->profile, rig->sut->cluster(), last);
    for (auto& a : next.workers) {
      a.hosting = hosting;
      a.batch = batch;
      a.join = join;
      a.level = level;
    }
    if (adjust)
      adjust(next);
    last = next;
    rig->event([&](auto& h) {
      h.publish(std::make_shared<const planning::plan>(next), rig->now);
    });
  }

  void adopted(const actors::adopt& x, core::error why = {}) {
    rig->on(actors::adopted{test::hub_rig::device_at(life(2)), x.number, why});
  }

  /// One that loads while its rows go on.
  void add_loading_device() {
    actors::worker_ready x;
    x.who = test::hub_rig::device_at(life(2));
    x.seats = x.max_batch = 4;
    x.device = "cpu";
    x.variants = {"card@4"};
    x.loads_beside = true;
    rig->on(x);
  }

  /// Prepares everything that is to be prepared.
  void prepare_all() {
    while (auto p = rig->next<actors::prepare>())
      rig->done(p->second);
  }

  struct asked {
    core::request_id of;
    planning::need what;
  };

  struct finder : actors::fact_finder {
    void find(std::shared_ptr<const core::request> of,
              planning::need wanted) override {
      all.push_back({of->id, wanted});
    }

    std::vector<asked> all;
  };

  std::shared_ptr<scripted_policy> policy = std::make_shared<scripted_policy>();
  std::shared_ptr<finder> questions = std::make_shared<finder>();
  std::optional<test::hub_rig> rig;
  planning::plan last = [] {
    planning::plan x;
    x.version = 1;
    return x;
  }();
  std::function<void(planning::plan&)> adjust;
};

planning::need wants_near() {
  planning::need n;
  n.near = true;
  return n;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(hub_plan, fixture)

BOOST_AUTO_TEST_CASE(a_worker_ends_its_rows_before_it_loads_other_variants) {
  rig->add_device(life(2));
  publish({slow}, 4, joining::step);
  adopted(rig->take<actors::adopt>());
  rig->submit();
  prepare_all();
  const auto d = rig->take<actors::denoise>();
  publish({fast}, 4, joining::step);
  BOOST_TEST(rig->count<actors::adopt>() == 0u);
  BOOST_TEST(rig->sut->cluster().workers[0].hosting.empty());
  rig->done(d);
  const auto order = rig->take<actors::adopt>();
  BOOST_TEST((order.hosting == std::vector{fast}));
  rig->submit();
  prepare_all();
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  const auto told = rig->clusters.size();
  adopted(order);
  // That it is there, and that a row still waits for the other.
  BOOST_TEST(rig->clusters.size() == told + 2);
  BOOST_TEST((rig->clusters.back().unhosted == std::vector{slow}));
  BOOST_TEST((rig->sut->cluster().workers[0].hosting == std::vector{fast}));
  BOOST_TEST(rig->sut->counts().loads == 2u);
}

BOOST_AUTO_TEST_CASE(what_takes_no_time_to_load_counts_as_there) {
  for (auto& v : rig->profile->variants)
    v.load = 0s;
  rig->add_device(life(2));
  rig->submit();
  prepare_all();
  const auto d = rig->take<actors::denoise>();
  publish({fast}, 4, joining::step);
  BOOST_TEST((rig->sut->cluster().workers[0].hosting == std::vector{fast}));
  const auto told = rig->clusters.size();
  rig->done(d);
  adopted(rig->take<actors::adopt>());
  BOOST_TEST(rig->clusters.size() == told);
}

BOOST_AUTO_TEST_CASE(a_plan_that_changes_while_a_worker_loads_is_followed) {
  rig->add_device(life(2));
  publish({fast}, 4, joining::step);
  const auto first = rig->take<actors::adopt>();
  publish({slow, fast}, 4, joining::step);
  BOOST_TEST(rig->count<actors::adopt>() == 0u);
  adopted(first);
  const auto second = rig->take<actors::adopt>();
  BOOST_TEST((second.hosting == std::vector{slow, fast}));
  // An answer to an older order counts no more.
  adopted(first);
  BOOST_TEST(rig->sut->cluster().workers[0].hosting.empty());
  adopted(second);
  BOOST_TEST(rig->sut->cluster().workers[0].hosting.size() == 2u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_loaded_leaves_a_worker_without_variants) {
  rig->add_device(life(2));
  publish({fast}, 4, joining::step);
  adopted(rig->take<actors::adopt>(),
          core::fail(core::ec::out_of_resources, "no memory"));
  BOOST_TEST(rig->sut->cluster().workers[0].hosting.empty());
  publish({slow}, 4, joining::step);
  adopted(rig->take<actors::adopt>());
  BOOST_TEST((rig->sut->cluster().workers[0].hosting == std::vector{slow}));
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_variant_is_counted_until_it_runs) {
  using numbers = std::vector<uint64_t>;
  rig->add_device(life(2));
  publish({fast}, 4, joining::step);
  adopted(rig->take<actors::adopt>());
  rig->submit();
  prepare_all();
  BOOST_TEST((rig->sut->counts().waiting_shared == numbers{1, 0}));
  publish({slow}, 4, joining::step);
  adopted(rig->take<actors::adopt>());
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
  BOOST_TEST((rig->sut->counts().waiting_shared == numbers{0, 0}));
}

BOOST_AUTO_TEST_CASE(what_waits_in_a_workers_own_lane_is_not_its_variants) {
  rig->add_device(life(2));
  policy->own_lanes = true;
  for (int i = 0; i < 40; ++i)
    rig->submit();
  prepare_all();
  BOOST_TEST(rig->sut->cluster().workers[0].waiting > 0u);
  BOOST_TEST(rig->sut->counts().waiting_shared.empty());
}

BOOST_AUTO_TEST_CASE(a_worker_that_loads_beside_its_rows_goes_on) {
  add_loading_device();
  rig->submit();
  prepare_all();
  const auto d = rig->take<actors::denoise>();
  publish({fast}, 4, joining::step);
  const auto order = rig->take<actors::adopt>();
  BOOST_TEST((order.keep == std::vector{slow}));
  BOOST_TEST((order.hosting == std::vector{fast}));
  const auto& w = rig->sut->cluster().workers[0];
  BOOST_TEST((w.hosting == std::vector{slow}));
  BOOST_TEST((w.becoming == std::vector{fast}));
  // What it has still answers.
  rig->submit();
  prepare_all();
  const auto more = rig->take<actors::denoise>();
  const auto told = rig->clusters.size();
  adopted(order);
  BOOST_TEST(rig->clusters.size() == told + 1);
  BOOST_TEST((rig->sut->cluster().workers[0].hosting == std::vector{fast}));
  BOOST_TEST(rig->take<actors::adopt>().hosting.empty());
  rig->done(d);
  rig->done(more);
  BOOST_TEST(rig->sut->counts().loads == 1u);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_beside_is_loaded_when_rows_have_ended) {
  add_loading_device();
  rig->submit();
  prepare_all();
  const auto d = rig->take<actors::denoise>();
  publish({fast}, 4, joining::step);
  adopted(rig->take<actors::adopt>(),
          core::fail(core::ec::out_of_resources, "no room beside"));
  BOOST_TEST(rig->sut->cluster().workers[0].hosting.empty());
  BOOST_TEST(rig->count<actors::adopt>() == 0u);
  rig->submit();
  prepare_all();
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  rig->done(d);
  const auto order = rig->take<actors::adopt>();
  BOOST_TEST(order.keep.empty());
  adopted(order);
  BOOST_TEST((rig->sut->cluster().workers[0].hosting == std::vector{fast}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_loaded_beside_leaves_what_was_there) {
  add_loading_device();
  publish({fast}, 4, joining::step);
  adopted(rig->take<actors::adopt>(),
          core::fail(core::ec::bad_payload, "not a model"));
  BOOST_TEST((rig->sut->cluster().workers[0].hosting == std::vector{slow}));
  BOOST_TEST((rig->sut->cluster().workers[0].becoming == std::vector{slow}));
}

BOOST_AUTO_TEST_CASE(a_plan_that_turns_back_while_a_worker_loads_is_followed) {
  add_loading_device();
  publish({fast}, 4, joining::step);
  const auto first = rig->take<actors::adopt>();
  publish({slow}, 4, joining::step);
  const auto second = rig->take<actors::adopt>();
  BOOST_TEST((second.hosting == std::vector{slow}));
  adopted(first);
  adopted(second);
  BOOST_TEST((rig->sut->cluster().workers[0].hosting == std::vector{slow}));
  rig->submit();
  prepare_all();
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(what_nobody_hosts_is_told_once) {
  rig->add_device(life(2));
  publish({fast}, 4, joining::step);
  adopted(rig->take<actors::adopt>());
  const auto told = rig->clusters.size();
  rig->submit();
  rig->submit();
  prepare_all();
  BOOST_TEST_REQUIRE(rig->clusters.size() == told + 1);
  BOOST_TEST((rig->clusters.back().unhosted == std::vector{slow}));
  BOOST_TEST(rig->sut->cluster().unhosted.empty());
  // While a worker loads it, nobody need look further.
  publish({slow}, 4, joining::step);
  rig->submit();
  prepare_all();
  BOOST_TEST(rig->clusters.size() == told + 1);
}

BOOST_AUTO_TEST_CASE(whole_batches_go_to_idle_workers_and_are_not_filled_up) {
  rig->add_device(life(2), 8, 8);
  publish({slow, fast}, 2, joining::whole_batch);
  BOOST_TEST((rig->take<actors::adopt>().join == joining::whole_batch));
  for (int i = 0; i < 4; ++i)
    rig->submit();
  prepare_all();
  // The first came alone; the others wait.
  const auto first = rig->take<actors::denoise>();
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  rig->done(first);
  const auto second = rig->take<actors::denoise>();
  const auto third = rig->take<actors::denoise>();
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  // The worker starts with the last one.
  BOOST_TEST(!first.more);
  BOOST_TEST(second.more);
  BOOST_TEST(!third.more);
  rig->done(second);
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  rig->done(third);
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(a_dead_workers_own_lane_is_placed_anew) {
  rig->add_device(life(2), 1, 1);
  policy->own_lanes = true;
  rig->submit();
  const auto id = rig->submit();
  prepare_all();
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
  BOOST_TEST(rig->sut->cluster().workers[0].waiting == 1u);
  policy->own_lanes = false;
  rig->add_device(life(3), 4, 4);
  // What was sent to the dead one is done by nobody.
  rig->sent.clear();
  rig->lose(life(2));
  BOOST_TEST(rig->work_off());
  BOOST_TEST((rig->failure_of(id) == core::ec::none));
}

BOOST_AUTO_TEST_CASE(a_policy_gets_the_facts_that_it_asks_for) {
  policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{known.near->empty() ? 0u : 1u}};
  };
  rig->add_device(life(2));
  const auto id = rig->submit();
  BOOST_REQUIRE(questions->all.size() == 1u);
  BOOST_TEST((questions->all[0].what == wants_near()));
  BOOST_TEST(rig->count<actors::prepare>() == 0u);
  actors::facts_found found;
  found.id = id;
  found.what.near = {planning::match{7, 0.9, {2}, 0}};
  rig->now += 30ms;
  rig->on(found);
  BOOST_TEST((rig->take<actors::prepare>().how.variant == fast));
  const auto& counts = rig->sut->counts();
  BOOST_TEST(counts.searched == 1u);
  BOOST_REQUIRE(counts.retrievals.size() == 1u);
  BOOST_TEST(std::abs(counts.retrievals[0].seconds - 0.03) < 1e-9);
  BOOST_TEST(!counts.retrievals[0].failed);
  // Nobody waits for it any more.
  rig->on(found);
}

BOOST_AUTO_TEST_CASE(facts_that_are_late_are_done_without) {
  policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{known.near->empty() ? 0u : 1u}};
  };
  rig->add_device(life(2));
  rig->submit();
  rig->tick(999ms);
  BOOST_TEST(rig->count<actors::prepare>() == 0u);
  rig->tick(1ms);
  BOOST_TEST((rig->take<actors::prepare>().how.variant == slow));
  BOOST_TEST(rig->sut->counts().facts_late == 1u);
  BOOST_TEST(rig->sut->counts().retrievals.at(0).failed);
}

BOOST_AUTO_TEST_CASE(requests_that_ask_can_be_cancelled_and_can_be_late) {
  policy->choosing = [](const planning::facts&) -> planning::choice {
    return wants_near();
  };
  const auto gone = rig->submit();
  rig->cancel(gone);
  BOOST_TEST((rig->failure_of(gone) == core::ec::cancelled));
  const auto late =
    rig->submit([&](core::request& x) { x.deadline = rig->now + 10ms; });
  rig->tick(20ms);
  BOOST_TEST((rig->failure_of(late) == core::ec::deadline_missed));
  rig->submit();
  rig->stop();
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(a_policy_that_asks_without_end_is_refused) {
  policy->choosing = [](const planning::facts&) -> planning::choice {
    return wants_near();
  };
  const auto id = rig->submit();
  for (int i = 0; i < 10 && !rig->answered(id); ++i)
    rig->tick(1s);
  BOOST_TEST((rig->failure_of(id) == core::ec::internal));
  BOOST_TEST(rig->sut->counts().refused == 1u);
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(a_score_below_the_threshold_leads_to_the_next_stage) {
  adjust = [](planning::plan& p) {
    planning::route r;
    r.name = "cascade";
    planning::stage light;
    light.any_of = {fast};
    light.check = planning::gate{"judge", 0};
    planning::stage heavy;
    heavy.any_of = {slow};
    r.stages = {light, heavy};
    p.routes = {r};
    p.thresholds = {0.5};
  };
  policy->choosing = [](const planning::facts&) -> planning::choice {
    return planning::go{core::route_id{0}};
  };
  rig->add_device(life(2));
  publish({slow, fast}, 4, joining::step);
  const auto judged = [&](double score) {
    rig->submit();
    prepare_all();
    const auto d = rig->take<actors::denoise>();
    BOOST_TEST(d.judge == "judge");
    BOOST_REQUIRE(rig->store->publish(d.image, 1, 0));
    actors::denoised r;
    r.who = d.who;
    r.score = score;
    rig->on(r);
  };
  judged(0.5);
  BOOST_TEST(rig->count<actors::finish>() == 1u);
  judged(0.499);
  BOOST_TEST(rig->count<actors::finish>() == 1u);
  prepare_all();
  const auto heavy = rig->take<actors::denoise>();
  BOOST_TEST((heavy.how.variant == slow));
  BOOST_TEST(heavy.judge.empty());
  // No number is the worst score.
  judged(std::numeric_limits<double>::quiet_NaN());
  BOOST_TEST(rig->count<actors::finish>() == 1u);
  const auto& bins = rig->sut->counts().confidences;
  BOOST_REQUIRE(bins.size() == 201u);
  BOOST_TEST(bins[0] == 1u);
  BOOST_TEST(bins[99] == 1u);
  BOOST_TEST(bins[100] == 1u);
}

BOOST_AUTO_TEST_CASE(a_run_from_a_latent_begins_at_what_is_stored) {
  adjust = [](planning::plan& p) {
    p.routes[0].stages[0].from = planning::origin::latent;
    p.routes[0].stages[0].skip = 3;
  };
  policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{0}, 0};
  };
  rig->add_device(life(2));
  publish({slow, fast}, 4, joining::step);
  const auto id = rig->submit();
  actors::facts_found found;
  found.id = id;
  found.what.near = {planning::match{7, 0.9, {1, 2, 4}, 0}};
  rig->on(found);
  prepare_all();
  BOOST_TEST(rig->take<actors::denoise>().begin_at == 2u);
  BOOST_TEST(rig->sut->cluster().workers[0].steps_left == 2u);
  BOOST_TEST(rig->sut->counts().hits == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
