// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/counters.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/runtime/figures.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace {

using namespace atelier;
using runtime::figure_value;
using runtime::figures_of;

figure_value value_of(const engine_status& now, std::string_view group,
                      std::string_view name) {
  for (const auto& x : figures_of(now))
    if (x.is.group == group && x.is.name == name)
      return x.value;
  BOOST_FAIL("no figure " << name);
  return {};
}

} // namespace

BOOST_AUTO_TEST_SUITE(figures_test)

BOOST_AUTO_TEST_CASE(no_two_figures_share_a_name_or_a_series) {
  std::set<std::pair<std::string_view, std::string_view>> members;
  std::set<std::pair<std::string_view, std::string_view>> series;
  std::set<std::string_view> counted;
  for (const auto& x : figures_of({})) {
    if (x.is.shown != core::figure_place::metrics)
      BOOST_TEST(members.emplace(x.is.group, x.is.name).second, x.is.name);
    if (!x.is.metric.empty())
      BOOST_TEST(series.emplace(x.is.metric, x.is.label).second, x.is.name);
  }
  for (const auto& x : actors::counted_figures)
    BOOST_TEST(counted.insert(x.is.name).second, x.is.name);
  for (const auto& x : index::counted_figures)
    BOOST_TEST(counted.insert(x.is.name).second, x.is.name);
}

BOOST_AUTO_TEST_CASE(metrics_have_one_help_text_and_one_label) {
  std::map<std::string_view, core::figure> first;
  for (const auto& x : figures_of({})) {
    if (x.is.metric.empty())
      continue;
    const auto [at, begins] = first.emplace(x.is.metric, x.is);
    BOOST_TEST(begins == !x.is.help.empty(), x.is.name);
    BOOST_TEST(at->second.group == x.is.group);
    BOOST_TEST(at->second.label.substr(0, at->second.label.find('='))
               == x.is.label.substr(0, x.is.label.find('=')));
    BOOST_TEST(x.is.metric.starts_with("atelier_"), x.is.metric);
  }
}

BOOST_AUTO_TEST_CASE(values_keep_their_types) {
  engine_status now;
  BOOST_TEST(
    (value_of(now, "earlier_work", "entries") == figure_value{uint64_t{0}}));
  now.answered = 5;
  now.waiting = 6;
  now.figures = {{"late", 7}};
  auto& cache = now.cache.emplace();
  cache.reads_left_out = true;
  cache.predictor.recall = 0.5;
  const auto is = [&](std::string_view group, std::string_view name,
                      figure_value value) {
    BOOST_TEST((value_of(now, group, name) == value), name);
  };
  is("requests", "answered", uint64_t{5});
  is("requests", "waiting", uint64_t{6});
  is("requests", "late", uint64_t{7});
  is("requests", "resumed", uint64_t{0});
  is("earlier_work", "reads_left_out", true);
  is("predictor", "recall", 0.5);
  const auto unknown = value_of(now, "predictor", "precision");
  BOOST_TEST(std::isnan(std::get<double>(unknown)));
}

BOOST_AUTO_TEST_SUITE_END()
