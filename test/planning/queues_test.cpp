// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/queues.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <tuple>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;
using test::at_s;
using test::waits;

namespace {

constexpr core::queue_id first{1};
constexpr core::queue_id second{2};
constexpr core::queue_id both[] = {first, second};

std::vector<uint64_t> best_of(const queues& sut, int64_t now_s = 0,
                              core::timespan ageing = 10s, size_t most = 100) {
  std::vector<uint64_t> ids;
  for (const waiting& entry : sut.best(both, at_s(now_s), ageing, most))
    ids.push_back(entry.request.value);
  return ids;
}

using ids = std::vector<uint64_t>;

// A reference with the same results, which scans and sorts everything.
class naive_queues {
public:
  bool push(core::queue_id queue, const waiting& entry, bool in_front) {
    for (const row& r : rows_)
      if (r.what.request == entry.request)
        return false;
    rows_.push_back({entry, queue, in_front ? front_-- : back_++});
    rows_.back().what.queue = queue;
    return true;
  }

  bool remove(core::request_id request) {
    return std::erase_if(
             rows_, [&](const row& r) { return r.what.request == request; })
         > 0;
  }

  std::vector<waiting> best(std::span<const core::queue_id> served,
                            core::time_point now, core::timespan ageing,
                            size_t most) const {
    std::vector<row> rows;
    for (const row& r : rows_)
      if (std::find(served.begin(), served.end(), r.queue) != served.end())
        rows.push_back(r);
    const auto key = [&](const row& r) {
      int64_t level = static_cast<int64_t>(r.what.prio);
      if (ageing > 0ns && now > r.what.since)
        level += (now - r.what.since) / ageing;
      return std::tuple{-level, r.what.deadline, r.order};
    };
    std::sort(rows.begin(), rows.end(),
              [&](const row& a, const row& b) { return key(a) < key(b); });
    std::vector<waiting> found;
    for (size_t i = 0; i < std::min(most, rows.size()); ++i)
      found.push_back(rows[i].what);
    return found;
  }

  std::vector<core::request_id> of(core::queue_id queue) const {
    std::vector<row> rows;
    std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(rows),
                 [&](const row& r) { return r.queue == queue; });
    std::sort(rows.begin(), rows.end(),
              [](const row& a, const row& b) { return a.order < b.order; });
    std::vector<core::request_id> found;
    for (const row& r : rows)
      found.push_back(r.what.request);
    return found;
  }

private:
  struct row {
    waiting what;
    core::queue_id queue;
    int64_t order;
  };

  std::vector<row> rows_;
  int64_t back_ = 0;
  int64_t front_ = -1;
};

} // namespace

BOOST_AUTO_TEST_SUITE(queues_test)

BOOST_AUTO_TEST_CASE(nothing_waits_at_first) {
  queues sut;
  BOOST_TEST(sut.size() == 0u);
  BOOST_TEST(sut.empty(first));
  BOOST_TEST(sut.size(first) == 0u);
  BOOST_TEST(sut.of(first).empty());
  BOOST_TEST(best_of(sut).empty());
  BOOST_TEST(!sut.contains(core::request_id{1}));
  BOOST_TEST(!sut.remove(core::request_id{1}).has_value());
}

BOOST_AUTO_TEST_CASE(one_waits_until_removed) {
  queues sut;
  BOOST_TEST(sut.push(first, waits(7)));
  BOOST_TEST(sut.contains(core::request_id{7}));
  BOOST_TEST(sut.size(first) == 1u);
  BOOST_TEST(sut.empty(second));
  BOOST_TEST(best_of(sut) == ids{7});
  BOOST_TEST(sut.remove(core::request_id{7}).has_value());
  BOOST_TEST(sut.empty(first));
  BOOST_TEST(!sut.remove(core::request_id{7}).has_value());
}

BOOST_AUTO_TEST_CASE(an_emptied_queue_is_like_one_that_never_was) {
  queues sut;
  sut.push(first, waits(7));
  sut.remove(core::request_id{7});
  BOOST_TEST(best_of(sut).empty());
  BOOST_TEST(sut.of(first).empty());
  sut.push(second, waits(8));
  BOOST_TEST(best_of(sut) == ids{8});
  BOOST_TEST(best_of(sut, 0, 10s, 0).empty());
  sut.push(first, waits(9));
  BOOST_TEST((best_of(sut) == ids{8, 9}));
  // More than are kept.
  for (uint32_t i = 0; i < 100; ++i)
    sut.push(core::queue_id{10 + i}, waits(10 + i));
  for (uint32_t i = 0; i < 100; ++i) {
    BOOST_TEST(
      (sut.remove(core::request_id{10 + i}) == core::queue_id{10 + i}));
    BOOST_TEST(sut.empty(core::queue_id{10 + i}));
  }
  BOOST_TEST((best_of(sut) == ids{8, 9}));
}

BOOST_AUTO_TEST_CASE(a_request_waits_once) {
  queues sut;
  BOOST_TEST(sut.push(first, waits(7)));
  BOOST_TEST(!sut.push(first, waits(7)));
  BOOST_TEST(!sut.push(second, waits(7)));
  BOOST_TEST(!sut.push_front(second, waits(7)));
  BOOST_TEST(sut.size() == 1u);
  BOOST_TEST(sut.empty(second));
}

BOOST_AUTO_TEST_CASE(arrival_decides_last) {
  queues sut;
  sut.push(second, waits(3));
  sut.push(first, waits(1));
  sut.push(first, waits(2));
  BOOST_TEST(best_of(sut) == (ids{3, 1, 2}));
}

BOOST_AUTO_TEST_CASE(the_earlier_deadline_goes_first) {
  queues sut;
  sut.push(first, waits(1));
  sut.push(first, waits(2, 0, core::priority::normal, at_s(9)));
  sut.push(second, waits(3, 0, core::priority::normal, at_s(8)));
  BOOST_TEST(best_of(sut) == (ids{3, 2, 1}));
}

BOOST_AUTO_TEST_CASE(priority_goes_before_deadline) {
  queues sut;
  sut.push(first, waits(1, 0, core::priority::low, at_s(1)));
  sut.push(first, waits(2, 0, core::priority::normal, at_s(2)));
  sut.push(first, waits(3, 0, core::priority::high));
  BOOST_TEST(best_of(sut) == (ids{3, 2, 1}));
}

BOOST_AUTO_TEST_CASE(ageing_raises_at_its_full_length) {
  queues sut;
  sut.push(first, waits(1, 0, core::priority::low, at_s(100)));
  sut.push(first, waits(2, 9, core::priority::normal));
  BOOST_TEST(best_of(sut, 9) == (ids{2, 1}));
  BOOST_TEST(best_of(sut, 10) == (ids{1, 2}));
  BOOST_TEST(best_of(sut, 10, 0s) == (ids{2, 1}));
}

BOOST_AUTO_TEST_CASE(the_oldest_low_one_passes_new_high_ones) {
  queues sut;
  sut.push(first, waits(1, 0, core::priority::low));
  sut.push(first, waits(2, 30, core::priority::high, at_s(31)));
  BOOST_TEST(best_of(sut, 30) == (ids{1, 2}));
}

BOOST_AUTO_TEST_CASE(what_lost_its_worker_goes_first) {
  queues sut;
  sut.push(first, waits(1));
  sut.push_front(first, waits(2));
  sut.push_front(first, waits(3));
  sut.push(first, waits(4, 0, core::priority::high));
  BOOST_TEST(best_of(sut) == (ids{4, 3, 2, 1}));
  const std::vector<core::request_id> order = sut.of(first);
  BOOST_TEST(order.size() == 4u);
  BOOST_TEST(order.front().value == 3u);
  BOOST_TEST(order.back().value == 4u);
}

BOOST_AUTO_TEST_CASE(most_bounds_what_is_found) {
  queues sut;
  for (uint64_t i = 1; i <= 5; ++i)
    sut.push(first, waits(i));
  BOOST_TEST(best_of(sut, 0, 10s, 0).empty());
  BOOST_TEST(best_of(sut, 0, 10s, 4).size() == 4u);
  BOOST_TEST(best_of(sut, 0, 10s, 5).size() == 5u);
  BOOST_TEST(best_of(sut, 0, 10s, 6).size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_queue_named_twice_counts_once) {
  queues sut;
  sut.push(first, waits(1));
  constexpr core::queue_id twice[] = {first, first};
  BOOST_TEST(sut.best(twice, at_s(0), 10s, 9).size() == 1u);
}

BOOST_AUTO_TEST_CASE(moved_queues_keep_what_waits) {
  queues from;
  from.push(first, waits(1));
  from.push(second, waits(2));
  queues sut{std::move(from)};
  BOOST_TEST(best_of(sut) == (ids{1, 2}));
  BOOST_TEST(sut.remove(core::request_id{1}).has_value());
}

BOOST_AUTO_TEST_CASE(equals_the_naive_queues) {
  for (size_t loop = 0; loop < test::scaled(1'000); ++loop) {
    auto random = test::random_of(loop);
    const uint64_t known = 1 + random.below(60);
    const int64_t spread = 1 + static_cast<int64_t>(random.below(100));
    queues sut;
    naive_queues model;
    for (int i = 0; i < 200; ++i) {
      const core::request_id who{random.below(known)};
      const core::queue_id queue{static_cast<uint32_t>(random.below(4))};
      const auto some_time = [&] {
        return static_cast<int64_t>(
          random.below(static_cast<uint64_t>(spread)));
      };
      if (random.below(3) == 0) {
        BOOST_REQUIRE(sut.remove(who).has_value() == model.remove(who));
      } else {
        auto entry = waits(who.value, some_time(),
                           static_cast<core::priority>(random.below(3)));
        if (random.below(2) == 0)
          entry.deadline = at_s(some_time());
        const bool in_front = random.below(5) == 0;
        const bool added =
          in_front ? sut.push_front(queue, entry) : sut.push(queue, entry);
        BOOST_REQUIRE(added == model.push(queue, entry, in_front));
      }
      std::vector<core::queue_id> served;
      for (uint32_t l = 0; l < 4; ++l)
        if (random.below(2) == 0)
          served.emplace_back(l);
      const core::time_point now = at_s(some_time() + some_time());
      const core::timespan ageing =
        std::chrono::seconds{random.below(12) * random.below(3)};
      const size_t most = random.below(12);
      BOOST_REQUIRE(sut.best(served, now, ageing, most)
                    == model.best(served, now, ageing, most));
      BOOST_REQUIRE(sut.of(queue) == model.of(queue));
      BOOST_REQUIRE(sut.size(queue) == sut.of(queue).size());
      BOOST_REQUIRE(sut.empty(queue) == sut.of(queue).empty());
    }
  }
}

// -- tenants ------------------------------------------------------------------

namespace {

constexpr core::tenant_id heavy{1};
constexpr core::tenant_id light{2};

waiting of_tenant(core::tenant_id tenant, uint64_t request, int64_t since_s = 0,
                  core::priority prio = core::priority::normal,
                  core::time_point deadline = core::never) {
  auto x = waits(request, since_s, prio, deadline);
  x.tenant = tenant;
  x.still_needs = 1s;
  return x;
}

// Takes the best entry repeatedly and charges its tenant, as a device with one
// seat does.
ids taken_from(queues& sut, int64_t now_s, size_t most) {
  ids out;
  while (out.size() < most && sut.size() > 0) {
    const auto next = sut.best(both, at_s(now_s), 10s, 1).front();
    out.push_back(next.request.value);
    sut.remove(next.request);
    sut.charge(next.tenant, next.still_needs, at_s(now_s));
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(who_comes_late_with_little_waits_for_one_turn) {
  queues sut;
  for (uint64_t i = 1; i <= 100; ++i)
    sut.push(first, of_tenant(heavy, i));
  BOOST_TEST((taken_from(sut, 1, 3) == ids{1, 2, 3}));
  sut.push(first, of_tenant(light, 200, 1));
  sut.push(first, of_tenant(light, 201, 1));
  BOOST_TEST((taken_from(sut, 1, 6) == ids{4, 200, 5, 201, 6, 7}));
  // After this time all waiting entries may have been raised, but those of a
  // tenant that gets its turns are not.
  sut.push(first, of_tenant(light, 202, 95));
  const auto next = taken_from(sut, 100, 2);
  BOOST_TEST(std::count(next.begin(), next.end(), 202u) == 1);
}

BOOST_AUTO_TEST_CASE(tenants_receive_work_by_their_shares) {
  queues sut;
  for (uint64_t i = 1; i <= 100; ++i) {
    sut.push(first, of_tenant(heavy, i));
    auto x = of_tenant(light, 100 + i);
    x.share = 4;
    sut.push(first, x);
  }
  const auto taken = taken_from(sut, 1, 50);
  BOOST_TEST(std::count_if(taken.begin(), taken.end(),
                           [](uint64_t x) { return x > 100; })
             == 40);
  // The same in one look at the queue.
  const auto found = best_of(sut, 1, 10s, 50);
  BOOST_TEST(std::count_if(found.begin(), found.end(),
                           [](uint64_t x) { return x > 100; })
             == 40);
}

BOOST_AUTO_TEST_CASE(tenants_that_could_not_run_keep_their_order) {
  queues sut;
  constexpr core::tenant_id before{3};
  for (uint64_t i = 1; i <= 2; ++i)
    sut.push(first, of_tenant(before, i));
  for (uint64_t i = 1; i <= 30; ++i) {
    sut.push(first, of_tenant(heavy, 100 + i));
    auto x = of_tenant(light, 200 + i);
    x.share = 5;
    sut.push(first, x);
  }
  for (uint64_t i = 1; i <= 2; ++i) {
    sut.remove(core::request_id{i});
    sut.charge(before, 20s, at_s(1));
  }
  const auto taken = taken_from(sut, 1, 24);
  BOOST_TEST(std::count_if(taken.begin(), taken.end(),
                           [](uint64_t x) { return x > 200; })
             == 20);
}

BOOST_AUTO_TEST_CASE(tenants_share_by_work_and_order_their_own_by_deadline) {
  queues sut;
  for (uint64_t i = 1; i <= 8; ++i) {
    auto x = of_tenant(heavy, i);
    x.still_needs = 4s;
    sut.push(first, x);
  }
  for (uint64_t i = 11; i <= 18; ++i)
    sut.push(first, of_tenant(light, i, 0, core::priority::normal,
                              at_s(1000 - static_cast<int64_t>(i))));
  const auto some = taken_from(sut, 1, 10);
  BOOST_TEST((some == ids{18, 1, 17, 16, 15, 14, 2, 13, 12, 11}));
  // The list of the best entries has the same order.
  queues same;
  for (uint64_t i = 1; i <= 4; ++i) {
    same.push(first, of_tenant(heavy, i));
    same.push(second, of_tenant(light, 10 + i));
  }
  BOOST_TEST((best_of(same) == ids{1, 11, 2, 12, 3, 13, 4, 14}));
}

BOOST_AUTO_TEST_CASE(tenants_that_are_left_out_hide_nobody) {
  queues sut;
  const auto found = [&](size_t most, std::vector<core::tenant_id> without) {
    ids out;
    for (const auto& x : sut.best(both, at_s(0), 10s, most, without))
      out.push_back(x.request.value);
    return out;
  };
  sut.push(first, of_tenant(light, 1));
  BOOST_TEST(found(4, {light}).empty());
  BOOST_TEST((found(4, {heavy}) == ids{1}));
  for (uint64_t i = 10; i < 20; ++i)
    sut.push(first, of_tenant(heavy, i));
  sut.push(second, of_tenant(core::tenant_id{3}, 30));
  sut.charge(light, 1h, at_s(0));
  BOOST_TEST((found(1, {heavy}) == ids{30}));
  BOOST_TEST((found(4, {heavy}) == ids{30, 1}));
  BOOST_TEST((found(4, {heavy, core::tenant_id{3}}) == ids{1}));
}

BOOST_AUTO_TEST_CASE(priority_orders_only_a_tenants_own_requests) {
  queues sut;
  for (uint64_t i = 1; i <= 9; ++i)
    sut.push(first, of_tenant(heavy, i, 0, core::priority::high));
  sut.push(first, of_tenant(light, 20, 0, core::priority::low));
  sut.push(first, of_tenant(light, 21, 0, core::priority::high));
  sut.push(first, of_tenant(light, 22, 0, core::priority::normal));
  BOOST_TEST((best_of(sut) == ids{1, 21, 2, 22, 3, 20, 4, 5, 6, 7, 8, 9}));
  BOOST_TEST((taken_from(sut, 5, 7) == ids{1, 21, 2, 22, 3, 20, 4}));
}

BOOST_AUTO_TEST_CASE(who_was_not_served_for_long_goes_first) {
  queues sut;
  for (uint64_t i = 1; i <= 9; ++i)
    sut.push(first, of_tenant(heavy, i, 0, core::priority::high));
  // Its long work, in another queue, counts for many turns.
  sut.push(core::queue_id{9}, of_tenant(light, 19));
  sut.charge(light, 50s, at_s(0));
  sut.push(first, of_tenant(light, 20, 0, core::priority::low));
  BOOST_TEST((taken_from(sut, 5, 2) == ids{1, 2}));
  BOOST_TEST((taken_from(sut, 9, 1) == ids{3}));
  BOOST_TEST((taken_from(sut, 10, 2) == ids{20, 4}));
}

// A tenant whose work cannot run while another's does, as its variant has no
// free device, does not save up turns without bound.
BOOST_AUTO_TEST_CASE(work_that_others_receive_is_made_up_for_at_most_a_minute) {
  queues sut;
  sut.push(second, of_tenant(light, 1));
  for (uint64_t i = 1; i <= 1000; ++i)
    sut.push(first, of_tenant(heavy, 1000 + i));
  constexpr core::queue_id one[] = {first};
  for (int i = 0; i < 300; ++i) {
    const auto next = sut.best(one, at_s(0), 0s, 1).front();
    sut.remove(next.request);
    sut.charge(heavy, 1s, at_s(0));
  }
  for (uint64_t i = 2; i <= 200; ++i)
    sut.push(second, of_tenant(light, i));
  const auto some = best_of(sut, 0, 0s, 80);
  BOOST_TEST(
    std::count_if(some.begin(), some.end(), [](uint64_t x) { return x <= 200; })
    == 70);
}

BOOST_AUTO_TEST_CASE(a_tenant_with_long_work_gets_fewer_turns) {
  for (size_t loop = 0; loop < test::scaled(200); ++loop) {
    auto random = test::random_of(loop);
    const uint64_t tenants = 2 + random.below(4);
    std::vector<core::timespan> needs(tenants);
    for (auto& x : needs)
      x = std::chrono::seconds{1 + random.below(100)};
    queues sut;
    std::vector<core::timespan> received(tenants, 0s);
    uint64_t last = 0;
    const auto enter = [&](uint64_t who) {
      auto x = of_tenant(core::tenant_id{who}, ++last, 0,
                         static_cast<core::priority>(random.below(3)));
      x.still_needs = needs[who];
      sut.push(first, x);
    };
    for (uint64_t who = 0; who < tenants; ++who)
      for (int i = 0; i < 3; ++i)
        enter(who);
    for (int i = 0; i < 200; ++i) {
      const auto next = sut.best(both, at_s(0), 0s, 1).front();
      sut.remove(next.request);
      sut.charge(next.tenant, next.still_needs, at_s(0));
      received[next.tenant.low] += next.still_needs;
      enter(next.tenant.low);
      // No tenant is ahead of another by more than one turn.
      const auto [least, most] =
        std::minmax_element(received.begin(), received.end());
      BOOST_REQUIRE(
        (*most - *least <= *std::max_element(needs.begin(), needs.end())));
    }
  }
}

BOOST_AUTO_TEST_CASE(nobody_saves_up_turns_while_nothing_waits) {
  queues sut;
  sut.push(first, of_tenant(light, 1));
  BOOST_TEST((taken_from(sut, 0, 1) == ids{1}));
  for (uint64_t i = 11; i <= 30; ++i)
    sut.push(first, of_tenant(heavy, i));
  taken_from(sut, 1, 10);
  for (uint64_t i = 2; i <= 9; ++i)
    sut.push(first, of_tenant(light, i, 1));
  const auto some = taken_from(sut, 1, 8);
  BOOST_TEST(
    std::count_if(some.begin(), some.end(), [](uint64_t x) { return x < 10; })
    == 4);
}

BOOST_AUTO_TEST_SUITE_END()
