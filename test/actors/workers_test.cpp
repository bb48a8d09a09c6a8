// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/hub_lanes.hpp>
#include <atelier/actors/scheduler/workers.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using actors::worker;
using actors::workers;

constexpr ipc::process_life life{core::process_id{1}, core::incarnation{2}};
constexpr core::ticket first{core::request_id{1}, 1};
constexpr core::ticket second{core::request_id{2}, 1};

planning::profile known() {
  planning::profile p;
  p.variants.resize(2);
  p.variants[0].name = "light";
  p.variants[1].name = "heavy";
  return p;
}

struct rig {
  workers sut;
  core::time_point now{1h};
  int asked = 0;

  worker* announce(role what, uint32_t index = 0,
                   ipc::process_life where = life) {
    actors::worker_ready x;
    x.worker = {where, what, index};
    x.seats = 2;
    x.max_batch = 2;
    if (what == role::denoise_step) {
      x.device = "cpu";
      x.variants = {"light", "unknown"};
    }
    return sut.announce(x, known(), now);
  }

  bool look() {
    return sut.look([this](const worker& w, planning::worker_view& out) {
      ++asked;
      out = w.view;
    });
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(workers_test, rig)

BOOST_AUTO_TEST_CASE(a_worker_that_announces_itself_is_there_once) {
  auto* w = announce(role::denoise_step);
  BOOST_REQUIRE(w != nullptr);
  BOOST_TEST(w->view.hosting.size() == 1u);
  BOOST_TEST(w->view.seats_free == 2u);
  BOOST_TEST(announce(role::denoise_step) == nullptr);
  BOOST_TEST(sut.find(w->address) == w);
  BOOST_TEST(sut.find(w->view.worker) == w);
  BOOST_TEST(sut.device_seats() == 2u);
  BOOST_TEST(announce(role::preprocess)->does_serve(actors::prepare_lane));
  BOOST_TEST(announce(role::postprocess)->does_serve(actors::finish_lane));
  BOOST_TEST(sut.device_seats() == 2u);
  BOOST_TEST(sut.of(life).size() == 3u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_buried_life_and_those_before_it_stay_away) {
  sut.bury(life);
  BOOST_TEST(announce(role::denoise_step) == nullptr);
  const ipc::process_life before{life.process, core::incarnation{1}};
  const ipc::process_life after{life.process, core::incarnation{3}};
  BOOST_TEST(announce(role::denoise_step, 0, before) == nullptr);
  BOOST_TEST(announce(role::denoise_step, 0, after) != nullptr);
}

BOOST_AUTO_TEST_CASE(a_removed_worker_is_found_no_more) {
  const auto where = announce(role::denoise_step)->address;
  sut.remove(sut.find(where)->view.worker);
  BOOST_TEST(sut.find(where) == nullptr);
  BOOST_TEST(sut.device_seats() == 0u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(seats_are_taken_and_given_back) {
  auto& w = *announce(role::denoise_step);
  sut.sit(w, first, 10);
  BOOST_TEST(sut.takes_more(w));
  sut.sit(w, second, 5);
  BOOST_TEST(!sut.takes_more(w));
  BOOST_TEST(w.view.steps_left == 15u);
  sut.stand_up(w, first, 4);
  BOOST_TEST(w.view.steps_left == 11u);
  BOOST_TEST((w.has == std::vector{second}));
  BOOST_TEST(sut.check() == "");
  w.has.clear();
  BOOST_TEST(sut.check() == "seats of worker 1 are not conserved");
}

BOOST_AUTO_TEST_CASE(a_batch_is_joined_while_it_is_filled_alone) {
  auto& w = *announce(role::denoise_step);
  w.join = planning::joining::whole_batch;
  w.filling = true;
  sut.sit(w, first, 1);
  BOOST_TEST(sut.takes_more(w));
  w.filling = false;
  BOOST_TEST(!sut.takes_more(w));
  w.join = planning::joining::single;
  w.filling = true;
  BOOST_TEST(!sut.takes_more(w));
}

BOOST_AUTO_TEST_CASE(a_worker_that_loads_or_drains_takes_nothing) {
  auto& w = *announce(role::denoise_step);
  for (auto flag : {&worker::draining, &worker::exclusive, &worker::suspected,
                    &worker::loading}) {
    w.*flag = true;
    BOOST_TEST(!sut.takes_more(w));
    w.*flag = false;
  }
  w.next_hosting.emplace();
  BOOST_TEST(!sut.takes_more(w));
}

BOOST_AUTO_TEST_CASE(a_suspect_has_the_pools_of_a_process_to_itself) {
  auto& w = *announce(role::preprocess);
  announce(role::postprocess);
  announce(role::denoise_step);
  sut.each_beside(w, [](worker& x) { x.exclusive = true; });
  // A worker that arrives later takes part.
  BOOST_TEST(announce(role::preprocess, 1)->exclusive);
  int alone = 0;
  for (const auto& [id, x] : sut.all())
    alone += x.exclusive ? 1 : 0;
  BOOST_TEST(alone == 3);
}

BOOST_AUTO_TEST_CASE(a_slow_worker_is_left_out_where_another_is_there) {
  auto& w = *announce(role::denoise_step);
  const auto lane = w.serves.front();
  w.slow = true;
  BOOST_TEST(!sut.left_out(w));
  BOOST_TEST(!sut.others_serve(lane));
  BOOST_TEST(sut.anyone_serves(lane));
  announce(role::denoise_step, 1);
  BOOST_TEST(sut.left_out(w));
  BOOST_TEST(!sut.is_seen(w));
}

BOOST_AUTO_TEST_CASE(only_views_that_changed_are_asked_for) {
  auto& w = *announce(role::denoise_step);
  announce(role::denoise_step, 1);
  announce(role::preprocess);
  BOOST_TEST(look());
  BOOST_TEST(asked == 2);
  BOOST_TEST(sut.seen().workers.size() == 2u);
  BOOST_TEST(!look());
  BOOST_TEST(asked == 2);
  w.view.level = 3;
  sut.view_changed(w);
  BOOST_TEST(!look());
  BOOST_TEST(asked == 3);
  BOOST_TEST(sut.seen().workers[0].level == 3u);
}

BOOST_AUTO_TEST_CASE(orders_are_numbered) {
  auto& w = *announce(role::denoise_step);
  BOOST_TEST(workers::order_for(w, {}).number == 1u);
  const auto second_order = workers::order_for(w, {core::variant_id{1}});
  BOOST_TEST(second_order.number == 2u);
  BOOST_TEST(second_order.hosting.size() == 1u);
  BOOST_TEST(second_order.batch == w.most_rows);
}

BOOST_AUTO_TEST_SUITE_END()
