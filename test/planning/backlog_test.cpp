// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/backlog.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace {

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;
using core::variant_id;

worker_view worker(uint32_t id, std::vector<uint32_t> hosting,
                   uint32_t max_batch = 4) {
  worker_view w;
  w.worker = core::worker_id{id};
  w.max_batch = max_batch;
  for (const auto v : hosting)
    w.hosting.emplace_back(v);
  return w;
}

// Returns costs with steps of 8 ms for one row and of 20 ms for four.
variant_profile costs() {
  variant_profile v;
  v.native_px = {64, 64};
  v.step = {{1, 64 * 64, 8ms}, {4, 64 * 64, 20ms}};
  v.text = 3ms;
  v.decode = 5ms;
  return v;
}

step_table table() {
  return step_table{costs().step};
}

constexpr core::extent px{64, 64};

} // namespace

BOOST_AUTO_TEST_SUITE(backlog_test)

BOOST_AUTO_TEST_CASE(nothing_can_be_said_where_nobody_hosts) {
  backlog sut{2};
  sut.add(variant_id{0}, 5s);
  BOOST_TEST(!sut.wait(variant_id{0}).has_value());
  BOOST_TEST(!sut.longest_wait().has_value());
  BOOST_TEST(sut.batch_of(variant_id{0}) == 1u);
  sut.see({{worker(1, {})}});
  BOOST_TEST(!sut.wait(variant_id{0}).has_value());
}

BOOST_AUTO_TEST_CASE(work_is_spread_over_those_that_host_it) {
  backlog sut{3};
  sut.see({{worker(1, {0}), worker(2, {0}, 8), worker(3, {1})}});
  sut.add(variant_id{0}, 6s);
  sut.add(variant_id{1}, 5s);
  BOOST_TEST((*sut.wait(variant_id{0}) == 3s));
  BOOST_TEST((*sut.wait(variant_id{1}) == 5s));
  BOOST_TEST(!sut.wait(variant_id{2}).has_value());
  BOOST_TEST((*sut.longest_wait() == 5s));
  BOOST_TEST(sut.batch_of(variant_id{0}) == 4u);
  sut.remove(variant_id{0}, 2s);
  BOOST_TEST((*sut.wait(variant_id{0}) == 2s));
}

BOOST_AUTO_TEST_CASE(variants_on_one_worker_compete) {
  backlog sut{3};
  sut.add(variant_id{0}, 4s);
  sut.add(variant_id{2}, 2s);
  // Variants 0 and 1 share a worker, and 1 and 2 another: one group of two
  // workers.
  sut.see({{worker(1, {0, 1}), worker(2, {2, 1})}});
  for (const uint32_t v : {0u, 1u, 2u})
    BOOST_TEST((*sut.wait(variant_id{v}) == 3s));
  // A worker is lost. The variant that only it hosted cannot be predicted.
  sut.see({{worker(1, {0, 1})}});
  BOOST_TEST((*sut.wait(variant_id{0}) == 4s));
  BOOST_TEST(!sut.wait(variant_id{2}).has_value());
}

BOOST_AUTO_TEST_CASE(tenants_share_the_limit_on_what_competes) {
  constexpr core::tenant_id ann{1};
  constexpr core::tenant_id ben{2};
  backlog sut{3};
  sut.see({{worker(1, {0, 1}), worker(2, {1}), worker(3, {2})}});
  sut.add(variant_id{0}, 6s, ann);
  sut.add(variant_id{1}, 6s, ann);
  BOOST_TEST(sut.grants(variant_id{0}, ann, 6s));
  BOOST_TEST(!sut.grants(variant_id{0}, ann, 5s));
  BOOST_TEST(sut.grants(variant_id{0}, ben, 5s));
  // Work that does not compete has no share.
  sut.add(variant_id{2}, 9s, ben);
  BOOST_TEST(sut.grants(variant_id{0}, ben, 5s));
  BOOST_TEST(!sut.grants(variant_id{2}, ben, 5s));
  sut.add(variant_id{1}, 5s, ben);
  BOOST_TEST((*sut.wait(variant_id{0}) == 8500ms));
  BOOST_TEST(sut.grants(variant_id{0}, ben, 5s));
  sut.add(variant_id{0}, 1s, ben);
  BOOST_TEST(!sut.grants(variant_id{0}, ben, 5s));
  BOOST_TEST(sut.grants(variant_id{0}, core::tenant_id{3}, 5s));
  // Twice the limit is the most.
  BOOST_TEST(!sut.grants(variant_id{0}, core::tenant_id{3}, 4s));
  sut.remove(variant_id{0}, 1s, ben);
  sut.remove(variant_id{1}, 5s, ben);
  BOOST_TEST(!sut.grants(variant_id{0}, ann, 5s));
}

BOOST_AUTO_TEST_CASE(work_is_conserved_whoever_comes_and_goes) {
  for (size_t loop = 0; loop < test::scaled(2'000); ++loop) {
    auto random = test::random_of(loop);
    const auto variants = static_cast<uint32_t>(1 + random.below(5));
    backlog sut{variants};
    std::vector<core::timespan> model(variants, 0s);
    cluster_view there;
    for (int i = 0; i < 60; ++i) {
      const auto v = static_cast<uint32_t>(random.below(variants));
      switch (random.below(3)) {
        case 0: {
          const core::timespan work{
            static_cast<int64_t>(random.below(1'000'000))};
          sut.add(variant_id{v}, work);
          model[v] += work;
          break;
        }
        case 1: {
          const core::timespan work{static_cast<int64_t>(
            random.below(static_cast<uint64_t>(model[v].count()) + 1))};
          sut.remove(variant_id{v}, work);
          model[v] -= work;
          break;
        }
        default:
          there.workers.clear();
          for (uint64_t w = random.below(5); w > 0; --w) {
            std::vector<uint32_t> hosting;
            for (uint32_t x = 0; x < variants; ++x)
              if (random.below(2) == 0)
                hosting.push_back(x);
            there.workers.push_back(
              worker(static_cast<uint32_t>(w), std::move(hosting)));
          }
          sut.see(there);
      }
      core::timespan all{0};
      for (uint32_t x = 0; x < variants; ++x)
        all += model[x];
      BOOST_REQUIRE((sut.work() == all));
      for (uint32_t x = 0; x < variants; ++x) {
        const auto hosts = std::count_if(
          there.workers.begin(), there.workers.end(), [&](const auto& w) {
            return std::find(w.hosting.begin(), w.hosting.end(), variant_id{x})
                != w.hosting.end();
          });
        const auto wait = sut.wait(variant_id{x});
        BOOST_REQUIRE(wait.has_value() == (hosts > 0));
        // No wait is longer than all work, or shorter than the variant's share
        // of it.
        if (wait) {
          BOOST_REQUIRE((*wait <= all));
          BOOST_REQUIRE(
            (*wait
             >= model[x] / static_cast<int64_t>(there.workers.size()) - 1ns));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pace_follows_what_was_measured) {
  measured_pace sut{2};
  const variant_id v{1};
  BOOST_TEST(!sut.known(v));
  BOOST_TEST((sut.corrected(v, "cpu", 10ms) == 10ms));
  sut.note(v, "cpu", 0ms, 5ms);
  sut.note(v, "cpu", 5ms, 0ms);
  BOOST_TEST(!sut.known(v));
  sut.note(v, "cpu", 10ms, 20ms);
  BOOST_TEST(sut.known(v));
  BOOST_TEST(!sut.known(variant_id{0}));
  BOOST_TEST((sut.corrected(v, "cpu", 10ms) == 20ms));
  for (int i = 0; i < 100; ++i)
    sut.note(v, "cpu", 10ms, 5ms);
  BOOST_TEST(core::to_ms(sut.corrected(v, "cpu", 10ms)) == 5.0,
             boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(a_row_takes_its_share_of_full_steps) {
  // Ten steps at a quarter of 20 ms, plus the text and the image.
  BOOST_TEST((device_work(costs(), table(), {px}, 10, 4) == 58ms));
  BOOST_TEST((device_work(costs(), table(), {px}, 10, 1) == 88ms));
  BOOST_TEST((device_work(costs(), table(), {px}, 0, 4) == 8ms));
}

BOOST_AUTO_TEST_CASE(larger_images_are_decoded_longer) {
  const row_work large{{128, 128}};
  // Four times the steps and the decoding, and the same text.
  BOOST_TEST((device_work(costs(), table(), large, 10, 4) == 223ms));
  BOOST_TEST(
    (predicted_completion(costs(), table(), large, 10, worker(1, {0}), 0ms)
     == 343ms));
}

BOOST_AUTO_TEST_CASE(a_source_is_encoded_before_the_first_step) {
  auto v = costs();
  v.encode = 2ms;
  BOOST_TEST((device_work(v, table(), {px, 1, true}, 10, 4) == 60ms));
  BOOST_TEST((device_work(v, table(), {{128, 128}, 1, true}, 10, 4) == 231ms));
  BOOST_TEST((device_work(v, table(), {px}, 10, 4) == 58ms));
}

BOOST_AUTO_TEST_CASE(an_unguided_row_takes_half_of_a_row) {
  const row_work half{px, 0.5};
  BOOST_TEST((device_work(costs(), table(), half, 10, 4) == 33ms));
  // Alone it takes half a step of one row and what no row saves; as the fourth
  // row it saves half of what one more row adds.
  BOOST_TEST(
    (predicted_completion(costs(), table(), half, 10, worker(1, {0}), 0ms)
     == 68ms));
  auto w = worker(1, {0});
  w.seats_taken = 3;
  w.steps_left = 30;
  BOOST_TEST(
    (predicted_completion(costs(), table(), half, 10, w, 0ms) == 188ms));
}

BOOST_AUTO_TEST_CASE(coming_back_is_computed_and_bounded) {
  BOOST_TEST((come_back_after(100s, 0.1) == 10s));
  BOOST_TEST((come_back_after(1s, 0.1) == 1s));
  BOOST_TEST((come_back_after(100h, 1) == 1h));
  BOOST_TEST((come_back_after(100s, 7) == 100s));
}

BOOST_AUTO_TEST_CASE(an_idle_worker_answers_at_its_own_pace) {
  // Ten steps of one row, the text, the image, and the work that follows.
  BOOST_TEST(
    (predicted_completion(costs(), table(), {px}, 10, worker(1, {0}), 2ms)
     == 90ms));
}

BOOST_AUTO_TEST_CASE(a_batch_is_slower_and_a_full_one_is_waited_for) {
  auto w = worker(1, {0});
  w.seats_taken = 3;
  w.steps_left = 30;
  // The fourth row makes steps last 20 ms.
  BOOST_TEST(
    (predicted_completion(costs(), table(), {px}, 10, w, 0ms) == 208ms));
  // The first of four rows with 40 steps must end: a quarter of ten full steps.
  w.seats_taken = 4;
  w.steps_left = 40;
  BOOST_TEST(
    (predicted_completion(costs(), table(), {px}, 10, w, 0ms) == 258ms));
}

BOOST_AUTO_TEST_CASE(more_load_never_answers_sooner) {
  for (size_t loop = 0; loop < test::scaled(5'000); ++loop) {
    auto random = test::random_of(loop);
    auto w = worker(1, {0}, static_cast<uint32_t>(1 + random.below(8)));
    w.seats_taken = static_cast<uint32_t>(random.below(16));
    w.steps_left = w.seats_taken * (1 + random.below(50));
    const auto steps = static_cast<uint32_t>(1 + random.below(50));
    const auto before =
      predicted_completion(costs(), table(), {px}, steps, w, 0ms);
    auto more = w;
    more.steps_left += 1 + random.below(50);
    ++more.seats_taken;
    // Each row has as many steps, or more.
    more.steps_left = std::max(
      more.steps_left,
      w.seats_taken == 0 ? 0 : w.steps_left * more.seats_taken / w.seats_taken);
    BOOST_REQUIRE(
      (predicted_completion(costs(), table(), {px}, steps, more, 0ms)
       >= before));
    BOOST_REQUIRE(
      (predicted_completion(costs(), table(), {px}, steps + 1, w, 0ms)
       > before));
  }
}

BOOST_AUTO_TEST_SUITE_END()
