// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/argus/ladder.hpp>
#include <atelier/planning/policies/diffserve/diffserve.hpp>
#include <atelier/planning/policies/instgenie/instgenie.hpp>
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>
#include <vector>

using namespace atelier;
using namespace atelier::planning;

namespace {

const std::filesystem::path folder = ATELIER_EXAMPLE_PROFILES;

profile read(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  const auto p = parse_profile(text.str(), file.string());
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(p),
                        file << ": " << (p ? "" : p.why().text));
  return *p;
}

} // namespace

BOOST_AUTO_TEST_SUITE(published_profiles_test)

BOOST_AUTO_TEST_CASE(every_file_is_read_and_written_back) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    if (entry.path().extension() == ".json") {
      const auto p = read(entry.path());
      const auto again = parse_profile(to_json(p), "again");
      BOOST_REQUIRE(static_cast<bool>(again));
      BOOST_TEST((*again == p));
      ++files;
    }
  BOOST_TEST(files >= 8u);
}

BOOST_AUTO_TEST_CASE(argus_times_are_those_of_its_table) {
  const auto p = read(folder / "argus-a100.json");
  BOOST_TEST(argus::request_seconds(p.variants[0], {}) == 4.2,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(argus::request_seconds(p.variants[0], {}, 25) == 2.1,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(argus::request_seconds(p.variants[5], {}) == 2.18,
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(instgenies_edits_take_the_published_seconds) {
  const auto near = boost::test_tools::tolerance(2e-3);
  for (const auto& [name, full, ratio, computed] :
       {std::tuple{"instgenie-sdxl-h800.json", 1.94, 0.35, 1.06},
        std::tuple{"instgenie-flux-h800.json", 2.27 * 1.9, 0.2, 2.27}}) {
    const auto p = read(folder / name);
    const auto& v = p.variants[0];
    BOOST_TEST(core::to_seconds(step_time(v, 1, v.native_px)) * v.steps == full,
               near);
    auto m = p.masked[0];
    const std::vector<instgenie::batch_member> whole(4);
    BOOST_TEST(edit_steps(m)(whole)
                 == core::to_seconds(step_time(v, 4, v.native_px)),
               near);
    m.load_slope = 0;
    const std::vector<instgenie::batch_member> edit{{ratio, false}};
    BOOST_TEST(edit_steps(m)(edit) * v.steps == computed, near);
  }
}

BOOST_AUTO_TEST_CASE(cascades_have_the_published_batches) {
  const auto p = read(folder / "diffserve-sd-turbo.json");
  const auto light = leg_of(p, p.cascades[0].light, 32, core::timespan{0});
  const auto heavy = leg_of(p, p.cascades[0].heavy, 32, core::timespan{0});
  BOOST_TEST(diffserve::batch_seconds(light, 16) == 0.77,
             boost::test_tools::tolerance(1e-4));
  BOOST_TEST(diffserve::batch_seconds(heavy, 4) == 3.68,
             boost::test_tools::tolerance(1e-4));
}

BOOST_AUTO_TEST_SUITE_END()
