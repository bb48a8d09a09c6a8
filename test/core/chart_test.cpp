// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/chart.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>

using namespace atelier::core;

namespace {

size_t count(const std::string& in, const std::string& what) {
  size_t n = 0;
  for (size_t at = in.find(what); at != std::string::npos;
       at = in.find(what, at + 1))
    ++n;
  return n;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(chart_test)

BOOST_AUTO_TEST_CASE(ticks_are_1_2_or_5_times_a_power_of_ten) {
  BOOST_TEST(tick_distance(10, 5) == 2.0);
  BOOST_TEST(tick_distance(350, 9) == 50.0);
  BOOST_TEST(tick_distance(0.07, 6) == 0.02);
  BOOST_TEST(tick_distance(0, 6) == 1.0);
  BOOST_TEST(tick_distance(1, 0) == 1.0);
}

BOOST_AUTO_TEST_CASE(a_chart_has_axes_units_and_a_legend) {
  chart c;
  c.title = "a < b";
  c.x_axis = "time (s)";
  c.y_axis = "share (%)";
  c.lines = {{"one", {{0, 1}, {10, 3}}, false}, {"two", {{0, 2}}, false}};
  const auto svg = to_svg(c);
  for (const char* part :
       {"a &lt; b", "time (s)", "share (%)", ">one<", ">two<"})
    BOOST_TEST(svg.find(part) != std::string::npos, part);
  BOOST_TEST(count(svg, "<polyline") == 2u);
  BOOST_TEST(svg.find("nan") == std::string::npos);
  BOOST_TEST(svg.find("inf") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(charts_of_nothing_and_of_one_value_are_drawn) {
  chart c;
  BOOST_TEST(to_svg(c).find("nan") == std::string::npos);
  c.lines = {{"flat", {{3, 0}, {3, 0}}, false}};
  BOOST_TEST(to_svg(c).find("nan") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(values_that_are_no_numbers_are_left_out) {
  chart c;
  c.lines = {{"a", {{1, 2}, {10, NAN}, {0, 1}, {INFINITY, 3}}, false}};
  c.dots = true;
  BOOST_TEST(count(to_svg(c), "<circle") == 2u);
  c.logarithmic = true;
  const auto svg = to_svg(c);
  // Zero has no logarithm.
  BOOST_TEST(count(svg, "<circle") == 1u);
  BOOST_TEST(!holds(svg, "nan"));
  BOOST_TEST(!holds(svg, "inf"));
  c.lines.clear();
  BOOST_TEST(!holds(to_svg(c), "nan"));
}

BOOST_AUTO_TEST_CASE(logarithmic_axes_have_round_ticks) {
  chart c;
  c.lines = {{"c", {{135, 1}, {493, 2}, {1181, 3}}, false}};
  c.logarithmic = true;
  const auto svg = to_svg(c);
  for (const auto* tick : {">200<", ">500<", ">1000<"})
    BOOST_TEST(holds(svg, tick), tick);
  BOOST_TEST(!holds(svg, ">2000<"));
}

BOOST_AUTO_TEST_CASE(colours_are_those_of_the_page) {
  chart c;
  c.lines.resize(8);
  c.lines.front().reference = true;
  for (auto& line : c.lines)
    line.points = {{0, 1}, {1, 2}};
  const auto svg = to_svg(c);
  BOOST_TEST(holds(svg, "stroke=\"var(--soft, "));
  for (const auto* name : {"1", "2", "3", "4", "5", "6", "7"})
    BOOST_TEST(holds(svg, std::string{"stroke=\"var(--plot-"} + name + ", #"),
               name);
}

BOOST_AUTO_TEST_CASE(a_legend_wraps_within_the_image) {
  chart c;
  for (const char* name :
       {"a policy with a long name", "another one as long as it",
        "a third one that is long"})
    c.lines.push_back({name, {{0, 1}}, false});
  const auto tall = to_svg(c);
  c.lines.resize(1);
  const auto flat = to_svg(c);
  const auto size_of = [](const std::string& svg) {
    const auto at = svg.find("viewBox=\"0 0 400 ");
    BOOST_REQUIRE(at != svg.npos);
    return std::stod(svg.substr(at + 17));
  };
  BOOST_TEST(size_of(tall) == size_of(flat) + 2 * 18);
}

BOOST_AUTO_TEST_CASE(a_figure_without_values_says_so) {
  chart c;
  c.title = "a & b";
  c.lines = {{"none", {}, false}};
  const auto empty = to_figure(c);
  BOOST_TEST(holds(empty, "<figcaption>a &amp; b</figcaption>"));
  BOOST_TEST(holds(empty, "There are no values."));
  BOOST_TEST(!holds(empty, "<svg"));
  c.lines[0].points = {{1, 1}};
  BOOST_TEST(holds(to_figure(c), "<svg"));
  BOOST_TEST(!holds(to_figure(c), "There are no values."));
}

BOOST_AUTO_TEST_SUITE_END()
