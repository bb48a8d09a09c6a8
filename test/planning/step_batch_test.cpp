// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/step_batch.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;
using test::at_s;

namespace {

batch_row row(uint64_t id, uint32_t steps, uint32_t variant = 0,
              core::priority prio = core::priority::normal,
              core::time_point deadline = core::never) {
  batch_row r;
  r.ticket = {core::request_id{id}, 0};
  r.shape = {core::variant_id{variant}, {64, 64}};
  r.variant = core::variant_id{variant};
  r.steps_left = steps;
  r.prio = prio;
  r.deadline = deadline;
  return r;
}

batch_row of_tenant(batch_row r, uint32_t tenant) {
  r.tenant = core::tenant_id{tenant};
  return r;
}

using ids = std::vector<uint64_t>;

ids of(const std::vector<core::ticket>& tickets) {
  ids found;
  for (const core::ticket& t : tickets)
    found.push_back(t.id.value);
  return found;
}

ids run_next(step_batch& sut) {
  const step_choice c = sut.next();
  static_cast<void>(sut.ran(c.rows, c.steps));
  return of(c.rows);
}

} // namespace

BOOST_AUTO_TEST_SUITE(step_batch_test)

BOOST_AUTO_TEST_CASE(nothing_is_chosen_from_nothing) {
  step_batch sut{4};
  BOOST_TEST(sut.next().rows.empty());
  BOOST_TEST(sut.next().steps == 0u);
  BOOST_TEST(sut.size() == 0u);
  BOOST_TEST(!sut.wants_boundary());
  BOOST_TEST(!sut.remove({core::request_id{1}, 0}));
  BOOST_TEST(sut.ran({{core::request_id{1}, 0}}, 3).empty());
  BOOST_TEST(sut.find({core::request_id{1}, 0}) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_row_runs_the_steps_that_its_device_reports) {
  step_batch sut{4};
  BOOST_TEST(!sut.set_left({core::request_id{1}, 0}, 3));
  BOOST_TEST(sut.add(row(1, 1)));
  const auto who = sut.next().rows.front();
  // The device found four steps to run, and ran one.
  BOOST_TEST(sut.set_left(who, 4));
  BOOST_TEST(sut.ran({who}, 1).empty());
  BOOST_TEST(sut.next().steps == 3u);
  BOOST_TEST(sut.set_left(who, 0));
  BOOST_TEST(sut.ran({who}, 1).size() == 1u);
}

BOOST_AUTO_TEST_CASE(one_row_runs_to_its_end) {
  step_batch sut{4};
  BOOST_TEST(sut.add(row(1, 10)));
  BOOST_TEST(sut.wants_boundary());
  const step_choice c = sut.next();
  BOOST_TEST(of(c.rows) == ids{1});
  BOOST_TEST(of(c.joining) == ids{1});
  BOOST_TEST(c.steps == 10u);
  BOOST_TEST(!sut.wants_boundary());
  BOOST_TEST(sut.ran(c.rows, 4).empty());
  BOOST_TEST(sut.find(c.rows[0])->steps_left == 6u);
  BOOST_TEST(sut.next().joining.empty());
  BOOST_TEST(of(sut.ran(c.rows, 6)) == ids{1});
  BOOST_TEST(sut.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_ticket_is_in_it_once_and_has_steps) {
  step_batch sut{4};
  BOOST_TEST(!sut.add(row(1, 0)));
  BOOST_TEST(sut.add(row(1, 3)));
  BOOST_TEST(!sut.add(row(1, 3)));
  batch_row again = row(1, 3);
  again.ticket.attempt = 1;
  BOOST_TEST(sut.add(again));
  BOOST_TEST(sut.size() == 2u);
}

BOOST_AUTO_TEST_CASE(variants_with_the_same_weights_share_steps) {
  step_batch sut{2};
  for (const auto& [id, steps] : {std::pair{1u, 50u}, {2u, 20u}, {3u, 8u}}) {
    auto r = row(id, steps);
    r.variant = core::variant_id{id};
    BOOST_TEST(sut.add(r));
  }
  auto choice = sut.next();
  BOOST_TEST(of(choice.rows) == (ids{1, 2}));
  BOOST_TEST(choice.steps == 20u);
  // The third row takes the seat of the row that ends.
  BOOST_TEST(of(sut.ran(choice.rows, choice.steps)) == ids{2});
  choice = sut.next();
  BOOST_TEST(of(choice.rows) == (ids{1, 3}));
  BOOST_TEST(choice.steps == 8u);
}

BOOST_AUTO_TEST_CASE(a_whole_batch_has_rows_of_one_variant) {
  step_batch sut{4, joining::whole_batch};
  for (const auto& [id, steps] : {std::pair{1u, 50u}, {2u, 20u}, {3u, 50u}}) {
    auto r = row(id, steps);
    r.variant = core::variant_id{steps};
    BOOST_TEST(sut.add(r));
  }
  BOOST_TEST(run_next(sut) == (ids{1, 3}));
  BOOST_TEST(run_next(sut) == ids{2});
}

BOOST_AUTO_TEST_CASE(max_batch_is_the_limit) {
  for (const uint32_t rows : {3u, 4u, 5u}) {
    step_batch sut{4};
    for (uint64_t i = 1; i <= rows; ++i)
      sut.add(row(i, 2));
    BOOST_TEST(sut.next().rows.size() == std::min(rows, 4u));
  }
  step_batch none{0};
  none.add(row(1, 1));
  none.add(row(2, 1));
  BOOST_TEST(none.next().rows.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_best_of_a_shape_join_first) {
  step_batch sut{1};
  sut.add(row(1, 1, 0, core::priority::low, at_s(1)));
  sut.add(row(2, 1));
  sut.add(row(3, 1, 0, core::priority::normal, at_s(5)));
  sut.add(row(4, 1, 0, core::priority::high));
  BOOST_TEST(run_next(sut) == ids{4});
  BOOST_TEST(run_next(sut) == ids{3});
  BOOST_TEST(run_next(sut) == ids{2});
  BOOST_TEST(run_next(sut) == ids{1});
}

BOOST_AUTO_TEST_CASE(a_row_that_runs_stays) {
  step_batch sut{1};
  sut.add(row(1, 8, 0, core::priority::low));
  static_cast<void>(sut.ran(sut.next().rows, 1));
  sut.add(row(2, 1, 0, core::priority::high));
  BOOST_TEST(!sut.wants_boundary());
  BOOST_TEST(run_next(sut) == ids{1});
  BOOST_TEST(run_next(sut) == ids{2});
}

BOOST_AUTO_TEST_CASE(rows_join_between_steps) {
  step_batch sut{2};
  sut.add(row(1, 8));
  const step_choice c = sut.next();
  sut.add(row(2, 3));
  BOOST_TEST(sut.wants_boundary());
  static_cast<void>(sut.ran(c.rows, 1));
  const step_choice d = sut.next();
  BOOST_TEST(of(d.rows) == (ids{1, 2}));
  BOOST_TEST(of(d.joining) == ids{2});
  BOOST_TEST(d.steps == 3u);
  sut.add(row(3, 3));
  BOOST_TEST(!sut.wants_boundary());
}

BOOST_AUTO_TEST_CASE(whole_batches_wait_for_the_last_of_them) {
  step_batch sut{2, joining::whole_batch};
  sut.add(row(1, 3));
  sut.add(row(2, 1));
  sut.add(row(3, 1));
  BOOST_TEST(run_next(sut) == (ids{1, 2}));
  BOOST_TEST(!sut.wants_boundary());
  BOOST_TEST(run_next(sut) == ids{1});
  BOOST_TEST(sut.wants_boundary());
  BOOST_TEST(run_next(sut) == ids{3});
}

BOOST_AUTO_TEST_CASE(whole_batches_of_shapes_alternate) {
  step_batch sut{1, joining::whole_batch, 4};
  for (uint64_t i = 1; i <= 4; ++i)
    sut.add(row(i, 1, i % 2 == 0 ? 1 : 0));
  for (uint64_t i = 1; i <= 4; ++i)
    BOOST_TEST(run_next(sut) == ids{i});
}

BOOST_AUTO_TEST_CASE(single_runs_one_row_to_its_end) {
  step_batch sut{8, joining::single};
  sut.add(row(1, 9));
  sut.add(row(2, 1, 1));
  sut.add(row(3, 1));
  BOOST_TEST(sut.next().steps == 9u);
  BOOST_TEST(run_next(sut) == ids{1});
  BOOST_TEST(run_next(sut) == ids{2});
  BOOST_TEST(run_next(sut) == ids{3});
}

BOOST_AUTO_TEST_CASE(shapes_take_turns) {
  step_batch sut{4, joining::step, 4};
  sut.add(row(1, 10));
  sut.add(row(2, 6, 1));
  const step_choice c = sut.next();
  BOOST_TEST(of(c.rows) == ids{1});
  BOOST_TEST(c.steps == 4u);
  BOOST_TEST(!sut.wants_boundary());
  static_cast<void>(sut.ran(c.rows, 4));
  BOOST_TEST(run_next(sut) == ids{2});
  BOOST_TEST(run_next(sut) == ids{1});
  BOOST_TEST(run_next(sut) == ids{2});
  BOOST_TEST(sut.next().steps == 2u);
}

BOOST_AUTO_TEST_CASE(another_shape_ends_a_long_choice) {
  step_batch sut{4, joining::step, 4};
  sut.add(row(1, 50));
  const step_choice c = sut.next();
  BOOST_TEST(c.steps == 50u);
  sut.add(row(2, 1, 1));
  BOOST_TEST(sut.wants_boundary());
  static_cast<void>(sut.ran(c.rows, 1));
  BOOST_TEST(sut.next().steps == 3u);
  BOOST_TEST(!sut.wants_boundary());
}

BOOST_AUTO_TEST_CASE(removed_rows_run_no_more) {
  step_batch sut{2};
  sut.add(row(1, 5));
  sut.add(row(2, 5));
  const step_choice c = sut.next();
  BOOST_TEST(sut.remove(c.rows[0]));
  BOOST_TEST(sut.ran(c.rows, 5).size() == 1u);
  BOOST_TEST(sut.size() == 0u);
}

BOOST_AUTO_TEST_CASE(high_priority_does_not_starve_the_low) {
  step_batch sut{1};
  sut.add(row(1, 1, 0, core::priority::low));
  uint64_t id = 2;
  uint32_t choices = 0;
  for (bool seen = false; !seen && choices < 1000; ++choices) {
    sut.add(row(id++, 1, 0, core::priority::high));
    seen = run_next(sut) == ids{1};
  }
  BOOST_TEST(choices == step_batch::most_overtaken + 1);
}

BOOST_AUTO_TEST_CASE(cancelled_rows_do_not_keep_the_turn) {
  step_batch sut{1, joining::step, 2};
  sut.add(row(1, 9));
  sut.add(row(2, 9, 1));
  sut.add(row(3, 9));
  BOOST_TEST(of(sut.next().rows) == ids{1});
  sut.remove(row(1, 9).ticket);
  BOOST_TEST(of(sut.next().rows) == ids{3});
  sut.add(row(4, 9));
  sut.remove(row(3, 9).ticket);
  BOOST_TEST(of(sut.next().rows) == ids{2});
}

BOOST_AUTO_TEST_CASE(dear_shapes_get_the_same_time_not_the_same_steps) {
  step_batch sut{1, joining::step, 4};
  sut.add(row(1, 10'000));
  sut.add(row(2, 10'000, 1));
  // A step of the second shape costs ten of the first.
  std::map<uint64_t, double> busy;
  std::map<uint64_t, uint32_t> longest_turn;
  for (int i = 0; i < 2000; ++i) {
    const auto c = sut.next();
    const auto id = c.rows.front().id.value;
    const auto took = (id == 1 ? 1ms : 10ms) * c.steps;
    static_cast<void>(sut.ran(c.rows, c.steps, took));
    busy[id] += core::to_ms(took);
    longest_turn[id] = std::max(longest_turn[id], c.steps);
  }
  BOOST_TEST(busy[1] > 1000.0);
  BOOST_TEST(std::abs(busy[1] - busy[2]) < 0.05 * busy[1]);
  // The cheap shape never waits for more than one expensive step.
  BOOST_TEST(longest_turn[2] == 1u);
  BOOST_TEST(longest_turn[1] == 4u);
}

BOOST_AUTO_TEST_CASE(what_a_shape_did_alone_is_not_held_against_it) {
  step_batch sut{1, joining::step, 4};
  sut.add(row(1, 100));
  for (int i = 0; i < 50; ++i)
    static_cast<void>(sut.ran(sut.next().rows, 1, 5ms));
  sut.add(row(2, 100, 1));
  std::map<uint64_t, uint32_t> steps;
  for (int i = 0; i < 40; ++i) {
    const auto c = sut.next();
    static_cast<void>(sut.ran(c.rows, 1, 5ms));
    ++steps[c.rows.front().id.value];
  }
  BOOST_TEST(steps[1] >= 16u);
  BOOST_TEST(steps[2] >= 16u);
}

BOOST_AUTO_TEST_CASE(time_is_shared_whatever_steps_cost) {
  for (size_t loop = 0; loop < test::scaled(1'000); ++loop) {
    auto random = test::random_of(loop);
    const auto shapes = static_cast<uint32_t>(2 + random.below(4));
    const auto max_batch = static_cast<uint32_t>(1 + random.below(4));
    const auto turn_steps = static_cast<uint32_t>(1 + random.below(5));
    step_batch sut{max_batch, joining::step, turn_steps};
    std::vector<int64_t> cost;
    for (uint32_t s = 0; s < shapes; ++s) {
      // Costs run from 1 to 1000, evenly in their logarithm.
      cost.push_back(static_cast<int64_t>(std::pow(10, 3 * random.uniform())));
      for (uint32_t k = 0; k <= max_batch; ++k)
        sut.add(row(s * 100 + k, 1'000'000, s));
    }
    std::vector<double> busy(shapes, 0.0);
    for (int i = 0; i < 20'000; ++i) {
      const auto c = sut.next();
      const auto s = static_cast<size_t>(c.rows.front().id.value / 100);
      // Some runs end early, as on the device thread.
      const auto steps = 1 + static_cast<uint32_t>(random.below(c.steps));
      const auto took = core::timespan{cost[s] * steps};
      static_cast<void>(sut.ran(c.rows, steps, took));
      busy[s] += static_cast<double>(took.count());
    }
    // A turn is as long as steps of the cheapest shape, except while only
    // expensive shapes were measured. Each shape may be a step ahead.
    const auto slack =
      (turn_steps + 3.0)
      * static_cast<double>(*std::max_element(cost.begin(), cost.end()));
    const auto [least, most] = std::minmax_element(busy.begin(), busy.end());
    BOOST_TEST(*most - *least <= slack,
               *most << " - " << *least << " > " << slack << ", loop " << loop);
  }
}

BOOST_AUTO_TEST_CASE(who_asks_for_little_is_not_drawn_in_others_batches) {
  step_batch sut{8};
  for (uint64_t i = 1; i <= 12; ++i)
    sut.add(of_tenant(row(i, 1000), 1));
  // Each row takes ten milliseconds, as on a device that one row fills.
  for (int i = 0; i < 5; ++i) {
    const auto c = sut.next();
    BOOST_TEST(c.rows.size() == 8u);
    static_cast<void>(sut.ran(c.rows, 1, 80ms));
  }
  sut.add(of_tenant(row(100, 4), 2));
  BOOST_TEST(sut.wants_boundary());
  for (uint32_t ran = 0; ran < 4;) {
    const auto c = sut.next();
    BOOST_TEST(of(c.rows) == ids{100});
    static_cast<void>(sut.ran(c.rows, c.steps, c.steps * 10ms));
    ran += c.steps;
  }
  // The next row must not wait for eight rows, which gain nothing here.
  size_t most = 8;
  for (int i = 0; i < 5; ++i) {
    const auto c = sut.next();
    most = c.rows.size();
    static_cast<void>(sut.ran(c.rows, 1, most * 10ms));
  }
  BOOST_TEST(most == 1u);
  // After a long time by itself, the shape gets all of them again.
  for (uint32_t i = 0; i < step_batch::company_choices; ++i) {
    const auto c = sut.next();
    static_cast<void>(sut.ran(c.rows, 1, c.rows.size() * 10ms));
  }
  BOOST_TEST(sut.next().rows.size() == 8u);
}

BOOST_AUTO_TEST_CASE(beside_others_batches_are_as_large_as_they_gain) {
  step_batch sut{8};
  for (uint64_t i = 1; i <= 12; ++i)
    sut.add(of_tenant(row(i, 1000), 1));
  const auto step = [](size_t rows) { return 20ms + rows * 1ms; };
  sut.add(of_tenant(row(100, 1), 2));
  std::vector<size_t> sizes;
  for (int i = 0; i < 12; ++i) {
    const auto c = sut.next();
    if (c.rows.size() > 1 || of(c.rows) != ids{100})
      sizes.push_back(c.rows.size());
    static_cast<void>(sut.ran(c.rows, 1, step(c.rows.size())));
  }
  BOOST_TEST(sizes.back() == 8u);
}

BOOST_AUTO_TEST_CASE(tenants_share_time_whoever_has_more_rows) {
  step_batch sut{8};
  for (uint64_t i = 1; i <= 12; ++i)
    sut.add(of_tenant(row(i, 100'000), 1));
  for (uint64_t i = 101; i <= 102; ++i)
    sut.add(of_tenant(row(i, 100'000), 2));
  std::map<bool, double> busy;
  for (int i = 0; i < 2000; ++i) {
    const auto c = sut.next();
    static_cast<void>(sut.ran(c.rows, 1, c.rows.size() * 10ms));
    for (const auto who : c.rows)
      busy[who.id.value > 100] += 10;
  }
  BOOST_TEST(std::abs(busy[true] - busy[false]) < 0.05 * busy[true]);
}

BOOST_AUTO_TEST_CASE(tenants_have_time_by_their_shares) {
  for (size_t loop = 0; loop < test::scaled(1'000); ++loop) {
    auto random = test::random_of(loop);
    const auto tenants = static_cast<uint32_t>(2 + random.below(4));
    const auto max_batch = static_cast<uint32_t>(1 + random.below(4));
    const auto turn_steps = static_cast<uint32_t>(1 + random.below(5));
    step_batch sut{max_batch, joining::step, turn_steps};
    std::vector<uint32_t> share;
    std::vector<double> cost;
    double slowest = 0;
    for (uint32_t t = 0; t < tenants; ++t) {
      share.push_back(1 + static_cast<uint32_t>(random.below(20)));
      cost.push_back(1'000.0 * (1 + static_cast<double>(random.below(20))));
      slowest = std::max(slowest, cost.back());
      // Each has a shape of its own, so that no row rides along.
      auto x = of_tenant(row(t, 1'000'000, t), t);
      x.share = share.back();
      sut.add(x);
    }
    std::vector<double> busy(tenants, 0.0);
    for (int i = 0; i < 5'000; ++i) {
      const auto c = sut.next();
      const auto t = static_cast<size_t>(c.rows.front().id.value);
      const auto took = cost[t] * c.steps;
      static_cast<void>(
        sut.ran(c.rows, c.steps, core::timespan{static_cast<int64_t>(took)}));
      busy[t] += took;
    }
    // Each may be ahead of another one by a turn and a step, and a larger share
    // by its lead.
    const double least = *std::min_element(share.begin(), share.end());
    const double cheapest = *std::min_element(cost.begin(), cost.end());
    for (uint32_t t = 0; t < tenants; ++t)
      for (uint32_t o = 0; o < tenants; ++o) {
        const auto lead =
          share[t] > share[o]
            ? turn_steps * cheapest * (least / share[o] - least / share[t])
            : 0;
        BOOST_TEST(busy[t] / share[t] - busy[o] / share[o]
                     <= 7 * slowest / share[t] + lead + 1,
                   "loop " << loop << ": tenant " << t << " against " << o);
      }
  }
}

BOOST_AUTO_TEST_CASE(a_large_share_waits_for_no_turn_of_others) {
  step_batch sut{4};
  for (uint32_t t = 1; t <= 4; ++t)
    sut.add(of_tenant(row(t, 1'000'000), t));
  uint64_t id = 100;
  std::vector<double> took_ms;
  const auto run = [&] {
    const auto c = sut.next();
    uint32_t steps = 1;
    while (steps < c.steps && !sut.wants_boundary())
      ++steps;
    const auto took = 10ms * c.rows.size() * steps;
    static_cast<void>(sut.ran(c.rows, steps, took));
    return std::tuple{of(c.rows), steps, core::to_ms(took)};
  };
  for (int i = 0; i < 200; ++i) {
    // The device does not stand still until the next request arrives.
    run();
    auto x = of_tenant(row(++id, 8), 9);
    x.share = 16;
    sut.add(x);
    double all = 0;
    for (uint32_t done = 0; done < 8;) {
      const auto [rows, steps, ms] = run();
      if (rows.front() == id) {
        // Once the larger batch is measured, no row rides along.
        BOOST_TEST((i < 4 || rows == ids{id}));
        done += steps;
      }
      all += ms;
    }
    took_ms.push_back(all);
  }
  // A step of four others takes 40 ms.
  std::sort(took_ms.begin() + 4, took_ms.end());
  BOOST_TEST(took_ms[100] <= 80.0);
  BOOST_TEST(took_ms[198] <= 80.0);
}

BOOST_AUTO_TEST_CASE(beside_a_larger_share_batches_take_two_steps_at_most) {
  step_batch sut{8};
  for (uint64_t i = 1; i <= 12; ++i)
    sut.add(of_tenant(row(i, 100'000), 1));
  for (uint32_t i = 2; i <= 4; ++i)
    sut.add(of_tenant(row(20 + i, 100'000), i));
  auto x = of_tenant(row(100, 1), 9);
  x.share = 10;
  sut.add(x);
  // Larger batches gain, so that by themselves they are as large as possible.
  const auto step = [](size_t rows) { return 8ms + rows * 2ms; };
  std::vector<size_t> sizes;
  for (int i = 0; i < 60; ++i) {
    const auto c = sut.next();
    sizes.push_back(c.rows.size());
    static_cast<void>(sut.ran(c.rows, 1, step(c.rows.size())));
  }
  // The share's only row ended long ago.
  BOOST_TEST((sut.find({core::request_id{100}, 0}) == nullptr));
  BOOST_TEST(*std::max_element(sizes.begin() + 20, sizes.end()) <= 6u);
  BOOST_TEST(*std::max_element(sizes.begin() + 20, sizes.end()) >= 3u);
  // Without it for a long time, they are as large as before.
  for (uint32_t i = 0; i < 2 * step_batch::company_choices; ++i) {
    const auto c = sut.next();
    sizes.push_back(c.rows.size());
    static_cast<void>(sut.ran(c.rows, 1, step(c.rows.size())));
  }
  BOOST_TEST(*std::max_element(sizes.end() - 20, sizes.end()) == 8u);
}

BOOST_AUTO_TEST_CASE(one_slow_step_does_not_keep_batches_small) {
  for (const uint32_t share : {1u, 10u})
    BOOST_TEST_CONTEXT("share " << share) {
      step_batch sut{8};
      for (uint64_t i = 1; i <= 12; ++i)
        sut.add(of_tenant(row(i, 1'000'000), 1));
      auto other = of_tenant(row(100, 1'000'000), 9);
      other.share = share;
      sut.add(other);
      std::set<size_t> measured;
      size_t choices = 0;
      const auto largest = [&](uint32_t most) {
        size_t found = 0;
        for (uint32_t i = 0; i < most; ++i, ++choices) {
          const auto c = sut.next();
          const auto n = c.rows.size();
          // The first step of each size but the least takes ten times as long.
          const bool slow = measured.insert(n).second && n > 1;
          static_cast<void>(
            sut.ran(c.rows, 1, (8ms + n * 2ms) * (slow ? 10 : 1)));
          if (of(c.rows).front() != 100)
            found = std::max(found, n);
        }
        return found;
      };
      largest(100);
      BOOST_TEST(largest(200) < 4u);
      // Sizes are tried again one after the other, by choices of their own.
      largest(8 * step_batch::measured_choices * (1 + share));
      BOOST_TEST(largest(200) >= 4u);
    }
}

BOOST_AUTO_TEST_CASE(who_leaves_and_comes_again_gains_nothing) {
  step_batch sut{1};
  sut.add(of_tenant(row(1, 1'000'000), 1));
  sut.add(of_tenant(row(2, 1'000'000), 2));
  std::map<uint64_t, double> busy;
  uint64_t id = 10;
  bool there = false;
  for (int i = 0; i < 3'000; ++i) {
    if (!std::exchange(there, true))
      sut.add(of_tenant(row(++id, 6), 3));
    const auto c = sut.next();
    const auto who = c.rows.front().id.value;
    busy[who > 2 ? 3 : who] += c.steps;
    there = who <= 2 || sut.ran(c.rows, c.steps, 1ms * c.steps).empty();
    if (who <= 2)
      static_cast<void>(sut.ran(c.rows, c.steps, 1ms * c.steps));
  }
  BOOST_TEST(busy[3] <= busy[1] + 8);
  BOOST_TEST(busy[3] <= busy[2] + 8);
  BOOST_TEST(busy[3] >= 0.5 * busy[1]);
}

BOOST_AUTO_TEST_CASE(new_tenants_without_end_starve_no_other) {
  for (const uint32_t share : {1u, 1000u}) {
    step_batch sut{1};
    auto x = of_tenant(row(1, 1'000'000, 0), 1);
    x.share = share;
    sut.add(x);
    static_cast<void>(sut.ran(sut.next().rows, 1, 10ms));
    uint32_t id = 1;
    uint32_t steps = 0;
    // Each comes with a name of its own before the one before it is done.
    const auto come = [&] {
      ++id;
      sut.add(of_tenant(row(id, 1, id % 7), id));
    };
    come();
    for (int i = 0; i < 1'000; ++i) {
      const auto c = sut.next();
      come();
      steps += c.rows.front().id.value == 1 ? c.steps : 0;
      static_cast<void>(sut.ran(c.rows, c.steps, 10ms * c.steps));
    }
    BOOST_TEST(steps > (share > 1 ? 400u : 10u));
  }
}

BOOST_AUTO_TEST_CASE(more_shapes_are_no_larger_share) {
  step_batch sut{1};
  for (uint32_t i = 1; i <= 5; ++i)
    sut.add(of_tenant(row(i, 1'000'000, i), 1));
  sut.add(of_tenant(row(10, 1'000'000), 2));
  std::map<uint64_t, double> busy;
  for (int i = 0; i < 1'000; ++i) {
    const auto c = sut.next();
    busy[c.rows.front().id.value] += c.steps;
    static_cast<void>(sut.ran(c.rows, c.steps, 1ms * c.steps));
  }
  double first = 0;
  for (uint64_t i = 1; i <= 5; ++i) {
    first += busy[i];
    BOOST_TEST(std::abs(busy[i] - busy[1]) <= 8);
  }
  BOOST_TEST(std::abs(first - busy[10]) <= 16);
}

BOOST_AUTO_TEST_CASE(rows_that_cost_nothing_ride_along) {
  step_batch sut{8};
  for (uint64_t i = 1; i <= 8; ++i)
    sut.add(of_tenant(row(i, 100'000), 1));
  sut.add(of_tenant(row(100, 100'000), 2));
  size_t steps = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto c = sut.next();
    // The device is full only with eight rows.
    static_cast<void>(sut.ran(c.rows, 1, 20ms + c.rows.size() * 500us));
    steps += c.rows.size();
  }
  // All steps count except those that measure first.
  BOOST_TEST(steps > 7900u);
}

BOOST_AUTO_TEST_CASE(those_who_ask_for_as_much_share_batches) {
  step_batch sut{8};
  for (uint32_t i = 1; i <= 6; ++i)
    sut.add(of_tenant(row(i, 20), i));
  for (int i = 0; i < 20; ++i) {
    const auto c = sut.next();
    BOOST_TEST(c.rows.size() == 6u);
    static_cast<void>(sut.ran(c.rows, 1, c.rows.size() * 10ms));
  }
  BOOST_TEST(sut.size() == 0u);
}

BOOST_AUTO_TEST_CASE(whole_batches_are_of_all_tenants) {
  step_batch sut{8, joining::whole_batch};
  for (uint32_t i = 1; i <= 8; ++i)
    sut.add(of_tenant(row(i, 20), i % 3));
  BOOST_TEST(sut.next().rows.size() == 8u);
  sut.change(8, joining::step);
  BOOST_TEST(sut.next().rows.size() >= 2u);
  sut.change(8, joining::whole_batch);
  BOOST_TEST(sut.next().rows.size() == 8u);
}

BOOST_AUTO_TEST_CASE(invariants_hold_under_random_use) {
  for (size_t loop = 0; loop < test::scaled(2'000); ++loop) {
    auto random = test::random_of(loop);
    const auto below = [&](uint32_t n) {
      return static_cast<uint32_t>(random.below(n));
    };
    const uint32_t max_batch = 1 + below(8);
    const auto join = static_cast<joining>(below(3));
    const uint32_t turn_steps = 1 + below(6);
    const uint32_t seats = 2 + below(20);
    const bool timed = below(2) == 0;
    const uint32_t longest = 1 + below(10);
    const uint32_t limit = join == joining::single ? 1 : max_batch;
    step_batch sut{max_batch, join, turn_steps};

    struct model_row {
      batch_row row;
      bool started = false;
      uint32_t waited = 0;
    };

    std::map<core::ticket, model_row> model;
    // Before a row's first run, at most this many rows of its own shape run
    // (those already present and those that overtake), each between turns of
    // the others.
    const uint32_t shapes = 3;
    const uint32_t tenants = 1 + below(3);
    const uint32_t bound = (seats + step_batch::most_overtaken + limit) * shapes
                         * tenants * (longest + turn_steps);
    uint64_t id = 1;
    for (int i = 0; i < 400; ++i) {
      while (model.size() < seats && below(2) == 0) {
        const batch_row r =
          of_tenant(row(id++, 1 + below(longest), below(shapes),
                        static_cast<core::priority>(below(3)),
                        below(2) == 0 ? core::never : at_s(below(9))),
                    below(tenants));
        BOOST_REQUIRE(sut.add(r));
        BOOST_REQUIRE(!sut.add(r));
        model[r.ticket].row = r;
      }
      const step_choice c = sut.next();
      BOOST_REQUIRE(c.rows.empty() == model.empty());
      BOOST_REQUIRE(c.rows.size() <= limit);
      BOOST_REQUIRE(model.empty() == (c.steps == 0));
      uint32_t new_rows = 0;
      for (size_t k = 0; k < c.rows.size(); ++k) {
        const auto at = model.find(c.rows[k]);
        BOOST_REQUIRE((at != model.end()));
        model_row& m = at->second;
        BOOST_REQUIRE((m.row.shape == model[c.rows[0]].row.shape));
        BOOST_REQUIRE(c.steps <= m.row.steps_left);
        BOOST_REQUIRE(std::count(c.rows.begin(), c.rows.end(), c.rows[k]) == 1);
        const bool joins =
          std::find(c.joining.begin(), c.joining.end(), c.rows[k])
          != c.joining.end();
        BOOST_REQUIRE(joins == !m.started);
        new_rows += joins ? 1 : 0;
        m.started = true;
      }
      BOOST_REQUIRE(new_rows == c.joining.size());
      if (join != joining::step && new_rows > 0)
        BOOST_REQUIRE(new_rows == c.rows.size());
      for (auto& [who, m] : model)
        BOOST_REQUIRE((m.started || ++m.waited <= bound));
      if (!model.empty() && below(10) == 0) {
        const auto gone =
          std::next(model.begin(), below(static_cast<uint32_t>(model.size())));
        BOOST_REQUIRE(sut.remove(gone->first));
        model.erase(gone);
      }
      const uint32_t steps = c.steps == 0 ? 0 : 1 + below(c.steps);
      std::vector<core::ticket> ended;
      for (const core::ticket& who : c.rows)
        if (const auto at = model.find(who); at != model.end()) {
          at->second.row.steps_left -= steps;
          if (at->second.row.steps_left == 0) {
            ended.push_back(who);
            model.erase(at);
          }
        }
      const auto took = (timed ? 5ms : 0ms) * c.rows.size() * steps;
      BOOST_REQUIRE((sut.ran(c.rows, steps, took) == ended));
      BOOST_REQUIRE(sut.size() == model.size());
      for (const auto& [who, m] : model)
        BOOST_REQUIRE((*sut.find(who) == m.row));
    }
    for (size_t choices = 0; sut.size() > 0; ++choices) {
      BOOST_REQUIRE(choices <= seats * longest * shapes);
      run_next(sut);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
