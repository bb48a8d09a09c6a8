// SPDX-License-Identifier: Apache-2.0
#include "farm.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/planning/demand/workload.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace {

using namespace atelier;

constexpr uint32_t models = 30;

/// Sessions of some requests for one model, the k-th asked for 1/k as often as
/// the first: bursts, as a real service has them.
bench::farm made(uint64_t seed, uint32_t resident, double mean_gap_seconds) {
  bench::farm out;
  out.profile =
    std::make_shared<const planning::profile>(bench::farm_profile(models));
  out.workers = 4;
  out.resident = resident;
  out.seed = seed;
  core::philox random{seed, core::purpose::test};
  const planning::zipf draw{models};
  constexpr uint32_t images[] = {1, 1, 1, 1, 1, 1, 2, 4, 4, 8};
  double begin = 0;
  while (out.requests.size() < 600) {
    begin += random.exponential(mean_gap_seconds);
    const uint32_t variant = draw(random);
    double at = begin;
    do {
      planning::traced_arrival x;
      x.seconds = at;
      x.variant = variant;
      x.images = images[random.below(std::size(images))];
      out.requests.push_back(x);
      at += random.exponential(15);
    } while (random.uniform() < 0.75);
  }
  std::stable_sort(
    out.requests.begin(), out.requests.end(),
    [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(farm_test)

BOOST_AUTO_TEST_CASE(hosting_by_demand_loses_no_more_than_rules_without_it) {
  for (const uint64_t seed : {1u, 2u})
    for (const uint32_t resident : {1u, 2u, 4u})
      for (const double gap : {60.0, 120.0}) {
        const auto x = made(seed, resident, gap);
        const auto first = bench::earliest_finish(x);
        const auto second = bench::affinity(x);
        const auto ours = bench::simulated(x, "atelier");
        BOOST_REQUIRE_MESSAGE(ours, (ours ? "" : ours.why().text));
        const auto where =
          "seed " + std::to_string(seed) + ", " + std::to_string(resident)
          + " held, a session every " + std::to_string(gap) + " s: lost "
          + std::to_string(ours->lost) + ", " + std::to_string(first.lost)
          + ", " + std::to_string(second.lost) + "; mean "
          + std::to_string(ours->mean_seconds) + ", "
          + std::to_string(first.mean_seconds) + ", "
          + std::to_string(second.mean_seconds);
        BOOST_TEST_MESSAGE(where);
        BOOST_TEST(ours->lost_percent()
                     <= std::min(first.lost_percent(), second.lost_percent())
                          + 0.1,
                   where);
        BOOST_TEST(ours->mean_seconds
                     <= 1.02
                          * std::min(first.mean_seconds, second.mean_seconds),
                   where);
      }
}

BOOST_AUTO_TEST_SUITE_END()
