// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/demand/workload.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>
#include <string>

using namespace atelier;
using namespace atelier::planning;

namespace {

constexpr load_kind kinds[] = {load_kind::steady, load_kind::diurnal,
                               load_kind::bursty, load_kind::ramp,
                               load_kind::production};

load_spec of(load_kind kind, double seconds = 3600) {
  load_spec s;
  s.kind = kind;
  s.seconds = seconds;
  s.low = 2;
  s.high = 10;
  return s;
}

double mean(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0)
       / static_cast<double>(x.size());
}

} // namespace

BOOST_AUTO_TEST_SUITE(workload_test)

BOOST_AUTO_TEST_CASE(names_are_read_back) {
  for (const load_kind k : kinds)
    BOOST_TEST((*parse_load_kind(to_string(k)) == k));
  const auto bad = parse_load_kind("twitter");
  BOOST_REQUIRE(!bad);
  BOOST_TEST(bad.why().text.find("diurnal") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(rates_stay_between_low_and_high) {
  for (const load_kind k : kinds) {
    const auto r = rates(of(k, 86'400));
    BOOST_REQUIRE(static_cast<bool>(r));
    BOOST_TEST(r->size() == 86'400u);
    const auto [low, high] = std::minmax_element(r->begin(), r->end());
    BOOST_TEST((*low >= 2 && *high <= 10), to_string(k));
  }
}

BOOST_AUTO_TEST_CASE(each_kind_has_its_shape) {
  const auto ramp = *rates(of(load_kind::ramp));
  BOOST_TEST(ramp.front() == 2.0);
  BOOST_TEST(ramp.back() == 10.0);
  BOOST_TEST(std::is_sorted(ramp.begin(), ramp.end()));
  const auto bursts = *rates(of(load_kind::bursty));
  BOOST_TEST(bursts[0] == 2.0);
  BOOST_TEST(bursts[1199] == 2.0);
  BOOST_TEST(bursts[1200] == 10.0);
  BOOST_TEST(bursts[2400] == 2.0);
  const auto day = *rates(of(load_kind::diurnal, 86'400));
  BOOST_TEST(mean({day.begin() + 39'600, day.begin() + 46'800})
             > 2 * mean({day.begin(), day.begin() + 7'200}));
  // At least one spike exceeds the wave by more than the wave grows in a
  // second.
  double jump = 0;
  for (size_t i = 1; i < day.size(); ++i)
    jump = std::max(jump, day[i] - day[i - 1]);
  BOOST_TEST(jump > 0.5);
  const auto minutes = *rates(of(load_kind::production, 86'400));
  size_t changes = 0;
  for (size_t i = 60; i < minutes.size(); i += 60)
    changes += std::abs(minutes[i] - minutes[i - 60]) > 0.1 ? 1u : 0u;
  BOOST_TEST(changes > 700u);
}

BOOST_AUTO_TEST_CASE(arrivals_are_poisson_of_the_rates) {
  for (size_t i = 0; i < test::scaled(500); ++i)
    for (const load_kind k : kinds) {
      auto s = of(k, 2000);
      s.seed = test::seed() + i;
      const auto at = arrivals(s);
      BOOST_REQUIRE(static_cast<bool>(at));
      BOOST_REQUIRE(std::is_sorted(at->begin(), at->end()));
      BOOST_REQUIRE((at->front() >= 0 && at->back() < s.seconds));
      const auto r = *rates(s);
      const double expected = std::accumulate(r.begin(), r.end(), 0.0);
      const double off = static_cast<double>(at->size()) - expected;
      BOOST_REQUIRE_MESSAGE(std::abs(off) < 6 * std::sqrt(expected),
                            to_string(k) << ": " << off);
      // Counts of ten seconds vary as Poisson counts do.
      double chi = 0;
      std::vector<double> counts(200, 0.0);
      for (const double x : *at)
        ++counts[static_cast<size_t>(x / 10)];
      for (size_t n = 0; n < counts.size(); ++n) {
        const auto from = r.begin() + static_cast<std::ptrdiff_t>(10 * n);
        const double here = std::accumulate(from, from + 10, 0.0);
        chi += (counts[n] - here) * (counts[n] - here) / here;
      }
      BOOST_REQUIRE_MESSAGE(std::abs(chi - 200) < 6 * 20, to_string(k)
                                                            << ": " << chi);
    }
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_requests) {
  for (const load_kind k : kinds) {
    auto s = of(k);
    const auto first = *arrivals(s);
    BOOST_TEST((*arrivals(s) == first));
    s.seed = 2;
    BOOST_TEST((*arrivals(s) != first));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_load_is_refused) {
  const auto refused = [](auto change) {
    auto s = of(load_kind::steady);
    change(s);
    BOOST_TEST(!rates(s));
    BOOST_TEST(!arrivals(s));
  };
  refused([](load_spec& s) { s.seconds = -1; });
  refused([](load_spec& s) { s.seconds = std::nan(""); });
  refused([](load_spec& s) { s.low = -1; });
  refused([](load_spec& s) { s.low = 11; });
  refused([](load_spec& s) { s.high = std::nan(""); });
  refused([](load_spec& s) { s.period = -1; });
  auto many = of(load_kind::steady);
  many.high = 1e6;
  BOOST_TEST((arrivals(many).why().code == core::ec::out_of_resources));
  auto none = of(load_kind::steady);
  none.low = none.high = 0;
  BOOST_TEST(arrivals(none)->empty());
  none.seconds = 0;
  BOOST_TEST(rates(none)->empty());
}

BOOST_AUTO_TEST_CASE(masks_have_the_published_means) {
  for (const auto& [b, wanted] :
       {std::pair{7.28, 0.11}, std::pair{3.84, 0.19}}) {
    auto random = test::random_of(1);
    double sum = 0;
    double squares = 0;
    constexpr size_t n = 50'000;
    for (size_t i = 0; i < n; ++i) {
      const double x = masked_share(random, b);
      BOOST_REQUIRE((x >= 0 && x <= 1));
      sum += x;
      squares += x * x;
    }
    const double m = sum / n;
    BOOST_TEST(std::abs(m - wanted) < 0.003, b);
    // This is the variance of a beta distribution.
    const double variance = 0.9 * b / ((0.9 + b) * (0.9 + b) * (1.9 + b));
    BOOST_TEST(std::abs(squares / n - m * m - variance) < 0.05 * variance, b);
  }
}

BOOST_AUTO_TEST_CASE(shares_have_the_mean_and_spread_that_are_asked_for) {
  for (const auto& [mean, spread] :
       {std::pair{0.11, 0.1033}, std::pair{0.5, 0.02}, std::pair{0.3, 0.4}}) {
    auto random = test::random_of(3);
    double sum = 0;
    double squares = 0;
    constexpr size_t n = 20'000;
    for (size_t i = 0; i < n; ++i) {
      const double x = beta_share(random, mean, spread);
      BOOST_REQUIRE((x >= 0 && x <= 1));
      sum += x;
      squares += x * x;
    }
    const double m = sum / n;
    // The bound is six standard errors of the mean. The error of the spread is
    // at most 1 % (a kurtosis below 9).
    BOOST_TEST(std::abs(m - mean) < 6 * spread / std::sqrt(double{n}), mean);
    BOOST_TEST(
      std::abs(std::sqrt(squares / n - m * m) - spread) < 0.06 * spread, mean);
  }
  auto random = test::random_of(4);
  BOOST_TEST(beta_share(random, 0.25, 0) == 0.25);
}

BOOST_AUTO_TEST_CASE(templates_are_used_by_rank) {
  const zipf draw{970};
  std::vector<double> counts(970, 0.0);
  auto random = test::random_of(2);
  for (size_t i = 0; i < 100'000; ++i)
    ++counts[draw(random)];
  BOOST_TEST(std::abs(counts[0] / counts[1] - 2) < 0.2);
  BOOST_TEST(std::abs(counts[0] / counts[9] - 10) < 2.0);
}

BOOST_AUTO_TEST_SUITE_END()
