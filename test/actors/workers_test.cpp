// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/queue_ids.hpp>
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
      out = w.view();
    });
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(workers_test, rig)

BOOST_AUTO_TEST_CASE(a_worker_that_announces_itself_is_there_once) {
  auto* w = announce(role::denoise_step);
  BOOST_REQUIRE(w != nullptr);
  BOOST_TEST(w->host.hosting().size() == 1u);
  BOOST_TEST(w->seat.free() == 2u);
  BOOST_TEST(announce(role::denoise_step) == nullptr);
  BOOST_TEST(sut.find(w->address) == w);
  BOOST_TEST(sut.find(w->id()) == w);
  BOOST_TEST(sut.device_seats() == 2u);
  BOOST_TEST(announce(role::preprocess)->host.serves(actors::prepare_queue));
  BOOST_TEST(announce(role::postprocess)->host.serves(actors::finish_queue));
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
  sut.remove(sut.find(where)->id());
  BOOST_TEST(sut.find(where) == nullptr);
  BOOST_TEST(sut.device_seats() == 0u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(seats_are_taken_and_given_back) {
  auto& w = *announce(role::denoise_step);
  w.seat.sit(first, 10);
  BOOST_TEST(w.takes_more());
  w.seat.sit(second, 5);
  BOOST_TEST(!w.takes_more());
  BOOST_TEST(w.view().seats_free == 0u);
  BOOST_TEST(w.view().steps_left == 15u);
  w.seat.ran(3);
  w.seat.stand_up(first, 7);
  BOOST_TEST(w.view().steps_left == 5u);
  BOOST_TEST(w.view().seats_taken == 1u);
  BOOST_TEST((w.seat.orders() == std::vector{second}));
  // An order stands up once.
  w.seat.stand_up(first, 7);
  BOOST_TEST(w.seat.steps_left() == 5u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_batch_joins_as_a_whole) {
  auto& w = *announce(role::denoise_step);
  w.batch.fill();
  BOOST_TEST(w.batch.filling());
  actors::denoise one;
  one.ticket = first;
  w.batch.join(one);
  const auto joined = w.batch.end_filling();
  BOOST_TEST_REQUIRE(joined.size() == 1u);
  BOOST_TEST((joined[0].ticket == first));
  BOOST_TEST(!w.batch.filling());
  BOOST_TEST(w.batch.end_filling().empty());
  w.batch.report({first, second});
  w.batch.leave(first);
  BOOST_TEST((w.batch.rows() == std::vector{second}));
}

BOOST_AUTO_TEST_CASE(a_worker_kept_for_a_trial_takes_nothing) {
  auto& w = *announce(role::denoise_step);
  w.trial.drain();
  BOOST_TEST(!w.takes_more());
  BOOST_TEST(w.trial.go_on());
  BOOST_TEST(!w.trial.go_on());
  BOOST_TEST(w.takes_more());
  w.trial.drain();
  w.trial.begin();
  BOOST_TEST(!w.trial.draining());
  BOOST_TEST(!w.takes_more());
  w.trial.end();
  BOOST_TEST(w.takes_more());
  sut.suspect(w);
  BOOST_TEST(!w.takes_more());
  BOOST_TEST(!sut.is_seen(w));
}

BOOST_AUTO_TEST_CASE(silence_is_told_once_and_only_beyond_what_work_explains) {
  auto& signs = announce(role::denoise_step)->signs;
  signs.begin(now);
  signs.explain(2s);
  signs.explain(1s);
  BOOST_TEST(!signs.unexplained(now + 2s).has_value());
  BOOST_TEST((signs.unexplained(now + 3s) == 3s));
  signs.heard(now + 2s);
  BOOST_TEST(!signs.unexplained(now + 3s).has_value());
  signs.report();
  BOOST_TEST(signs.reported());
  BOOST_TEST(!signs.unexplained(now + 9s).has_value());
  BOOST_TEST(!signs.loses_orders());
  BOOST_TEST(signs.lose_orders());
  BOOST_TEST(!signs.lose_orders());
  // Another piece of work explains its own silence only.
  auto& other = announce(role::denoise_step, 1)->signs;
  other.begin(now);
  other.explain(9s);
  other.begin(now);
  other.explain(1s);
  BOOST_TEST((other.unexplained(now + 2s) == 2s));
}

BOOST_AUTO_TEST_CASE(a_suspect_has_the_pools_of_a_process_to_itself) {
  auto& w = *announce(role::preprocess);
  announce(role::postprocess);
  announce(role::denoise_step);
  sut.each_beside(w, [](worker& x) { x.trial.begin(); });
  // A worker that arrives later takes part.
  BOOST_TEST(announce(role::preprocess, 1)->trial.exclusive());
  int alone = 0;
  for (const auto& [id, x] : sut.all())
    alone += x.trial.exclusive() ? 1 : 0;
  BOOST_TEST(alone == 3);
}

BOOST_AUTO_TEST_CASE(a_slow_worker_is_left_out_where_another_is_there) {
  auto& w = *announce(role::denoise_step);
  const auto queue = w.host.queues().front();
  sut.set_slow(w, true);
  BOOST_TEST(!sut.left_out(w));
  BOOST_TEST(!sut.others_serve(queue));
  BOOST_TEST(sut.anyone_serves(queue));
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
  sut.count_waiting(w.id(), true);
  BOOST_TEST(!look());
  BOOST_TEST(asked == 3);
  BOOST_TEST(sut.seen().workers[0].waiting == 1u);
  sut.count_waiting(w.id(), false);
  sut.count_waiting(core::worker_id{99}, true);
  BOOST_TEST(!look());
  BOOST_TEST(sut.seen().workers[0].waiting == 0u);
}

BOOST_AUTO_TEST_CASE(a_policy_is_asked_for_one_row_at_a_time) {
  auto& w = *announce(role::denoise_step);
  BOOST_TEST(w.view_of_one_seat().seats_free == 1u);
  BOOST_TEST(w.view().seats_free == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
