// SPDX-License-Identifier: Apache-2.0
#include "farm.hpp"
#include "simulation/ran.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/planning/demand/workload.hpp>
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace atelier;

constexpr uint32_t models = 30;

/// Returns sessions of several requests for one model. The k-th model is
/// requested 1/k as often as the first. The load has bursts like that of a real
/// service.
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

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Draws a variant for each request, as `simulate --mix
/// variant=NAME:WEIGHT,...` does.
void draw_variants(std::string_view mix, runtime::scenario& x) {
  constexpr std::string_view begin = "variant=";
  BOOST_TEST_REQUIRE(mix.starts_with(begin));
  std::istringstream parts{std::string{mix.substr(begin.size())}};
  std::vector<std::pair<uint32_t, double>> all;
  double weights = 0;
  for (std::string part; std::getline(parts, part, ',');) {
    const auto colon = part.find(':');
    const auto v = planning::find_variant(*x.profile, part.substr(0, colon));
    BOOST_REQUIRE_MESSAGE(v.has_value(), part);
    all.emplace_back(v->value, std::stod(part.substr(colon + 1)));
    weights += all.back().second;
  }
  core::philox random{x.seed, core::purpose::test};
  for (auto& r : x.trace) {
    double left = weights * random.uniform();
    size_t at = 0;
    while (at + 1 < all.size() && left >= all[at].second)
      left -= all[at++].second;
    r.variant = all[at].first;
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(farm_test)

BOOST_AUTO_TEST_CASE(a_real_services_day_is_answered) {
  const char* const root = std::getenv("ATELIER_REFERENCE_DATA");
  const auto folder =
    std::filesystem::path{root != nullptr ? root : ""} / "planning";
  if (!std::filesystem::exists(folder / "farm.json")) {
    BOOST_TEST_MESSAGE("skipped: ATELIER_REFERENCE_DATA has no planning/farm");
    BOOST_TEST(true);
    return;
  }
  runtime::scenario x;
  const auto known =
    planning::parse_profile(text_of(folder / "farm.json"), "farm.json");
  BOOST_REQUIRE_MESSAGE(known, (known ? "" : known.why().text));
  x.profile = std::make_shared<const planning::profile>(*known);
  const auto day =
    planning::parse_trace(text_of(folder / "farm.csv"), "farm.csv");
  BOOST_REQUIRE_MESSAGE(day, (day ? "" : day.why().text));
  x.trace = day->arrivals;
  draw_variants(text_of(folder / "farm.mix"), x);
  x.policy = *planning::make_policy("atelier");
  x.workers = 8;
  x.max_batch = 8;
  x.deadline = std::chrono::seconds{120};
  x.window = std::chrono::seconds{10};
  x.period = std::chrono::seconds{30};
  x.noise = 0.02;
  const auto out = test::ran(x);
  BOOST_TEST(out.requests > 1000u);
  const auto lost = static_cast<double>(out.violations());
  BOOST_TEST(lost <= 0.002 * static_cast<double>(out.requests),
             lost << " of " << out.requests << " lost, " << out.loads
                  << " loads");
}

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
