// SPDX-License-Identifier: Apache-2.0
#include <atelier/simulation/report.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace {

using namespace atelier::runtime;

outcome sample(std::string policy) {
  outcome x;
  x.policy = std::move(policy);
  x.variants = {"light@1", "heavy@50"};
  x.requests = 100;
  x.images = x.completed = 90;
  x.dropped = 10;
  x.late = 5;
  x.fid = 18.5;
  for (int k = 0; k < 4; ++k) {
    interval i;
    i.begin_seconds = 5.0 * k;
    i.arrived = 25;
    i.in_time = 20;
    i.late = 2;
    i.dropped = 3;
    i.answered_here = 22;
    i.images = 22;
    i.quality_sum = 20;
    i.workers = {4, 12, 0};
    i.threshold = 0.1 * k;
    x.series.push_back(i);
  }
  return x;
}

size_t count(const std::string& in, const std::string& what) {
  size_t n = 0;
  for (size_t at = in.find(what); at != std::string::npos;
       at = in.find(what, at + 1))
    ++n;
  return n;
}

} // namespace

BOOST_AUTO_TEST_SUITE(report)

BOOST_AUTO_TEST_CASE(tables_json_and_csv_hold_every_policy) {
  const std::vector<outcome> all{sample("a"), sample("longer-name")};
  const auto table = to_table(all);
  BOOST_TEST(count(table, "\n") == 3u);
  BOOST_TEST(table.find("longer-name") != std::string::npos);
  BOOST_TEST(table.find("15.00") != std::string::npos);
  const auto json = to_json(all[0]);
  for (const char* key :
       {"\"policy\":\"a\"", "\"violations\":15", "\"violation_ratio\":0.15",
        "\"latency_ms\"", "\"cache\"", "\"plan_ms\"", "\"route_us\"",
        "\"events\"", "\"fid\":18.5"})
    BOOST_TEST(json.find(key) != std::string::npos, key);
  BOOST_TEST(count(json, "\n") == 0u);
  // The file has a head, and a line for each policy, interval and variant.
  BOOST_TEST(count(to_csv(all), "\n") == 1u + 2 * 4 * 3);
}

BOOST_AUTO_TEST_CASE(a_page_has_every_plot_and_needs_nothing_else) {
  const std::vector<outcome> all{sample("a"), sample("b")};
  const auto page = to_html(all, "trace & policies");
  // The plots are demand, throughput, violations, quality, light share,
  // threshold, and the workers of both.
  BOOST_TEST(count(page, "<svg") == 8u);
  BOOST_TEST(page.find("trace &amp; policies") != std::string::npos);
  BOOST_TEST(page.find("src=") == std::string::npos);
  BOOST_TEST(page.find("href=") == std::string::npos);
  BOOST_TEST(to_html({}, "none").find("No policy was simulated")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_page_explains_each_column_of_its_table) {
  const auto page = to_html(std::vector{sample("a")}, "t");
  for (const char* head :
       {"policy", "violations %", "FID", "light %", "busy %", "loads"}) {
    BOOST_TEST(page.find(fmt::format("<th>{}</th>", head)) != std::string::npos,
               head);
    BOOST_TEST(page.find(fmt::format("<dt>{}</dt><dd>", head))
                 != std::string::npos,
               head);
  }
  BOOST_TEST(count(page, "<dt>") == count(page, "<th>"));
  BOOST_TEST(page.find("<dd></dd>") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_page_says_what_a_plan_cannot_do) {
  auto x = sample("a");
  x.infeasible = "no device hosts <heavy>";
  BOOST_TEST(
    to_html(std::vector{x}, "t").find("a: no device hosts &lt;heavy&gt;")
    != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_plot_without_values_says_so) {
  auto x = sample("a");
  for (auto& i : x.series)
    i.workers.clear();
  const auto page = to_html(std::vector{x}, "t");
  // All plots but those of the workers are present.
  BOOST_TEST(count(page, "<svg") == 6u);
  BOOST_TEST(count(page, "There are no values.") == 1u);
}

BOOST_AUTO_TEST_CASE(quality_that_no_profile_knows_is_a_dash) {
  auto with = sample("one");
  auto without = sample("two");
  with.quality_mean = without.quality_mean = 0.875;
  without.rated = false;
  BOOST_TEST(to_table(std::vector{with}).find("0.8750") != std::string::npos);
  const auto table = to_table(std::vector{without});
  BOOST_TEST(table.find("0.8750") == std::string::npos);
  BOOST_TEST(table.find("  -  ") != std::string::npos, table);
  BOOST_TEST(to_json(with).find("\"quality_mean\":0.875") != std::string::npos);
  BOOST_TEST(to_json(without).find("\"quality_mean\":null")
             != std::string::npos);
  BOOST_TEST(to_csv(std::vector{with}).find(",22,20.000000,0,")
             != std::string::npos);
  BOOST_TEST(to_csv(std::vector{without}).find(",22,,0,") != std::string::npos);
  BOOST_TEST(to_html(std::vector{with}, "t").find("Quality of the answers")
             != std::string::npos);
  BOOST_TEST(to_html(std::vector{without}, "t").find("Quality of the answers")
             == std::string::npos);
}

BOOST_AUTO_TEST_CASE(energy_is_told_where_it_is_known) {
  auto with = sample("one");
  const auto without = sample("two");
  BOOST_TEST(to_json(with).find("energy") == std::string::npos);
  BOOST_TEST(to_table(std::vector{with, without}).find("kWh")
             == std::string::npos);
  with.joules = 7.2e6;
  with.idle_joules = 1.8e6;
  const auto json = to_json(with);
  for (const char* part :
       {"\"kwh\":2.0", "\"idle_kwh\":0.5", "\"joules_per_image\":80000.0"})
    BOOST_TEST(json.find(part) != std::string::npos, part << " in " << json);
  const auto table = to_table(std::vector{with, without});
  for (const char* part : {"kWh", "J/image", "8e+04", " 2 "})
    BOOST_TEST(table.find(part) != std::string::npos, part << " in " << table);
  const auto page = to_html(std::vector{with, without}, "t");
  BOOST_TEST(page.find("<th>kWh</th>") != std::string::npos);
  // Only one of them has the value.
  BOOST_TEST(page.find("<td>-</td>") != std::string::npos);
  with.completed = with.images = 0;
  BOOST_TEST(to_json(with).find("joules_per_image") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
