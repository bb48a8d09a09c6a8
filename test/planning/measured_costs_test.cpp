// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/measured_costs.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

namespace {

constexpr core::variant_id first{0};
constexpr core::variant_id second{1};

} // namespace

BOOST_AUTO_TEST_SUITE(measured_costs_test)

BOOST_AUTO_TEST_CASE(a_few_runs_are_news_and_a_burst_is_none) {
  measured_costs x{2};
  BOOST_TEST(!x.news());
  for (int i = 0; i < 4; ++i)
    x.ran(first, "cpu", 1, 100ms, 300ms);
  BOOST_TEST(!x.news());
  x.ran(first, "cpu", 1, 100ms, 300ms);
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  BOOST_TEST_REQUIRE(told->size() == 1u);
  BOOST_TEST(told->front().kind.empty());
  BOOST_TEST_REQUIRE(told->front().costs.size() == 2u);
  BOOST_TEST(std::abs(told->front().costs[0].pace - 3) < 1e-9);
  BOOST_TEST(told->front().costs[1].pace == 0);
  BOOST_TEST(!x.news());
  // The burst of a neighbour is shorter than half of the kept measurements.
  for (int i = 0; i < 2; ++i)
    x.ran(first, "cpu", 1, 100ms, 3s);
  BOOST_TEST(!x.news());
  for (int i = 0; i < 15; ++i)
    x.ran(first, "cpu", 1, 100ms, 330ms);
  BOOST_TEST(!x.news());
  for (int i = 0; i < 15; ++i)
    x.ran(first, "cpu", 1, 100ms, 3s);
  const auto slow = x.news();
  BOOST_TEST_REQUIRE(slow.has_value());
  BOOST_TEST(std::abs(slow->front().costs[0].pace - 30) < 1e-9);
}

BOOST_AUTO_TEST_CASE(texts_that_were_encoded_before_are_no_news) {
  measured_costs x{1};
  const auto told = [&](core::timespan text, core::timespan decode) {
    for (int i = 0; i < 15; ++i)
      x.ended(first, "cpu", text, decode);
    return x.news().has_value();
  };
  BOOST_TEST(told(4ms, 150ms));
  BOOST_TEST(!told(100us, 150ms));
  BOOST_TEST(!told(4ms, 160ms));
  BOOST_TEST(told(4ms, 250ms));
  BOOST_TEST(told(80ms, 250ms));
}

BOOST_AUTO_TEST_CASE(sources_have_a_cost_of_their_own) {
  const auto known = test::three_variants();
  measured_costs x{known.variants.size()};
  for (int i = 0; i < 9; ++i) {
    x.ended(first, "cpu", 4ms, 150ms);
    x.ended(first, "cpu", 4ms, 150ms, 90ms);
  }
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  const auto now = with_costs(known, *told);
  BOOST_TEST((now.variants[0].text == 4ms));
  BOOST_TEST((now.variants[0].encode == 90ms));
  BOOST_TEST((now.variants[1].encode == known.variants[1].encode));
  for (int i = 0; i < 15; ++i)
    x.ended(first, "cpu", 4ms, 150ms, 200ms);
  BOOST_TEST(x.news().has_value());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_compared_is_left_out) {
  measured_costs x{1};
  for (int i = 0; i < 9; ++i) {
    x.ran(first, "cpu", 1, 0ms, 300ms);
    x.ran(first, "cpu", 1, 100ms, 0ms);
  }
  BOOST_TEST(!x.news());
}

BOOST_AUTO_TEST_CASE(a_profile_takes_over_what_was_measured_and_no_more) {
  const auto known = test::three_variants();
  measured_costs x{known.variants.size()};
  for (int i = 0; i < 5; ++i) {
    x.ran(second, "cpu", 1, 100ms, 250ms);
    x.ended(second, "cpu", 40ms, 70ms);
  }
  x.loaded(first, "cpu", 8s);
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  auto guessed = known;
  guessed.variants[0].guessed = guessed.variants[1].guessed = true;
  const auto now = with_costs(guessed, *told);
  for (size_t i = 0; i < known.variants[1].step.size(); ++i)
    BOOST_TEST(
      std::abs(core::to_seconds(now.variants[1].step[i].took)
               - 2.5 * core::to_seconds(known.variants[1].step[i].took))
      < 1e-6);
  BOOST_TEST((now.variants[1].text == 40ms));
  BOOST_TEST((now.variants[1].decode == 70ms));
  BOOST_TEST(!now.variants[1].guessed);
  // Only the load of the first variant is known.
  BOOST_TEST(now.variants[0].guessed);
  BOOST_TEST((now.variants[0].step == known.variants[0].step));
  BOOST_TEST((now.variants[0].load == 8s));
  BOOST_TEST((now.variants[2] == known.variants[2]));
}

// The steps of two rows were profiled while something else ran, say.
BOOST_AUTO_TEST_CASE(each_batch_has_its_own_pace) {
  auto known = test::three_variants();
  known.variants[0].step = {{1, 64 * 64, 10ms},
                            {2, 64 * 64, 30ms},
                            {4, 64 * 64, 30ms},
                            {8, 64 * 64, 50ms}};
  measured_costs x{known.variants.size(), measured_by_batch(known)};
  for (int i = 0; i < 9; ++i)
    x.ran(first, "cpu", 1, 10ms, 10ms);
  for (int i = 0; i < 5; ++i)
    x.ran(first, "cpu", 2, 30ms, 15ms);
  // Three rows count with four, and too few runs are of no batch.
  for (int i = 0; i < 4; ++i)
    x.ran(first, "cpu", 3, 30ms, 21ms);
  const auto took = [&](const std::vector<kind_costs>& told) {
    std::vector<double> out;
    const auto now = with_costs(known, told);
    for (const auto& s : now.variants[0].step)
      out.push_back(1'000 * core::to_seconds(s.took));
    return out;
  };
  const auto is_near = [](const std::vector<double>& a,
                          const std::vector<double>& b) {
    return std::ranges::equal(
      a, b, [](double i, double k) { return std::abs(i - k) < 1e-6; });
  };
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  // Other batches have the middle one of the measured paces.
  BOOST_TEST(is_near(took(*told), {10, 15, 30, 50}));
  x.ran(first, "cpu", 3, 30ms, 21ms);
  const auto more = x.news();
  BOOST_TEST_REQUIRE(more.has_value());
  BOOST_TEST(is_near(took(*more), {10, 15, 21, 35}));
  // The batches that run change, their paces do not.
  for (int i = 0; i < 20; ++i) {
    x.ran(first, "cpu", 2, 30ms, 15ms);
    BOOST_TEST(!x.news());
  }
}

// A profile with steps of one batch predicts those of others by their size.
BOOST_AUTO_TEST_CASE(steps_of_a_single_batch_have_one_pace) {
  auto known = test::three_variants();
  known.variants[0].step = {{1, 64 * 64, 10ms}};
  known.variants[1].step = {{1, 64 * 64, 10ms}, {1, 128 * 128, 30ms}};
  known.variants[2].step = {{1, 64 * 64, 10ms}, {2, 64 * 64, 15ms}};
  BOOST_TEST(
    (measured_by_batch(known) == std::vector<bool>{false, false, true}));
  measured_costs x{known.variants.size(), measured_by_batch(known)};
  for (int i = 0; i < 5; ++i)
    x.ran(first, "cpu", 1, 10ms, 10ms);
  for (int i = 0; i < 15; ++i)
    x.ran(first, "cpu", 8, 80ms, 32ms);
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  BOOST_TEST((with_costs(known, *told).variants[0].step[0].took == 4ms));
  // A kind of device with a single one counts, too.
  known.kinds.push_back({"slow", {{}, {}, known.variants[0]}, 0, {}, {}});
  BOOST_TEST((measured_by_batch(known) == std::vector<bool>(3, false)));
}

BOOST_AUTO_TEST_CASE(a_measured_distribution_of_loads_stays) {
  auto known = test::three_variants();
  known.variants[0].loads = load_times{20s, 40s, 50s};
  known.variants[0].load = 25s;
  variant_cost c;
  c.load = 8s;
  const auto now = with_costs(known, std::vector{kind_costs{{}, {c}}});
  BOOST_TEST((now.variants[0].load == 25s));
  BOOST_TEST((now.variants[0].loads == known.variants[0].loads));
}

BOOST_AUTO_TEST_CASE(what_two_kinds_of_device_take_is_kept_apart) {
  measured_costs x{2};
  for (int i = 0; i < 5; ++i) {
    x.ran(first, "quick", 1, 100ms, 100ms);
    x.ran(first, "slow", 1, 100ms, 400ms);
  }
  x.loaded(second, "slow", 8s);
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  BOOST_TEST_REQUIRE(told->size() == 3u);
  BOOST_TEST(told->at(0).kind.empty());
  BOOST_TEST(told->at(1).kind == "quick");
  BOOST_TEST(told->at(2).kind == "slow");
  BOOST_TEST(std::abs(told->at(1).costs[0].pace - 1) < 1e-9);
  BOOST_TEST(std::abs(told->at(2).costs[0].pace - 4) < 1e-9);
  BOOST_TEST((told->at(1).costs[1].load == 0s));
  BOOST_TEST((told->at(2).costs[1].load == 8s));
  // The times of both kinds alternate, which is not a change.
  for (int i = 0; i < 20; ++i)
    x.ran(first, "quick", 1, 100ms, 100ms);
  BOOST_TEST(!x.news());
}

BOOST_AUTO_TEST_CASE(a_kind_that_the_profile_lacks_is_listed_once_it_is_known) {
  const auto known = test::three_variants();
  std::vector<kind_costs> told(3);
  told[0].costs.resize(3);
  told[0].costs[0].pace = 2;
  told[1] = {"quick", std::vector<variant_cost>(3)};
  told[2] = {"slow", std::vector<variant_cost>(3)};
  told[2].costs[0].pace = 4;
  told[2].costs[0].load = 9s;
  const auto now = with_costs(known, told);
  const auto took = [&](std::string_view kind, uint32_t v) {
    return on_kind(now, core::variant_id{v}, kind).step.front().took;
  };
  BOOST_TEST_REQUIRE(now.kinds.size() == 1u);
  BOOST_TEST((took("slow", 0) == 40ms));
  BOOST_TEST((load_on(now, first, "slow") == 9s));
  // Costs that were not measured there are those of the profile, and are not
  // more of a guess than before.
  BOOST_TEST((took("slow", 1) == 10ms));
  BOOST_TEST(!guessed_on(now, second, "slow"));
  // Nothing was measured on the quick devices by themselves.
  BOOST_TEST((took("quick", 0) == 20ms));
}

BOOST_AUTO_TEST_CASE(a_listed_kind_takes_over_what_was_measured_on_it) {
  auto known = test::three_variants();
  running_costs own = known.variants[0];
  own.step.front().took = 50ms;
  own.guessed = true;
  known.kinds.push_back({"slow", {own}, 0, {}, {}});
  std::vector<kind_costs> told{{{}, std::vector<variant_cost>(3)},
                               {"slow", std::vector<variant_cost>(3)}};
  told[0].costs[0].pace = 3;
  told[1].costs[0].pace = 2;
  const auto now = with_costs(known, told);
  const auto v = on_kind(now, first, "slow");
  BOOST_TEST((v.step.front().took == 100ms));
  BOOST_TEST(!v.guessed);
  // No measurement of other variants exists there, so the profile's value is a
  // guess.
  BOOST_TEST(guessed_on(now, second, "slow"));
  BOOST_TEST((now.variants[0].step.front().took == 30ms));
}

BOOST_AUTO_TEST_SUITE_END()
