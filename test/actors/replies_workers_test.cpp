// SPDX-License-Identifier: Apache-2.0

// Workers that join.

#include "actors/layers_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::alone_queue;
using actors::role;
using core::ec;
using planning::queue_of;
using test::card_4;
using test::layers_rig;

const core::error gone = core::fail(ec::unavailable, "gone");

struct rig : layers_rig {
  static actors::worker_ready ready(role what, uint32_t process) {
    actors::worker_ready x;
    x.worker = {life(process), what, 0};
    x.seats = 4;
    if (what == role::denoise_step) {
      x.device = "cpu";
      x.max_batch = 4;
      x.variants = {"card@4", "card@2"};
    }
    return x;
  }

  bool join(role what, uint32_t process) {
    return sut.on(ready(what, process), now);
  }

  actors::replies& sut = replies;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(replies_workers_test, rig)

BOOST_AUTO_TEST_CASE(device_that_joins_is_reported_and_offers_its_seats) {
  BOOST_TEST(join(role::denoise_step, 2));
  BOOST_TEST_REQUIRE(reports().size() == 1u);
  BOOST_TEST(reports()[0].workers.size() == 1u);
  BOOST_TEST(!of.queues.offered(queue_of(card_4)).empty());
  BOOST_TEST(of.hosting.take_change());
  BOOST_TEST(counts().stale_replies == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(rows_are_prepared_for_a_device_that_joins) {
  looked_at();
  join(role::denoise_step, 2);
  BOOST_TEST(
    (looked_at()
     == std::vector{actors::device_stage_queue, actors::prepare_queue}));
}

BOOST_AUTO_TEST_CASE(suspects_are_looked_at_when_a_device_joins) {
  auto& r = waits_to_draw();
  waiting.leave(id_of(r), r, now);
  accuse(r);
  wait(r);
  looked_at();
  join(role::denoise_step, 2);
  BOOST_TEST((looked_at()
              == std::vector{actors::device_stage_queue, actors::prepare_queue,
                             alone_queue(queue_of(card_4))}));
}

BOOST_AUTO_TEST_CASE(kind_of_a_device_that_joins_is_known) {
  join(role::denoise_step, 2);
  BOOST_TEST(!of.forecast.several_kinds());
  auto other = ready(role::denoise_step, 3);
  other.kind = "fast";
  sut.on(other, now);
  BOOST_TEST(of.forecast.several_kinds());
}

BOOST_AUTO_TEST_CASE(variants_that_a_device_could_not_load_are_left_out) {
  auto x = ready(role::denoise_step, 2);
  x.variants = {"card@2"};
  x.failed = {{card_4, gone}};
  sut.on(x, now);
  BOOST_TEST(of.hosting.retried_at(card_4).has_value());
  BOOST_TEST((reports().at(0).workers.at(0).unloadable == std::vector{card_4}));
}

BOOST_AUTO_TEST_CASE(worker_of_a_pool_that_joins_is_not_reported) {
  looked_at();
  auto x = ready(role::preprocess, 1);
  x.failed = {{card_4, gone}};
  BOOST_TEST(sut.on(x, now));
  BOOST_TEST(reports().empty());
  BOOST_TEST(!of.queues.offered(actors::prepare_queue).empty());
  BOOST_TEST((looked_at() == std::vector{actors::pool_suspects_queue}));
  BOOST_TEST(!of.hosting.waits());
  // Hosts are sought anew after every change of the workers.
  BOOST_TEST(of.hosting.take_change());
}

BOOST_AUTO_TEST_CASE(worker_joins_once_and_with_seats) {
  BOOST_TEST(join(role::denoise_step, 2));
  BOOST_TEST(!join(role::denoise_step, 2));
  auto none = ready(role::denoise_step, 3);
  none.seats = 0;
  BOOST_TEST(!sut.on(none, now));
  BOOST_TEST(counts().stale_replies == 2u);
  BOOST_TEST(of.workers.all().size() == 1u);
  BOOST_TEST(reports().size() == 1u);
}

BOOST_AUTO_TEST_CASE(process_is_ready_when_its_first_worker_joins) {
  join(role::preprocess, 1);
  now += 3s;
  BOOST_TEST((of.records.recovery(now).ready.at(life(1).process) == 3s));
}

BOOST_AUTO_TEST_SUITE_END()
