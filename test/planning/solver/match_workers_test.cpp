// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/solver/match_workers.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>

using namespace atelier;
using namespace atelier::planning;

namespace {

using ids = std::vector<core::variant_id>;

constexpr core::variant_id v(uint32_t i) {
  return core::variant_id{i};
}

profile three_loads() {
  profile p = test::three_variants();
  p.variants[0].load = std::chrono::seconds{9};
  p.variants[1].load = std::chrono::seconds{5};
  p.variants[2].load = std::chrono::seconds{1};
  return p;
}

std::vector<worker_view> hosting(const std::vector<ids>& all) {
  std::vector<worker_view> out(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    out[i].worker = core::worker_id{static_cast<uint32_t>(i)};
    out[i].hosting = all[i];
    out[i].device_kind = "cpu";
  }
  return out;
}

// Returns the fewest moves, then the least seconds, by trying every assignment.
std::pair<uint32_t, double> tried_out(
  const std::vector<worker_view>& workers,
  const std::vector<hosting_target>& targets, const profile& known) {
  std::pair<uint32_t, double> best{UINT32_MAX, 0};
  std::vector<uint32_t> left;
  for (const auto& t : targets)
    left.push_back(t.count);
  const std::function<void(size_t, uint32_t, double, size_t)> go =
    [&](size_t at, uint32_t moves, double seconds, size_t idle) {
      if (at == workers.size()) {
        best = std::min(best, {moves, seconds});
        return;
      }
      for (size_t t = 0; t < targets.size(); ++t) {
        if (left[t] == 0)
          continue;
        double load = 0;
        bool loads = false;
        for (const auto x : targets[t].hosting)
          if (std::count(workers[at].hosting.begin(), workers[at].hosting.end(),
                         x)
              == 0) {
            load += core::to_seconds(known.variants[x.value].load);
            loads = true;
          }
        --left[t];
        go(at + 1, moves + (loads ? 1 : 0), seconds + load, idle);
        ++left[t];
      }
      if (idle > 0)
        go(at + 1, moves, seconds, idle - 1);
    };
  size_t wanted = 0;
  for (const auto& t : targets)
    wanted += t.count;
  go(0, 0, 0, workers.size() > wanted ? workers.size() - wanted : 0);
  return best;
}

} // namespace

BOOST_AUTO_TEST_SUITE(match_workers_test)

BOOST_AUTO_TEST_CASE(what_is_loaded_stays) {
  const auto known = three_loads();
  const auto workers = hosting({{v(0)}, {v(1)}, {v(0)}, {v(2)}});
  const std::vector<hosting_target> targets{
    {{v(2)}, 1, {}}, {{v(0)}, 2, {}}, {{v(1)}, 1, {}}};
  const auto m = match_workers(workers, targets, known);
  BOOST_TEST(m.moves == 0u);
  BOOST_TEST(m.load_seconds == 0.0);
  BOOST_TEST(m.target[0].value() == 1u);
  BOOST_TEST(m.target[1].value() == 2u);
  BOOST_TEST(m.target[2].value() == 1u);
  BOOST_TEST(m.target[3].value() == 0u);
}

BOOST_AUTO_TEST_CASE(the_least_loaded_is_converted) {
  const auto known = three_loads();
  auto workers = hosting({{v(0)}, {v(0)}, {v(0)}});
  workers[0].steps_left = 10;
  workers[1].steps_left = 2;
  workers[2].steps_left = 10;
  const std::vector<hosting_target> targets{{{v(0)}, 2, {}}, {{v(1)}, 1, {}}};
  const auto m = match_workers(workers, targets, known);
  BOOST_TEST(m.moves == 1u);
  BOOST_TEST(m.load_seconds == 5.0);
  BOOST_TEST(m.target[1].value() == 1u);
}

BOOST_AUTO_TEST_CASE(too_few_and_too_many_workers_are_told) {
  const auto known = three_loads();
  const auto workers = hosting({{v(0)}, {v(1)}});
  const std::vector<hosting_target> more{{{v(0)}, 3, {}}, {{v(1)}, 1, {}}};
  const auto few = match_workers(workers, more, known);
  BOOST_TEST(few.missing[0] == 2u);
  BOOST_TEST(few.missing[1] == 0u);
  const std::vector<hosting_target> less{{{v(1)}, 1, {}}};
  const auto many = match_workers(workers, less, known);
  BOOST_TEST(!many.target[0].has_value());
  BOOST_TEST(many.target[1].value() == 0u);
  BOOST_TEST(match_workers({}, more, known).missing[0] == 3u);
  BOOST_TEST(match_workers(workers, {}, known).moves == 0u);
}

BOOST_AUTO_TEST_CASE(kinds_of_device_are_kept_apart) {
  const auto known = three_loads();
  auto workers = hosting({{v(0)}, {v(1)}});
  workers[1].device_kind = "cuda";
  const std::vector<hosting_target> targets{{{v(0)}, 1, "cuda"},
                                            {{v(1)}, 1, "cpu"}};
  const auto m = match_workers(workers, targets, known);
  BOOST_TEST(m.target[0].value() == 1u);
  BOOST_TEST(m.target[1].value() == 0u);
  BOOST_TEST(m.moves == 2u);
}

BOOST_AUTO_TEST_CASE(a_load_takes_what_it_does_on_the_workers_kind) {
  auto known = three_loads();
  kind_profile slow;
  slow.kind = "slow";
  running_costs own = known.variants[1];
  own.load = std::chrono::seconds{100};
  slow.variants = {std::nullopt, own};
  known.kinds = {slow};
  auto workers = hosting({{v(0)}, {v(2)}});
  workers[0].device_kind = "slow";
  const std::vector<hosting_target> targets{{{v(1)}, 1, {}}};
  const auto m = match_workers(workers, targets, known);
  BOOST_TEST(!m.target[0].has_value());
  BOOST_TEST(m.target[1].has_value());
  BOOST_TEST(m.load_seconds == 5.0);
}

BOOST_AUTO_TEST_CASE(no_other_match_moves_fewer) {
  const auto known = three_loads();
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    std::vector<ids> hosted(random.below(6));
    for (ids& h : hosted)
      for (uint32_t x = 0; x < 3; ++x)
        if (random.below(2) == 0)
          h.push_back(v(x));
    std::vector<hosting_target> targets(random.below(4));
    size_t wanted = 0;
    for (hosting_target& t : targets) {
      for (uint32_t x = 0; x < 3; ++x)
        if (random.below(2) == 0)
          t.hosting.push_back(v(x));
      t.count = static_cast<uint32_t>(random.below(3));
      wanted += t.count;
    }
    const auto workers = hosting(hosted);
    const auto m = match_workers(workers, targets, known);
    std::vector<uint32_t> given(targets.size(), 0);
    for (const auto& t : m.target)
      if (t)
        ++given[*t];
    for (size_t t = 0; t < targets.size(); ++t)
      BOOST_REQUIRE(given[t] + m.missing[t] == targets[t].count);
    if (wanted > workers.size())
      continue;
    const auto best = tried_out(workers, targets, known);
    BOOST_REQUIRE_MESSAGE(m.moves == best.first, "instance " << i);
    BOOST_REQUIRE_MESSAGE(std::abs(m.load_seconds - best.second) < 1e-9,
                          "instance " << i);
  }
}

BOOST_AUTO_TEST_SUITE_END()
