// SPDX-License-Identifier: Apache-2.0

// The variants that workers host by a plan, and the rows that wait for them.

#include "actors/scheduler_plan_rig.hpp"

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using planning::joining;
using test::fast;
using test::scheduler_rig;
using test::slow;

struct hosting_rig : test::plan_rig {
  using test::plan_rig::plan_rig;

  /// The variant that draws the requests, if the test sets one.
  core::variant_id wanted = slow;
};

struct two_models : hosting_rig {
  two_models() : hosting_rig(16, {}, profile()) {}

  static std::shared_ptr<planning::profile> profile() {
    auto p = test::card_profile();
    p->variants[fast.value].model = "other";
    return p;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_hosting, hosting_rig)

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
  // The scheduler reports that the variant is loaded, and that a row still
  // waits for the other one.
  BOOST_TEST(rig->clusters.size() == told + 2);
  BOOST_TEST((rig->clusters.back().unhosted == std::vector{slow}));
  BOOST_TEST((rig->sut->cluster().workers[0].hosting == std::vector{fast}));
  BOOST_TEST(rig->sut->counts().loads == 1u);
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
  // An answer to an older order no longer counts.
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

BOOST_AUTO_TEST_CASE(what_waits_in_a_workers_own_queue_is_not_its_variants) {
  rig->add_device(life(2));
  policy->own_queues = true;
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
  // The worker's present variants still answer.
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
  // Two attempts count as one load.
  BOOST_TEST(rig->sut->counts().loads == 1u);
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
  BOOST_TEST(rig->clusters.back().waiting.at(slow.value) > 0u);
  BOOST_TEST(rig->sut->cluster().unhosted.empty());
  // While a worker loads the variant, no other worker need load it.
  publish({slow}, 4, joining::step);
  rig->submit();
  prepare_all();
  BOOST_TEST(rig->clusters.size() == told + 1);
}

BOOST_AUTO_TEST_CASE(a_plan_that_groups_lets_variants_of_a_model_share) {
  adjust = [](planning::plan& x) { x.grouped = true; };
  policy->choosing = [this](const planning::facts&) -> planning::choice {
    return planning::go{core::route_id{wanted.value}};
  };
  rig->add_device(life(2));
  publish({slow, fast}, 3, joining::step);
  while (const auto order = rig->next<actors::adopt>())
    adopted(order->second);
  for (const auto v : {slow, fast, slow}) {
    wanted = v;
    rig->submit();
    prepare_all();
    BOOST_TEST((rig->take<actors::denoise>().recipe.variant == v));
  }
}

BOOST_FIXTURE_TEST_CASE(a_plan_that_groups_runs_one_model_at_a_time,
                        two_models) {
  adjust = [](planning::plan& x) { x.grouped = true; };
  policy->choosing = [this](const planning::facts&) -> planning::choice {
    return planning::go{core::route_id{wanted.value}};
  };
  rig->add_device(life(2));
  publish({slow, fast}, 4, joining::step);
  while (const auto order = rig->next<actors::adopt>())
    adopted(order->second);
  std::vector<actors::denoise> run;
  const auto begins = [&](core::variant_id v) {
    wanted = v;
    rig->submit([&](core::request& x) { x.deadline = rig->now + 1h; });
    prepare_all();
    const auto d = rig->next<actors::denoise>();
    if (d) {
      BOOST_TEST((d->second.recipe.variant == v));
      run.push_back(d->second);
    }
    return d.has_value();
  };
  BOOST_TEST(begins(slow));
  BOOST_TEST(begins(slow));
  const auto told = rig->clusters.size();
  BOOST_TEST(!begins(fast));
  BOOST_TEST_REQUIRE(rig->clusters.size() == told + 1);
  BOOST_TEST((rig->clusters.back().waiting == std::vector<uint64_t>{0, 1}));
  BOOST_TEST(rig->clusters.back().unhosted.empty());
  rig->tick(1ms);
  BOOST_TEST(rig->clusters.size() == told + 1);
  // Waiting rows still meet their deadlines after this row.
  BOOST_TEST(begins(slow));
  BOOST_TEST(!begins(fast));
  BOOST_TEST(rig->clusters.size() == told + 2);
  BOOST_TEST((rig->clusters.back().waiting == std::vector<uint64_t>{0, 2}));
  for (const auto& d : run) {
    BOOST_TEST(rig->count<actors::denoise>() == 0u);
    rig->done(d);
  }
  BOOST_TEST(rig->count<actors::denoise>() == 2u);
  BOOST_TEST((rig->take<actors::denoise>().recipe.variant == fast));
  BOOST_TEST((rig->take<actors::denoise>().recipe.variant == fast));
}

BOOST_AUTO_TEST_CASE(
  rows_of_a_variant_share_a_batch_before_they_share_devices) {
  adjust = [](planning::plan& x) { x.grouped = true; };
  for (const uint32_t n : {2u, 3u, 4u})
    rig->add_device(life(n));
  publish({slow, fast}, 4, joining::step);
  const auto goes_to = [&] {
    rig->submit();
    prepare_all();
    const auto d = rig->next<actors::denoise>();
    BOOST_TEST_REQUIRE(d.has_value());
    return d->first;
  };
  const auto first = goes_to();
  // Both rows go to the same device.
  BOOST_TEST((goes_to() == first));
  rig->tick(1s);
  // More than half of the devices are idle.
  const auto second = goes_to();
  BOOST_TEST((second != first));
  rig->tick(1s);
  // The last idle device stays free for new variants, so the fullest batch
  // takes the row.
  BOOST_TEST((goes_to() == first));
}

BOOST_AUTO_TEST_CASE(
  what_is_sent_away_takes_no_more_and_comes_back_when_wanted) {
  add_loading_device();
  adjust = [](planning::plan& x) { x.workers[0].leaving = {slow}; };
  publish({}, 4, joining::step);
  const auto away = rig->take<actors::adopt>();
  BOOST_TEST((away.leaving == std::vector{slow}));
  BOOST_TEST(away.hosting.empty());
  BOOST_TEST(rig->sut->cluster().workers[0].hosting.empty());
  adopted(away);
  rig->submit();
  prepare_all();
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  BOOST_TEST((rig->clusters.back().unhosted == std::vector{slow}));
  adjust = nullptr;
  publish({slow}, 4, joining::step);
  const auto back = rig->take<actors::adopt>();
  BOOST_TEST((back.hosting == std::vector{slow}));
  BOOST_TEST(back.leaving.empty());
  adopted(back);
  rig->done(rig->take<actors::denoise>());
}

BOOST_AUTO_TEST_CASE(what_a_load_takes_is_told_and_what_is_there_takes_none) {
  const auto told_load = [&](core::variant_id v) {
    rig->submit();
    prepare_all();
    rig->done(rig->take<actors::denoise>());
    actors::stepped sign;
    sign.worker = scheduler_rig::device_at(life(2));
    rig->on(sign);
    const auto& told = rig->clusters.back().costs;
    return told.empty() ? core::timespan{0} : told.front().costs[v.value].load;
  };
  for (auto& v : rig->profile->variants)
    v.load = 0s;
  add_loading_device();
  publish({slow, fast}, 4, joining::step);
  const auto order = rig->take<actors::adopt>();
  rig->now += 7s;
  adopted(order);
  rig->take<actors::adopt>();
  BOOST_TEST((told_load(fast) == 7s));
  BOOST_TEST((told_load(slow) == 0s));
  // The worker already hosts the variant that it must keep.
  publish({slow}, 4, joining::step);
  const auto keep = rig->take<actors::adopt>();
  adopted(keep);
  BOOST_TEST((told_load(slow) == 0s));
  BOOST_TEST((told_load(fast) == 7s));
}

BOOST_AUTO_TEST_CASE(a_worker_that_loads_is_told_to_forget_when_it_has) {
  add_loading_device();
  publish({fast}, 4, joining::step);
  const auto loading = rig->take<actors::adopt>();
  adjust = [](planning::plan& x) { x.workers[0].leaving = {slow}; };
  publish({}, 4, joining::step);
  BOOST_TEST(rig->count<actors::adopt>() == 0u);
  adopted(loading);
  // The orders contain its batches by later plans, and the leaving variant.
  bool told = false;
  while (auto next = rig->next<actors::adopt>())
    told = told || next->second.leaving == std::vector{slow};
  BOOST_TEST(told);
  BOOST_TEST((rig->sut->cluster().workers[0].hosting == std::vector{fast}));
}

BOOST_AUTO_TEST_SUITE_END()
