// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/comparison.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::runtime;
using namespace atelier::runtime::detail;

namespace {

comparison by_quality(fared ours, fared theirs, missed where = {}) {
  return compare(ours, theirs, quality_figure::quality, where);
}

outcome run_of(std::vector<std::pair<uint64_t, uint64_t>> arrived_and_bad) {
  outcome out;
  for (const auto& [arrived, bad] : arrived_and_bad) {
    interval i;
    i.arrived = arrived;
    i.late = bad / 2;
    i.dropped = bad - bad / 2;
    out.series.push_back(i);
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(comparison_test)

BOOST_AUTO_TEST_CASE(better_in_one_and_worse_in_none_passes) {
  for (const auto& [ours, theirs] :
       {std::pair{fared{0.01, 0.9}, fared{0.02, 0.9}},
        std::pair{fared{0.01, 0.9}, fared{0.01, 0.8}},
        std::pair{fared{0.01, 0.9}, fared{0.02, 0.8}}}) {
    BOOST_TEST(by_quality(ours, theirs).passes);
    BOOST_TEST(by_quality(ours, theirs).reason.empty());
    BOOST_TEST(!by_quality(theirs, ours).passes);
    BOOST_TEST(!by_quality(theirs, ours).reason.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_smaller_distance_is_better) {
  BOOST_TEST(compare({0, 17}, {0, 18}, quality_figure::fid).passes);
  const auto other = compare({0, 18}, {0, 17}, quality_figure::fid);
  BOOST_TEST(!other.passes);
  BOOST_TEST(other.reason == "FID 1.00 higher at the same violations");
}

BOOST_AUTO_TEST_CASE(trades_are_told_with_both_numbers) {
  BOOST_TEST(by_quality({0.01, 0.85}, {0.05, 0.875}).reason
             == "a trade: theirs has quality 0.0250 higher for 4.00 points "
                "more violations");
  BOOST_TEST(by_quality({0.0025, 0.98}, {0, 0.8}).reason
             == "a trade: ours has quality 0.1800 higher for 0.25 points more "
                "violations");
  BOOST_TEST(compare({0, 27}, {0.5, 23}, quality_figure::fid).reason
             == "a trade: theirs has FID 4.00 lower for 50.00 points more "
                "violations");
}

BOOST_AUTO_TEST_CASE(worse_ones_say_where_requests_are_missed) {
  const missed where{2, 120, 1.5};
  BOOST_TEST(by_quality({0.003, 0.95}, {0, 0.96}, where).reason
             == "worse in both: 0.30 points more violations, quality 0.0100 "
                "lower; nine tenths of ours fall in 2 of 120 intervals, with "
                "1.50 times the arrivals of the others");
  BOOST_TEST(by_quality({0.003, 1}, {0.001, 1}).reason
             == "0.20 points more violations at the same quality");
  // The policy with fewer violations has nothing to explain there.
  BOOST_TEST(by_quality({0.01, 0.9}, {0.02, 0.95}, where).reason.find("fall in")
             == std::string::npos);
}

BOOST_AUTO_TEST_CASE(means_of_runs_are_compared) {
  outcome good;
  good.requests = 100;
  good.late = 2;
  good.quality_mean = 0.9;
  outcome better = good;
  better.late = 0;
  const named_run ours{"ours", {good, better}};
  const named_run theirs{"theirs", {good, good}};
  BOOST_TEST(compare({ours, theirs}, quality_figure::quality).passes);
  const auto other = compare({theirs, ours}, quality_figure::quality);
  BOOST_TEST(!other.passes);
  BOOST_TEST(other.reason == "1.00 points more violations at the same quality");
}

BOOST_AUTO_TEST_CASE(what_runs_did_is_told_with_their_figures) {
  auto crowded = run_of({{10, 0}, {30, 18}, {10, 0}});
  crowded.requests = 50;
  crowded.late = 9;
  crowded.dropped = 9;
  crowded.utilisation = 0.75;
  crowded.first_step_mean_ms = 500;
  crowded.latency_mean_ms = 2500;
  crowded.saved_steps = 0.25;
  auto idle = run_of({{10, 0}});
  idle.requests = 10;
  idle.loads = 3;
  const auto text =
    what_they_did({named_run{"idle", {idle}}, named_run{"crowded", {crowded}}});
  BOOST_TEST(text
             == "idle: busy 0 %, 0.00 of 0.00 s before the first step, 0.00 % "
                "late, 0.00 % dropped, 3 loads; crowded: busy 75 %, 0.50 of "
                "2.50 s before the first step, 18.00 % late, 18.00 % dropped, "
                "25.0 % of the steps saved; nine tenths of what crowded misses "
                "fall in 1 of 3 intervals, with 3.00 times the arrivals of the "
                "others");
}

BOOST_AUTO_TEST_CASE(what_the_table_does_not_show_is_called_so) {
  BOOST_TEST(by_quality({0.00001, 1}, {0, 1}).reason
             == "under 0.01 points more violations at the same quality");
  // A difference from another order of summation counts as none.
  BOOST_TEST(by_quality({0, 1 - 1e-12}, {0, 1}).reason
             == "equal in both figures: neither misses a deadline");
  BOOST_TEST(by_quality({0.5, 1}, {0.5, 1}).reason == "equal in both figures");
}

BOOST_AUTO_TEST_CASE(misses_are_where_most_of_them_are) {
  const std::vector runs{run_of({{10, 0}, {30, 18}, {10, 0}, {0, 0}}),
                         run_of({{10, 1}, {10, 1}, {10, 0}})};
  const auto found = where_missed(runs);
  // 18 of the 20 are in one of six intervals with arrivals.
  BOOST_TEST(found.intervals == 1u);
  BOOST_TEST(found.of == 6u);
  BOOST_TEST(found.crowded == 3.0);
}

BOOST_AUTO_TEST_CASE(nothing_missed_is_nowhere) {
  const auto none = where_missed(std::vector{run_of({{10, 0}, {20, 0}})});
  BOOST_TEST(none.intervals == 0u);
  BOOST_TEST(none.of == 2u);
  BOOST_TEST(where_missed({}).of == 0u);
  // If all intervals are bad, there are no others to compare with.
  const auto all = where_missed(std::vector{run_of({{10, 10}})});
  BOOST_TEST(all.intervals == 1u);
  BOOST_TEST(all.crowded == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
