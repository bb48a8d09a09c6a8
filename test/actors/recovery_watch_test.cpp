// SPDX-License-Identifier: Apache-2.0
#include "actors/scheduler_rig.hpp"
#include <atelier/actors/recovery_watch.hpp>

#include <numeric>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using actors::duration_counts;
using actors::recovery_watch;
using test::finish;
using test::prepare;

constexpr core::process_id cpu{1};
constexpr core::process_id device{2};
constexpr core::request_id one{1};
constexpr core::request_id two{2};

uint64_t count_of(const duration_counts& x) {
  return std::accumulate(x.buckets.begin(), x.buckets.end(), uint64_t{0});
}

struct rig {
  recovery_watch sut;
  core::time_point now{1h};

  actors::recovery_counts counts() const {
    return sut.counts(now);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(recovery_watch_test, rig)

BOOST_AUTO_TEST_CASE(a_process_is_there_between_its_workers_and_its_death) {
  BOOST_TEST(counts().ready.empty());
  sut.ready(device, now);
  now += 3s;
  sut.ready(device, now);
  now += 1s;
  BOOST_TEST((counts().ready.at(device) == 4s));
  sut.down(device, now);
  now += 10s;
  sut.lost(device, {}, false, now);
  BOOST_TEST((counts().ready.at(device) == 4s));
  // A life without a worker counts nothing.
  sut.lost(device, {}, false, now);
  sut.ready(device, now);
  sut.ready(cpu, now);
  now += 2s;
  BOOST_TEST((counts().ready.at(device) == 6s));
  BOOST_TEST((counts().ready.at(cpu) == 2s));
}

BOOST_AUTO_TEST_CASE(times_count_from_the_suspicion_on) {
  sut.ready(device, now);
  sut.down(device, now);
  now += 100ms;
  sut.lost(device, {one, two}, true, now);
  now += 200ms;
  sut.encoded(now);
  now += 300ms;
  sut.stepped(two, now);
  sut.stepped(one, now);
  sut.encoded(now);
  BOOST_TEST(count_of(counts().until_image) == 1u);
  BOOST_TEST((counts().until_image.sum == 300ms));
  BOOST_TEST(count_of(counts().until_step) == 1u);
  BOOST_TEST((counts().until_step.sum == 600ms));
  // The values are within 0.5 s and 1 s.
  BOOST_TEST(counts().until_image.buckets[5] == 1u);
  BOOST_TEST(counts().until_step.buckets[6] == 1u);
}

BOOST_AUTO_TEST_CASE(a_step_of_another_request_is_none_that_went_on) {
  sut.ready(device, now);
  sut.lost(device, {one}, true, now);
  sut.stepped(two, now + 1s);
  BOOST_TEST(count_of(counts().until_step) == 0u);
}

BOOST_AUTO_TEST_CASE(a_death_without_work_holds_up_nobody) {
  sut.ready(cpu, now);
  sut.lost(cpu, {}, false, now);
  sut.encoded(now + 1h);
  sut.ready(cpu, now);
  sut.lost(cpu, {}, true, now);
  sut.rest();
  sut.encoded(now + 1h);
  BOOST_TEST(count_of(counts().until_image) == 0u);
}

BOOST_AUTO_TEST_CASE(the_longest_go_to_the_last_bucket) {
  sut.ready(cpu, now);
  sut.lost(cpu, {}, true, now);
  sut.encoded(now + 1h);
  BOOST_TEST(counts().until_image.buckets.back() == 1u);
}

BOOST_AUTO_TEST_CASE(deaths_without_end_hold_no_more) {
  for (int i = 0; i < 1000; ++i) {
    sut.ready(device, now);
    sut.lost(device, {one}, true, now);
  }
  sut.encoded(now);
  sut.stepped(one, now);
  BOOST_TEST(count_of(counts().until_step) == 64u);
}

BOOST_AUTO_TEST_CASE(the_scheduler_tells_it_of_deaths_steps_and_images) {
  test::scheduler_rig scheduler;
  const auto told = [&] { return scheduler.sut->recovery(scheduler.now); };
  scheduler.add_cpu();
  scheduler.add_device(scheduler.life(2));
  scheduler.submit();
  scheduler.done(scheduler.take<prepare>());
  scheduler.stepped(scheduler.take<denoise>(), 2);
  scheduler.now += 5s;
  scheduler.lose(scheduler.life(2));
  scheduler.now += 1s;
  scheduler.add_device(scheduler.life(2, 2));
  const auto again = scheduler.take<denoise>();
  scheduler.now += 1s;
  scheduler.stepped(again, 3, scheduler.life(2, 2));
  BOOST_TEST((told().until_step.sum == 2s));
  scheduler.done(again);
  scheduler.now += 1s;
  scheduler.done(scheduler.take<finish>());
  BOOST_TEST((told().until_image.sum == 3s));
  BOOST_TEST((told().ready.at(device) == 7s));
  BOOST_TEST((told().ready.at(cpu) == 8s));
}

BOOST_AUTO_TEST_SUITE_END()
