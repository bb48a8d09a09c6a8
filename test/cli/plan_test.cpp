// SPDX-License-Identifier: Apache-2.0
#include "fake_service.hpp"
#include "scratch_folder.hpp"
#include <atelier/runtime/cli/program.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

// A light picture takes 50 ms.
constexpr auto profile = R"({"format": "atelier.profile", "version": 2,
  "variants": [
    {"name": "light@1", "native": {"width": 64, "height": 64},
     "step": [{"batch": 1, "pixels": 4096, "ms": 50}]},
    {"name": "heavy@10", "native": {"width": 64, "height": 64},
     "step": [{"batch": 1, "pixels": 4096, "ms": 50}]}],
  "cascades": [{"light": "light@1", "heavy": "heavy@10", "judge": "judge",
    "deadline_ms": 40, "deferred": [[0, 0], [0.5, 0.4], [1, 1]],
    "fid": [[0, 18], [0.5, 17], [1, 23]]}]})";

/// Two models whose qualities are means of so many pictures.
std::string ladder_of(uint32_t pictures) {
  const auto variant = [&](const char* name, double quality, int ms) {
    return fmt::format(
      R"({{"name": "{}", "native": {{"width": 64, "height": 64}},
        "quality": {}, "quality_pictures": {},
        "step": [{{"batch": 1, "pixels": 4096, "ms": {}}}]}})",
      name, quality, pictures, ms);
  };
  const auto level = [&](const char* name, double quality) {
    return fmt::format(R"({{"variant": "{}", "quality": {}, "pictures": {}}})",
                       name, quality, pictures);
  };
  return fmt::format(
    R"({{"format": "atelier.profile", "version": 2,
      "variants": [{}, {}],
      "ladders": [{{"kind": "smaller_models", "levels": [{}, {}]}}]}})",
    variant("large@1", 0.85, 100), variant("small@1", 0.8, 10),
    level("large@1", 0.85), level("small@1", 0.8));
}

struct fixture : test::scratch_folder {
  exit_status run(const std::string& command, const std::string& policy,
                  bool json) {
    write("p.json", known);
    std::vector<std::string> all{
      command,     "--profiles", (path / "p.json").string(), "--policy", policy,
      "--workers", "4"};
    if (command == "plan")
      all.insert(all.end(), {"--demand", "10"});
    else
      all.insert(all.end(), {"--load", "steady:10-10:20"});
    if (json)
      all.emplace_back("--json");
    out.str("");
    err.str("");
    return run_program(all, world);
  }

  bool shows(const std::string& part) const {
    return out.str().find(part) != std::string::npos;
  }

  std::string known{profile};
  test::fake_interruption interrupted;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  environment world{{in, out, err, 0},
                    interrupted,
                    [](const engine_options&) -> started_service {
                      return failure{"internal", "no engine is needed", {}};
                    },
                    "1.2.3",
                    [] { return uint64_t{7}; }};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(plan_test, fixture)

BOOST_AUTO_TEST_CASE(a_plan_for_a_deadline_that_nothing_meets_fails) {
  for (const std::string policy :
       {"atelier", "diffserve", "diffserve-paper", "vanilla", "nirvana"}) {
    BOOST_TEST_CONTEXT(policy) {
      BOOST_TEST((run("plan", policy, true) == exit_status::failed));
      const auto x = nlohmann::json::parse(out.str());
      BOOST_TEST(x["feasible"] == false);
      const auto why = x["reason"].get<std::string>();
      BOOST_TEST(why.find("deadline_ms 40: one picture") == 0u, why);
      BOOST_TEST(why.find("takes 50 ms") != std::string::npos, why);
      BOOST_TEST(err.str().find(why) != std::string::npos, err.str());
    }
  }
  BOOST_TEST((run("plan", "diffserve", false) == exit_status::failed));
  BOOST_TEST(shows("not feasible: deadline_ms 40"));
}

BOOST_AUTO_TEST_CASE(a_larger_model_is_worth_its_time_beyond_chance_only) {
  // There is time for either: four devices, ten requests a second.
  for (const std::string policy : {"atelier", "argus"}) {
    BOOST_TEST_CONTEXT(policy) {
      known = ladder_of(5000);
      BOOST_TEST((run("plan", policy, false) == exit_status::done));
      BOOST_TEST(shows("100.0 % by large@1"), out.str());
      known = ladder_of(50);
      BOOST_TEST((run("plan", policy, false) == exit_status::done));
      BOOST_TEST(!shows("by large@1"), out.str());
      BOOST_TEST(shows("100.0 % by small@1"), out.str());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_simulation_shows_no_quality_of_no_answer) {
  BOOST_TEST((run("simulate", "diffserve-paper", true) == exit_status::done));
  const auto x = nlohmann::json::parse(out.str());
  BOOST_TEST(x["completed"] == 0);
  BOOST_TEST(x["fid"].is_null());
  BOOST_TEST(x["quality_mean"].is_null());
  BOOST_TEST(
    x["infeasible"].get<std::string>().find("deadline_ms 40: one picture")
    == 0u);
  BOOST_TEST((run("simulate", "diffserve-paper", false) == exit_status::done));
  BOOST_TEST(shows("diffserve-paper: deadline_ms 40: one picture"));
  BOOST_TEST(!shows("18.00"));
}

BOOST_AUTO_TEST_SUITE_END()
