// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/demand_file.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>

using namespace atelier;
using planning::parse_demand;

namespace {

bool says(const core::error& why, const std::string& part) {
  return why.text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(demand_file_test)

BOOST_AUTO_TEST_CASE(a_rate_is_a_demand) {
  const auto d = planning::demand_of_rate(0.25);
  BOOST_TEST(std::abs(planning::arrival_rate(d.windows, 0.3) - 0.25) < 1e-9);
  BOOST_TEST(planning::arrival_rate(planning::demand_of_rate(0).windows, 0.3)
             == 0.0);
  // The rates may be very small or uneven.
  for (const double qps : {1e-6, 0.0004, 1.0 / 3, 1.0406, 20.0, 123'456.789}) {
    const auto x = planning::demand_of_rate(qps);
    BOOST_TEST(planning::arrival_rate(x.windows, 0.3) == qps,
               boost::test_tools::tolerance(1e-9));
    BOOST_TEST(planning::recent_rate(x.windows).rate == qps,
               boost::test_tools::tolerance(1e-9));
  }
}

BOOST_AUTO_TEST_CASE(windows_follow_each_other) {
  const auto d = parse_demand(
    R"({"format": "atelier.demand", "version": 1, "backlog": 7,
        "waiting": [1, 2], "windows": [
          {"seconds": 10, "arrived": 5, "predicted": {"1": [3, 4]},
           "predictions": {"right_hits": 1, "false_hits": 2, "missed_hits": 3,
                           "right_misses": 4, "checked": 5},
           "skips": {"25": 1}, "allowed": {"25": 2, "0": 3}},
          {"seconds": 0.5, "arrived": 0, "late": 2, "confidences": [9],
           "extra_work": [-0.5, 2], "extra_pixels": [3]}]})",
    "d.json");
  BOOST_REQUIRE(d);
  BOOST_TEST(d->backlog == 7u);
  BOOST_TEST((d->waiting == std::vector<uint64_t>{1, 2}));
  BOOST_REQUIRE(d->windows.size() == 2u);
  BOOST_TEST((d->windows[1].begin
              == core::after(d->windows[0].begin, d->windows[0].length)));
  BOOST_TEST(
    (d->now == core::after(d->windows[1].begin, d->windows[1].length)));
  BOOST_TEST((d->windows[0].predicted
              == std::vector<std::vector<uint64_t>>{{}, {3, 4}}));
  BOOST_TEST(
    (d->windows[0].predictions == planning::prediction_tally{1, 2, 3, 4, 5}));
  using by_steps = std::vector<std::pair<uint32_t, uint64_t>>;
  BOOST_TEST((d->windows[0].skips == by_steps{{25, 1}}));
  BOOST_TEST((d->windows[0].allowed == by_steps{{0, 3}, {25, 2}}));
  BOOST_TEST(d->windows[1].late == 2u);
  BOOST_TEST((d->windows[1].extra_work == std::vector{-0.5, 2.0}));
  BOOST_TEST((d->windows[1].extra_pixels == std::vector{3.0}));
}

BOOST_AUTO_TEST_CASE(every_fault_is_told_with_its_place) {
  const auto d = parse_demand(
    R"({"format": "atelier.profile", "version": 3, "backlog": -1, "more": 1,
        "windows": [{"seconds": 0, "arrived": 1.5, "predicted": {"x": []}},
                    {"arrived": null, "confidences": [1, -2],
                     "skips": {"-1": 2, "5": "x"}, "allowed": [1],
                     "predictions": {"right_hits": -1, "odd": 2},
                     "extra_work": [0, 1e300]}, 3]})",
    "d.json");
  BOOST_REQUIRE(!d);
  BOOST_TEST((d.why().code == core::ec::bad_payload));
  for (const char* part :
       {"d.json: demand.format", "demand.version: 3", "demand.backlog: -1",
        "demand.more", "windows[0].seconds", "windows[0].arrived: 1.5",
        "windows[0].predicted.x", "windows[1].seconds: is missing",
        "windows[1].arrived: null", "windows[1].confidences[1]: -2",
        "windows[1].skips.-1", "windows[1].skips.5: \"x\"",
        "windows[1].allowed: is not an object", "windows[1].extra_work[1]",
        "windows[1].predictions.right_hits: -1",
        "windows[1].predictions.checked: is missing",
        "windows[1].predictions.odd", "windows[2]: is not an object"})
    BOOST_TEST(says(d.why(), part), part);
}

BOOST_AUTO_TEST_CASE(what_is_no_document_is_told) {
  for (const char* text :
       {"", "[", "[]", "3", "{\"format\": \"atelier.demand\"}",
        "{\"format\": \"atelier.demand\", \"version\": 1, \"windows\": []}"})
    BOOST_TEST(!parse_demand(text, "d.json"), text);
  BOOST_TEST(
    says(parse_demand(std::string(1000, '['), "d.json").why(), "nested"));
}

BOOST_AUTO_TEST_SUITE_END()
