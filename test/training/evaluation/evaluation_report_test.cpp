// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/profile_file.hpp>
#include <atelier/training/evaluation/evaluation_report.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(evaluation_reports)

namespace {

evaluated_run run_of(const std::string& model, uint32_t steps, double quality) {
  evaluated_run out;
  out.variant = {model, steps};
  out.guidance = 3;
  out.all = {6, quality, quality / 2, 0.25, 0.25};
  out.load = 12;
  out.weight_bytes = 4096;
  out.by_objects.assign(3, {2, quality, quality / 2, {}});
  out.distance = 1.5;
  out.took = {1, 40, 2};
  return out;
}

evaluation some() {
  evaluation out;
  out.plan.captions = 2;
  out.plan.batch = 4;
  out.runs = {run_of("base", 50, 0.75), run_of("base", 20, 0.5)};
  out.runs.push_back(out.runs.front());
  out.runs.back().guidance = 5;
  out.start_steps = 50;
  out.starts.push_back({start_kind::latent, 5, 2, 0.9, {3, 0.5, 0.25, {}}});
  out.starts.push_back({start_kind::latent, 5, {}, 0.1, {3, 0.25, 0, {}}});
  out.trends.push_back({start_kind::latent, 5, 0.5});
  evaluated_cascade cascade{{"base", 20}, {"base", 50}, "critic", 2.5, 0.5, {}};
  cascade.points = {{0, 0, 0.5, 3.0, 0.5},
                    {0.5, 0.25, 0.7, 2.0, 0.25},
                    {0.75, 0.25, 0.7, 2.0, 0.25},
                    {1, 1, 0.75, 1.5, 0.0}};
  out.cascades.push_back(cascade);
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(json_has_what_was_found) {
  const auto x = nlohmann::json::parse(to_json(some()));
  BOOST_TEST(x["format"] == "atelier.evaluation");
  BOOST_TEST(x["runs"].size() == 3u);
  BOOST_TEST(x["runs"][0]["all"]["objects_right"] == 0.75);
  BOOST_TEST(x["runs"][0]["by_objects"]["3"]["fully_right"] == 0.375);
  BOOST_TEST(x["runs"][0]["ms"]["total"] == 43);
  BOOST_TEST(!x["runs"][0].contains("score_correlation"));
  BOOST_TEST(x["starts"][1]["changes"].is_null());
  BOOST_TEST(x["trends"][0]["correlation"] == 0.5);
  BOOST_TEST(x["cascades"][0]["light"] == "base@20");
  BOOST_TEST(x["cascades"][0]["points"][1]["deferred"] == 0.25);
}

BOOST_AUTO_TEST_CASE(the_profile_is_one_that_planning_reads) {
  const auto profile = measured_profile(some());
  const auto read = planning::parse_profile(planning::to_json(profile), "test");
  BOOST_REQUIRE_MESSAGE(read, (read ? "" : read.why().text));
  BOOST_REQUIRE(read->variants.size() == 2u);
  const auto& base = read->variants[0];
  BOOST_TEST(base.name == "base@50");
  BOOST_TEST(base.quality == 0.75);
  BOOST_TEST(base.guidance == 3);
  BOOST_TEST(base.quality_images == 6u);
  BOOST_TEST(base.quality_deviation == 0.25);
  BOOST_TEST(core::to_ms(base.load) == 12);
  BOOST_TEST(base.memory_bytes == 4096u);
  BOOST_TEST(base.step[0].batch == 4u);
  // The only whole batch has six images.
  BOOST_TEST(base.step[0].samples == 50u);
  // An image takes 40 ms, with four at a time, in 50 steps.
  BOOST_TEST(core::to_ms(base.step[0].took) == 40.0 * 4 / 50,
             boost::test_tools::tolerance(1e-6));
  BOOST_REQUIRE(read->cascades.size() == 1u);
  const auto& cascade = read->cascades[0];
  BOOST_TEST(cascade.judge == "critic");
  BOOST_TEST(cascade.light.value == 1u);
  BOOST_TEST(cascade.heavy.value == 0u);
  BOOST_TEST(core::to_ms(cascade.judging) == 2.5);
  BOOST_TEST(cascade.deferred.size() == 4u);
  // Each share of the light variant's answers occurs once, in rising order.
  BOOST_REQUIRE(cascade.fid.size() == 3u);
  BOOST_TEST(cascade.fid[0].first == 0);
  BOOST_TEST(cascade.fid[1].first == 0.75);
  BOOST_TEST(cascade.fid[2].second == 3);
  BOOST_TEST((cascade.fid_error == std::vector<double>{0, 0.25, 0.5}));
}

BOOST_AUTO_TEST_CASE(pages_and_tables_show_every_run) {
  const auto text = to_text(some());
  BOOST_TEST(text.find("base@20") != std::string::npos);
  BOOST_TEST(text.find("another scene") != std::string::npos);
  BOOST_TEST(text.find("base@20, then base@50") != std::string::npos);
  auto x = some();
  x.runs[0].variant.model = "<b>&";
  const auto page = to_html(x);
  BOOST_TEST(page.find("<b>&") == std::string::npos);
  BOOST_TEST(page.find("&lt;b&gt;&amp;") != std::string::npos);
  BOOST_TEST(page.find("<svg") != std::string::npos);
  for (const auto* elsewhere : {"<script", "src=", "href=", "@import"})
    BOOST_TEST(page.find(elsewhere) == std::string::npos, elsewhere);
}

BOOST_AUTO_TEST_CASE(a_page_explains_columns_and_has_every_plot) {
  const auto page = to_html(some());
  // The plots are quality by time and steps, of 1, 2 and 3 objects, distance,
  // cascades, and starts from latents. There is no plot of starts from images.
  size_t plots = 0;
  for (auto at = page.find("<figure>"); at != page.npos;
       at = page.find("<figure>", at + 1))
    ++plots;
  BOOST_TEST(plots == 8u);
  BOOST_TEST(page.find("From images") == page.npos);
  for (const auto* part :
       {"<dt>objects %</dt>", "<dt>distance</dt>", "name=\"viewport\"",
        "prefers-color-scheme: dark", "<circle"})
    BOOST_TEST(page.find(part) != page.npos, part);
}

BOOST_AUTO_TEST_SUITE_END()
