// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/program/reuse_study/study_report.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace atelier;
using namespace atelier::runtime::reuse_study;

namespace {

constexpr uint32_t steps = 50;

answered_line drawn(uint64_t number, uint32_t right) {
  answered_line x;
  x.number = number;
  x.session = number;
  x.steps_run = steps;
  x.denoise_ms = 1000;
  x.objects_said = 2;
  x.objects_right = right;
  return x;
}

answered_line resumed(uint64_t number, uint32_t right, uint32_t skipped) {
  auto x = drawn(number, right);
  x.reused = "latent";
  x.skipped = skipped;
  x.similarity = 0.9;
  x.nearest = 0.9;
  x.steps_run = steps - skipped;
  x.denoise_ms = 20.0 * x.steps_run;
  x.distance = 0.1;
  return x;
}

/// Ten requests: two start from noise, four skip 10 steps and four skip 20. A
/// random entry does as well where 10 are skipped, and gets nothing right where
/// 20 are.
study_results results() {
  study_results out;
  std::vector<answered_line> full, likely, any;
  for (uint64_t i = 0; i < 10; ++i) {
    full.push_back(drawn(i, 2));
    likely.push_back(i < 2 ? drawn(i, 2) : resumed(i, 2, i < 6 ? 10 : 20));
    any.push_back(i < 2 ? drawn(i, 2)
                        : resumed(i, i < 6 ? 2 : i % 2, i < 6 ? 10 : 20));
  }
  out.systems = {{find_system("full"), full},
                 {find_system("nirvana"), likely},
                 {find_system("random-entry"), any}};
  return out;
}

const compared_systems& find(const std::vector<compared_systems>& all,
                             const std::string& system, const std::string& with,
                             const std::string& among) {
  const auto at = std::ranges::find_if(all, [&](const auto& x) {
    return x.system == system && x.with == with && x.among == among;
  });
  BOOST_TEST_REQUIRE((at != all.end()), system + with + among);
  return *at;
}

} // namespace

BOOST_AUTO_TEST_SUITE(study_report_test, *boost::unit_test::tolerance(1e-9))

BOOST_AUTO_TEST_CASE(a_system_is_the_mean_of_its_lines) {
  const auto all = results();
  const auto x = summary_of("nirvana", all.systems[1].second);
  BOOST_TEST(x.requests == 10u);
  BOOST_TEST(x.hits == 8u);
  BOOST_TEST(x.hit_rate() == 0.8);
  BOOST_TEST(x.skipped == 15.0);
  BOOST_TEST(x.similarity == 0.9);
  BOOST_TEST(x.steps_run == 38.0);
  BOOST_TEST(x.device_ms == (2 * 1000 + 4 * 800 + 4 * 600) / 10.0);
  BOOST_TEST((
    x.skips == std::map<uint32_t, size_t>{{10u, size_t{4}}, {20u, size_t{4}}}));
  BOOST_TEST(x.objects.value() == 1.0);
  BOOST_TEST(x.distance.value() == 0.1);
  const auto none = summary_of("x", {});
  BOOST_TEST(none.hit_rate() == 0.0);
  BOOST_TEST(!none.objects);
  BOOST_TEST(!none.distance);
}

BOOST_AUTO_TEST_CASE(a_likeness_counts_by_the_steps_that_it_skips) {
  const auto all = compare_systems(results(), steps);
  const auto& few = find(all, "nirvana", "random-entry", "K=10");
  BOOST_TEST(few.objects.pairs == 4u);
  BOOST_TEST(few.objects.mean == 0.0);
  BOOST_TEST(!few.objects.is_above());
  const auto& many = find(all, "nirvana", "random-entry", "K>=20");
  BOOST_TEST(many.objects.pairs == 4u);
  BOOST_TEST(many.objects.mean == 0.75);
  BOOST_TEST(many.objects.is_above());
  BOOST_TEST(find(all, "nirvana", "random-entry", "reused").objects.pairs
             == 8u);
  BOOST_TEST(find(all, "nirvana", "random-entry", "all").objects.pairs == 10u);
  const auto& cheaper = find(all, "nirvana", "full", "all");
  BOOST_TEST(cheaper.device_ms.mean == -240.0);
  BOOST_TEST(cheaper.device_ms.is_below());
  // 20 of 50 steps are 8 of 20.
  const auto shorter = compare_systems(results(), 20);
  BOOST_TEST(find(shorter, "nirvana", "random-entry", "K>=8").objects.pairs
             == 8u);
}

BOOST_AUTO_TEST_CASE(a_report_is_written_whole) {
  const auto all = results();
  study_report x;
  x.variant = "base@50";
  x.warm = 5;
  for (const auto& [system, lines] : all.systems)
    x.systems.push_back(summary_of(std::string{system->name}, lines));
  x.compared = compare_systems(all, steps);
  x.simulated = {{"nirvana", 0.8, 0.79, 10, 11}};
  const auto json = nlohmann::json::parse(to_json({&x, 1}));
  const auto& variant = json.at("variants").at(0);
  BOOST_TEST(variant.at("variant") == "base@50");
  BOOST_TEST(variant.at("systems").size() == 3u);
  BOOST_TEST(variant.at("systems").at(1).at("skips").at("20") == 4);
  BOOST_TEST(variant.at("compared").size() == x.compared.size());
  BOOST_TEST(variant.at("simulated").at(0).at("simulated_hit_rate") == 0.79);
  const auto text = to_text(x);
  for (const auto* const part :
       {"nirvana", "random-entry", "K=10: 4 K=20: 4", "above",
        "no difference shown", "hits 80.0 % live, 79.0 % simulated"})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in " << text);
}

BOOST_AUTO_TEST_CASE(fewer_steps_are_as_many_in_all) {
  for (const uint64_t steps_of_all : {10u, 437u, 500u}) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 10; ++i) {
      const auto x = share_of_steps(steps_of_all, i, 10);
      BOOST_TEST(x >= steps_of_all / 10);
      BOOST_TEST(x <= steps_of_all / 10 + 1);
      sum += x;
    }
    BOOST_TEST(sum == steps_of_all);
  }
  BOOST_TEST(share_of_steps(0, 0, 10) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
