// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/bench/papers/policies/instgenie_comparisons.hpp>
#include <atelier/planning/policies/instgenie/worker_choice.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace atelier;
using namespace atelier::planning::instgenie;

namespace {

// Each whole image of a batch costs a second.
const step_model by_ratio = [](std::span<const batch_member> members) {
  double sum = 0.25;
  for (const batch_member& m : members)
    sum += m.ratio;
  return sum;
};

edit_row edit(double ratio, uint32_t steps, double ready_in = 0) {
  return {{ratio, false}, steps, ready_in};
}

edit_worker random_worker(core::philox& random) {
  edit_worker w;
  w.max_batch = static_cast<uint32_t>(1 + random.below(4));
  const auto row = [&](bool late) {
    return edit(0.05 + 0.9 * random.uniform(),
                static_cast<uint32_t>(1 + random.below(12)),
                late && random.below(3) == 0 ? random.uniform() * 10 : 0);
  };
  for (size_t n = random.below(w.max_batch + 1); n > 0; --n)
    w.running.push_back(row(false));
  if (w.running.size() == w.max_batch)
    for (size_t n = random.below(4); n > 0; --n)
      w.queued.push_back(row(true));
  return w;
}

// Computes the end of every row step by step, as a worker does.
std::vector<double> stepped(const edit_worker& of) {
  std::vector<edit_row> rows = of.running;
  rows.insert(rows.end(), of.queued.begin(), of.queued.end());
  std::vector<size_t> runs(of.running.size());
  std::iota(runs.begin(), runs.end(), size_t{0});
  std::vector<size_t> waits(of.queued.size());
  std::iota(waits.begin(), waits.end(), of.running.size());
  std::vector<double> out(rows.size(), 0.0);
  double now = 0;
  while (!runs.empty() || !waits.empty()) {
    for (auto w = waits.begin(); w != waits.end();)
      if (runs.size() < of.max_batch && rows[*w].ready_in <= now) {
        runs.push_back(*w);
        w = waits.erase(w);
      } else {
        ++w;
      }
    if (runs.empty()) {
      now = INFINITY;
      for (const size_t w : waits)
        now = std::min(now, rows[w].ready_in);
      continue;
    }
    std::vector<batch_member> batch;
    for (const size_t r : runs)
      batch.push_back(rows[r].member);
    now += by_ratio(batch);
    std::erase_if(runs, [&](size_t r) {
      if (--rows[r].steps_left > 0)
        return false;
      out[r] = now;
      return true;
    });
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(instgenie_worker_choice_test)

BOOST_AUTO_TEST_CASE(nobody_is_chosen_of_none) {
  BOOST_TEST(!choose_by_step({}, edit(1, 1), by_ratio).has_value());
  BOOST_TEST(!choose_by_finish({}, edit(1, 1), by_ratio).has_value());
  BOOST_TEST(!papers::choose_first_fit({}).has_value());
}

BOOST_AUTO_TEST_CASE(the_step_rule_looks_at_workers_with_a_seat) {
  std::vector<edit_worker> all(3);
  for (edit_worker& w : all)
    w.max_batch = 2;
  all[0].running = {edit(0.1, 50), edit(0.1, 50)};
  all[1].running = {edit(0.9, 1)};
  all[2].running = {edit(0.5, 50)};
  BOOST_TEST(*choose_by_step(all, edit(0.2, 20), by_ratio) == 2u);
  // All workers are full, so all of them are compared, including their queues.
  all[1].queued = {edit(0.1, 9)};
  all[2].queued = {edit(0.9, 9)};
  BOOST_TEST(*choose_by_step(all, edit(0.2, 20), by_ratio) == 0u);
}

BOOST_AUTO_TEST_CASE(the_step_rule_equals_evaluating_all) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    std::vector<edit_worker> all(1 + random.below(6));
    for (edit_worker& w : all)
      w = random_worker(random);
    const auto e = edit(random.uniform(), 5);
    const auto cost = [&](const edit_worker& w) {
      double sum = 0.25 + e.member.ratio;
      for (const auto* rows : {&w.running, &w.queued})
        for (const auto& r : *rows)
          sum += r.member.ratio;
      return sum;
    };
    const auto seat = [](const edit_worker& w) {
      return w.running.size() + w.queued.size() < w.max_batch;
    };
    const bool any = std::any_of(all.begin(), all.end(), seat);
    const auto& got = all[*choose_by_step(all, e, by_ratio)];
    BOOST_REQUIRE(!any || seat(got));
    for (const edit_worker& w : all)
      if (!any || seat(w))
        BOOST_REQUIRE_MESSAGE(cost(got) <= cost(w) + 1e-12, "instance " << i);
  }
}

BOOST_AUTO_TEST_CASE(roll_outs_equal_running_step_by_step) {
  for (size_t i = 0; i < test::scaled(20'000); ++i) {
    auto random = test::random_of(i);
    const auto w = random_worker(random);
    const auto quick = finish_times(w, by_ratio);
    const auto slow = stepped(w);
    BOOST_REQUIRE(quick.size() == slow.size());
    for (size_t r = 0; r < slow.size(); ++r)
      BOOST_REQUIRE_MESSAGE(std::abs(quick[r] - slow[r]) < 1e-6,
                            "instance " << i << ": " << quick[r]
                                        << " instead of " << slow[r]);
  }
}

BOOST_AUTO_TEST_CASE(the_finish_rule_sees_steps_queues_and_late_records) {
  std::vector<edit_worker> all(2);
  for (edit_worker& w : all)
    w.max_batch = 1;
  // The steps are equal, but one of them is nearly done.
  all[0].running = {edit(0.5, 40)};
  all[1].running = {edit(0.5, 2)};
  BOOST_TEST(*choose_by_step(all, edit(0.2, 20), by_ratio) == 0u);
  BOOST_TEST(*choose_by_finish(all, edit(0.2, 20), by_ratio) == 1u);
}

BOOST_AUTO_TEST_CASE(the_finish_rule_equals_evaluating_all) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    std::vector<edit_worker> all(1 + random.below(5));
    for (edit_worker& w : all)
      w = random_worker(random);
    const auto e = edit(random.uniform(), 5);
    const auto cost = [&](edit_worker w) {
      const auto before = stepped(w);
      w.queued.push_back(e);
      const auto after = stepped(w);
      return std::accumulate(after.begin(), after.end(), 0.0)
           - std::accumulate(before.begin(), before.end(), 0.0);
    };
    const double got = cost(all[*choose_by_finish(all, e, by_ratio)]);
    for (const edit_worker& w : all)
      BOOST_REQUIRE_MESSAGE(got <= cost(w) + 1e-6, "instance "
                                                     << i << ": " << got
                                                     << " above " << cost(w));
  }
}

BOOST_AUTO_TEST_CASE(baselines_count_requests_or_tokens) {
  std::vector<edit_worker> all(3);
  for (edit_worker& w : all)
    w.max_batch = 2;
  all[0].running = {edit(0.1, 9), edit(0.1, 9)};
  all[1].running = {edit(0.9, 9)};
  all[2].running = {edit(0.8, 9)};
  BOOST_TEST(*papers::choose_fewest_requests(all) == 1u);
  BOOST_TEST(*papers::choose_fewest_tokens(all) == 0u);
  BOOST_TEST(*papers::choose_first_fit(all) == 1u);
  all[1].queued = all[2].queued = {edit(0.1, 9)};
  BOOST_TEST(*papers::choose_first_fit(all) == 0u);
}

BOOST_AUTO_TEST_CASE(models_of_steps_agree_on_equal_blocks) {
  const estimator by{{1e-12, 1e-4, 1}, {2e-11, 1e-4, 1}};
  const block_shape shape{1024, 640, 2};
  const auto exact = equal_steps(12, shape, by, recorded::outputs);
  const auto greedy =
    greedy_steps(std::vector<block_shape>(12, shape), by, recorded::outputs);
  const std::vector<batch_member> small{{0.1, false}};
  const std::vector<batch_member> large{{0.9, false}};
  BOOST_TEST(exact(small) <= greedy(small) + 1e-12);
  BOOST_TEST(exact(small) < exact(large));
}

BOOST_AUTO_TEST_SUITE_END()
