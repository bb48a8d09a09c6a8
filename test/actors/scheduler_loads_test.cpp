// SPDX-License-Identifier: Apache-2.0

// Variants that devices could not load, and the requests for them.

#include "actors/scheduler_plan_rig.hpp"

#include <algorithm>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;
using planning::joining;
using test::fast;
using test::scheduler_rig;
using test::slow;

const core::error gone =
  core::fail(ec::not_found, "/models/a: no such file or directory");

struct loads_rig : test::plan_rig {
  loads_rig() {
    policy->choosing = [this](const planning::facts&) -> planning::choice {
      return planning::go{core::route_id{wanted.value}};
    };
  }

  /// Announces a device that could not load some of its variants.
  void announce(uint32_t process, std::vector<std::string> variants,
                std::vector<core::variant_id> failed, uint32_t n = 1,
                std::vector<std::string> may_host = {}) {
    actors::worker_ready x;
    x.worker = scheduler_rig::device_at(scheduler_rig::life(process, n));
    x.seats = x.max_batch = 4;
    x.device = "cpu";
    x.variants = std::move(variants);
    x.may_host = std::move(may_host);
    x.loads_beside = true;
    for (const auto v : failed)
      x.failed.push_back({v, gone});
    rig->on(x);
  }

  void adopted_without(const actors::adopt& x, core::variant_id failed,
                       core::error why = gone) {
    rig->on(actors::adopted{scheduler_rig::device_at(life(2)),
                            x.number,
                            {},
                            {{failed, std::move(why)}}});
  }

  core::request_id ask(core::variant_id v) {
    wanted = v;
    const auto id = rig->submit();
    prepare_all();
    return id;
  }

  /// The request ends with the reason, without an attempt to run it.
  void is_told(core::request_id id) {
    BOOST_TEST_REQUIRE(rig->answered(id));
    const auto& why = rig->answer_to(id).failure;
    BOOST_TEST((why.code == ec::unavailable));
    BOOST_TEST(why.text
               == "card@2 cannot be loaded: /models/a: no such file or "
                  "directory");
  }

  const planning::worker_view& view(size_t i = 0) {
    return rig->sut->cluster().workers.at(i);
  }

  core::variant_id wanted = slow;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_loads, loads_rig)

BOOST_AUTO_TEST_CASE(a_request_that_waits_for_a_load_that_fails_is_told_why) {
  announce(2, {"card@4"}, {});
  const auto id = ask(fast);
  BOOST_TEST((rig->clusters.back().unhosted == std::vector{fast}));
  publish({fast}, 4, joining::step);
  BOOST_TEST(!rig->answered(id));
  adopted_without(rig->take<actors::adopt>(), fast);
  is_told(id);
  // The device hosts what it had, and its requests go on.
  BOOST_TEST((view().hosting == std::vector{slow}));
  BOOST_TEST((view().unloadable == std::vector{fast}));
  BOOST_TEST((rig->clusters.back().workers[0].unloadable == std::vector{fast}));
  ask(slow);
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(a_failure_without_names_is_about_all_that_was_ordered) {
  announce(2, {"card@4"}, {});
  const auto id = ask(fast);
  publish({fast}, 4, joining::step);
  adopted(rig->take<actors::adopt>(), gone);
  is_told(id);
  BOOST_TEST((view().hosting == std::vector{slow}));
}

BOOST_AUTO_TEST_CASE(a_device_that_loads_alone_hosts_what_it_could_load) {
  rig->add_device(life(2));
  publish({fast}, 4, joining::step);
  adopted(rig->take<actors::adopt>());
  publish({slow, fast}, 4, joining::step);
  const auto order = rig->take<actors::adopt>();
  const auto id = ask(fast);
  const auto other = ask(slow);
  adopted_without(order, fast);
  is_told(id);
  BOOST_TEST(!rig->answered(other));
  BOOST_TEST((view().hosting == std::vector{slow}));
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(new_requests_are_refused_at_once_while_the_pause_lasts) {
  announce(2, {"card@4"}, {fast});
  wanted = fast;
  const auto id = rig->submit();
  is_told(id);
  BOOST_TEST(rig->sut->counts().refused == 1u);
  BOOST_TEST((rig->answer_to(id).retry_after == 1s));
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(after_the_pause_a_request_waits_for_the_next_attempt) {
  announce(2, {"card@4"}, {fast});
  BOOST_TEST(rig->sut->wants_tick());
  rig->tick(1s);
  BOOST_TEST(view().unloadable.empty());
  BOOST_TEST(rig->clusters.back().workers[0].unloadable.empty());
  BOOST_TEST(!rig->sut->wants_tick());
  const auto id = ask(fast);
  BOOST_TEST((rig->clusters.back().unhosted == std::vector{fast}));
  publish({slow, fast}, 4, joining::step);
  const auto order = rig->take<actors::adopt>();
  BOOST_TEST(!rig->answered(id));
  // The files are back.
  adopted(order);
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
  BOOST_TEST(rig->sut->status().workers[0].failed.empty());
}

BOOST_AUTO_TEST_CASE(the_next_pause_is_longer) {
  announce(2, {"card@4"}, {fast});
  rig->tick(1s);
  const auto id = ask(fast);
  publish({slow, fast}, 4, joining::step);
  adopted_without(rig->take<actors::adopt>(), fast);
  is_told(id);
  rig->tick(1s);
  BOOST_TEST((view().unloadable == std::vector{fast}));
  rig->tick(1s);
  BOOST_TEST(view().unloadable.empty());
}

BOOST_AUTO_TEST_CASE(a_plan_does_not_order_what_cannot_be_loaded) {
  announce(2, {"card@4"}, {fast});
  const auto orders = [&] {
    std::vector<std::vector<core::variant_id>> all;
    while (auto x = rig->next<actors::adopt>())
      if (!x->second.hosting.empty())
        all.push_back(x->second.hosting);
    return all;
  };
  publish({slow, fast}, 4, joining::step);
  publish({fast}, 4, joining::step);
  BOOST_TEST(orders().empty());
  BOOST_TEST((view().hosting == std::vector{slow}));
  // The plan in force is followed once the pause is over.
  rig->tick(1s);
  const std::vector<std::vector<core::variant_id>> expected{{fast}};
  BOOST_TEST((orders() == expected));
}

BOOST_AUTO_TEST_CASE(an_operators_wish_ends_the_pause) {
  announce(2, {"card@4"}, {fast});
  rig->on(actors::wish_hosting{{fast}, false});
  BOOST_TEST((view().unloadable == std::vector{fast}));
  rig->on(actors::wish_hosting{{fast}, true});
  BOOST_TEST(view().unloadable.empty());
  BOOST_TEST(rig->clusters.back().workers[0].unloadable.empty());
}

BOOST_AUTO_TEST_CASE(a_request_waits_where_another_device_may_load_it) {
  announce(2, {"card@4"}, {fast});
  announce(3, {"card@4"}, {});
  const auto id = ask(fast);
  BOOST_TEST(!rig->answered(id));
  BOOST_TEST((rig->clusters.back().unhosted == std::vector{fast}));
}

BOOST_AUTO_TEST_CASE(a_device_that_may_not_host_it_is_no_reason_to_wait) {
  announce(2, {"card@4"}, {fast});
  announce(3, {"card@4"}, {}, 1, {"card@4"});
  is_told(ask(fast));
}

BOOST_AUTO_TEST_CASE(a_device_without_any_model_is_there) {
  announce(2, {}, {slow, fast});
  is_told(ask(fast));
  BOOST_TEST(view().hosting.empty());
  BOOST_TEST(rig->sut->status().workers[0].failed.size() == 2u);
  rig->tick(1s);
  const auto id = ask(slow);
  publish({slow}, 4, joining::step);
  adopted(rig->take<actors::adopt>());
  BOOST_TEST(!rig->answered(id));
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(a_process_that_dies_while_it_loads_failed_to_load) {
  announce(2, {"card@4"}, {});
  ask(slow);
  const auto run = rig->take<actors::denoise>();
  rig->stepping({run.ticket});
  const auto id = ask(fast);
  publish({slow, fast}, 4, joining::step);
  rig->take<actors::adopt>();
  rig->lose(life(2));
  // The loading is to blame, not the rows that ran beside it.
  BOOST_TEST(rig->blamed.empty());
  BOOST_TEST_REQUIRE(rig->answered(id));
  BOOST_TEST(rig->answer_to(id).failure.text
             == "card@2 cannot be loaded: the process crashed while it loaded "
                "models");
  announce(2, {"card@4"}, {}, 2);
  BOOST_TEST((view().unloadable == std::vector{fast}));
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(of_two_that_a_process_died_with_each_is_tried_alone) {
  using variants = std::vector<core::variant_id>;
  const auto ordered = [&] {
    auto x = rig->take<actors::adopt>();
    while (x.hosting.empty())
      x = rig->take<actors::adopt>();
    return x;
  };
  const auto join = [&](uint32_t n) {
    announce(2, {}, {}, n);
    publish({slow, fast}, 4, joining::step);
    return ordered();
  };
  const auto loaded = [&](const actors::adopt& x, uint32_t n) {
    rig->on(
      actors::adopted{scheduler_rig::device_at(life(2, n)), x.number, {}});
    publish({slow, fast}, 4, joining::step);
  };
  join(1);
  rig->lose(life(2));
  // Nobody is refused yet: either may be the one.
  const auto healthy = ask(fast);
  auto order = join(2);
  BOOST_TEST((order.hosting == variants{slow}));
  rig->lose(life(2, 2));
  order = join(3);
  BOOST_TEST((view().unloadable == variants{slow}));
  BOOST_TEST((order.hosting == variants{fast}));
  loaded(order, 3);
  BOOST_TEST(!rig->answered(healthy));
  BOOST_TEST((rig->take<actors::denoise>().ticket.id == healthy));
  // After its pause the other is tried beside what is there, and dies alone.
  rig->tick(1s);
  order = ordered();
  BOOST_TEST((order.hosting == variants{slow, fast}));
  rig->lose(life(2, 3));
  // The sound variant is loaded before the next attempt.
  BOOST_TEST((join(4).hosting == variants{fast}));
}

BOOST_AUTO_TEST_CASE(a_suspect_is_told_too) {
  announce(2, {"card@4", "card@2"}, {});
  const auto id = ask(fast);
  const auto run = rig->take<actors::denoise>();
  rig->stepping({run.ticket});
  rig->lose(life(2));
  BOOST_TEST(!rig->answered(id));
  announce(2, {"card@4"}, {fast}, 2);
  is_told(id);
}

BOOST_AUTO_TEST_CASE(a_cascade_answers_with_its_light_image) {
  announce(2, {"card@4"}, {});
  adjust = [](planning::plan& x) {
    planning::route both;
    both.name = "both";
    auto& light = both.legs.emplace_back();
    light.any_of = {slow};
    light.check = planning::gate{"judge", 0};
    both.legs.emplace_back().any_of = {fast};
    x.routes = {both};
    x.thresholds = {0.9};
  };
  publish({slow}, 4, joining::step);
  wanted = slow;
  const auto id = rig->submit();
  prepare_all();
  rig->done(rig->take<actors::denoise>());
  prepare_all();
  BOOST_TEST(!rig->answered(id));
  publish({slow, fast}, 4, joining::step);
  std::optional<actors::adopt> order;
  while (auto x = rig->next<actors::adopt>())
    if (!x->second.hosting.empty())
      order = x->second;
  BOOST_TEST_REQUIRE(order.has_value());
  adopted_without(*order, fast);
  BOOST_TEST(rig->work_off());
  const auto& a = rig->answer_to(id);
  BOOST_TEST((a.failure.code == ec::none));
  BOOST_TEST(a.variant == "card@4");
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_beside_is_still_loaded_alone) {
  announce(2, {"card@4"}, {});
  publish({fast}, 4, joining::step);
  adopted_without(rig->take<actors::adopt>(), fast,
                  core::fail(ec::out_of_resources, "no room"));
  BOOST_TEST(view().unloadable.empty());
  const auto order = rig->take<actors::adopt>();
  BOOST_TEST((order.hosting == std::vector{fast}));
  adopted_without(order, fast, core::fail(ec::out_of_resources, "no room"));
  BOOST_TEST((view().unloadable == std::vector{fast}));
  BOOST_TEST(view().hosting.empty());
}

BOOST_AUTO_TEST_SUITE_END()
