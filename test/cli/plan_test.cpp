// SPDX-License-Identifier: Apache-2.0
#include "fake_service.hpp"
#include "scratch_folder.hpp"
#include <atelier/runtime/cli/program.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <sstream>
#include <utility>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

// A light image takes 50 ms.
constexpr auto profile = R"({"format": "atelier.profile", "version": 2,
  "variants": [
    {"name": "light@1", "native": {"width": 64, "height": 64},
     "step": [{"batch": 1, "pixels": 4096, "ms": 50}]},
    {"name": "heavy@10", "native": {"width": 64, "height": 64},
     "step": [{"batch": 1, "pixels": 4096, "ms": 50}]}],
  "cascades": [{"light": "light@1", "heavy": "heavy@10", "judge": "judge",
    "deadline_ms": 40, "deferred": [[0, 0], [0.5, 0.4], [1, 1]],
    "fid": [[0, 18], [0.5, 17], [1, 23]]}]})";

/// Returns a profile of two models whose qualities are means over this number
/// of images.
std::string ladder_of(uint32_t images) {
  const auto variant = [&](const char* name, double quality, int ms) {
    return fmt::format(
      R"({{"name": "{}", "native": {{"width": 64, "height": 64}},
        "quality": {}, "quality_pictures": {},
        "step": [{{"batch": 1, "pixels": 4096, "ms": {}}}]}})",
      name, quality, images, ms);
  };
  const auto level = [&](const char* name, double quality) {
    return fmt::format(R"({{"variant": "{}", "quality": {}, "pictures": {}}})",
                       name, quality, images);
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
      BOOST_TEST(why.find("deadline_ms 40: one image") == 0u, why);
      BOOST_TEST(why.find("takes 50 ms") != std::string::npos, why);
      BOOST_TEST(err.str().find(why) != std::string::npos, err.str());
    }
  }
  BOOST_TEST((run("plan", "diffserve", false) == exit_status::failed));
  BOOST_TEST(shows("not feasible: deadline_ms 40"));
}

BOOST_AUTO_TEST_CASE(a_plan_that_carries_less_than_the_demand_fails) {
  // Without a deadline no policy compares the demand with what four devices of
  // ten images a second draw.
  const auto ladder = ladder_of(50);
  const auto unrelated = ladder.substr(0, ladder.find(R"(,
      "ladders")")) + "}";
  write("p.json", unrelated);
  const auto plan = [&](const char* policy, const char* rate, bool json) {
    out.str("");
    err.str("");
    std::vector<std::string> all{
      "plan",     "--profiles", (path / "p.json").string(),
      "--policy", policy,       "--workers",
      "4",        "--demand",   rate};
    if (json)
      all.emplace_back("--json");
    return run_program(all, world);
  };
  for (const auto* policy : {"vanilla", "atelier"}) {
    BOOST_TEST_CONTEXT(policy) {
      BOOST_TEST((plan(policy, "1000", true) == exit_status::failed));
      const auto x = nlohmann::json::parse(out.str());
      BOOST_TEST(x["feasible"] == false);
      BOOST_TEST(x["demand_rate"] == 1000);
      BOOST_TEST(x["carried_rate"].get<double>() == 40.0,
                 boost::test_tools::tolerance(1e-9));
      BOOST_TEST(err.str().find("carry at most 40") != std::string::npos,
                 err.str());
      BOOST_TEST((plan(policy, "10", true) == exit_status::done));
      BOOST_TEST(nlohmann::json::parse(out.str())["feasible"].is_null());
    }
  }
  BOOST_TEST((plan("vanilla", "10", false) == exit_status::done));
  BOOST_TEST(shows("at most 40 requests/s"), out.str());
}

BOOST_AUTO_TEST_CASE(auto_names_the_policy_that_it_chose) {
  const auto chosen = [&](std::string variants) {
    known = std::move(variants);
    BOOST_TEST((run("plan", "auto", true) == exit_status::done), err.str());
    return nlohmann::json::parse(out.str())["policy"].get<std::string>();
  };
  const auto ladder = ladder_of(50);
  BOOST_TEST(chosen(ladder) == "vanilla");
  const auto unrelated = ladder.substr(0, ladder.find(R"(,
      "ladders")")) + "}";
  BOOST_TEST(chosen(unrelated) == "atelier");
  BOOST_TEST((run("plan", "auto", false) == exit_status::done));
  BOOST_TEST(shows("atelier:\n"), out.str());
}

BOOST_AUTO_TEST_CASE(a_larger_model_is_worth_its_time_beyond_chance_only) {
  // There is time for either variant: four devices, ten requests a second.
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

namespace {

/// Returns a profile of two variants of ten and of a hundred milliseconds,
/// `times` times as slow.
std::string slower(int times) {
  const auto variant = [&](const char* name, double quality, int ms) {
    return fmt::format(
      R"({{"name": "{}", "native": {{"width": 64, "height": 64}},
        "quality": {}, "step": [{{"batch": 1, "pixels": 4096, "ms": {}}}]}})",
      name, quality, ms * times);
  };
  return fmt::format(
    R"({{"format": "atelier.profile", "version": 2,
      "variants": [{}, {}],
      "cascades": [{{"light": "small@1", "heavy": "large@1",
        "judge": "judge", "deadline_ms": 1000,
        "deferred": [[0, 0], [0.5, 0.4], [1, 1]]}}]}})",
    variant("small@1", 0.5, 10), variant("large@1", 1, 100));
}

} // namespace

BOOST_AUTO_TEST_CASE(a_plan_says_which_kind_of_device_hosts_what) {
  write("quick.json", slower(1));
  write("slow.json", slower(20));
  const auto quick = (path / "quick.json").string();
  const auto slow = (path / "slow.json").string();
  const auto plan = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"plan", "--profiles", quick,     "--demand",
                                 "25",   "--policy",   "atelier", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    out.str("");
    err.str("");
    return run_program(all, world);
  };
  BOOST_TEST((plan({"--kind", "a100=2", "--kind", "old-gpu=4:" + slow})
              == exit_status::done),
             err.str());
  const auto x = nlohmann::json::parse(out.str());
  std::map<std::string, int> large;
  int devices = 0;
  for (const auto& w : x["workers"]) {
    const auto device = w["device"].get<std::string>();
    BOOST_TEST((device == "a100" || device == "old-gpu"), device);
    devices += w["count"].get<int>();
    if (w["variant"] == "large@1")
      large[device] += w["count"].get<int>();
  }
  BOOST_TEST(devices == 6);
  // Two seconds for each image exceed the deadline.
  BOOST_TEST(large["a100"] > 0);
  BOOST_TEST(large["old-gpu"] == 0);
  // Without kinds all devices are equal.
  BOOST_TEST((plan({}) == exit_status::done));
  const auto of_any = nlohmann::json::parse(out.str());
  for (const auto& w : of_any["workers"])
    BOOST_TEST(w["device"] == "any");
}

BOOST_AUTO_TEST_CASE(what_is_no_kind_of_device_is_told) {
  write("p.json", slower(1));
  write("other.json", profile);
  const auto p = (path / "p.json").string();
  const auto other = (path / "other.json").string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows{
    {{"--kind", "quick"}, "is not NAME=N or NAME=N:FILE"},
    {{"--kind", "=4"}, "is not NAME=N or NAME=N:FILE"},
    {{"--kind", "a b=4"}, "is not NAME=N or NAME=N:FILE"},
    {{"--kind", "quick=0"}, "--kind quick: "},
    {{"--kind", "quick=20001"}, "1..20000"},
    {{"--kind", "quick=12000", "--kind", "slow=12000"}, "24000 devices"},
    {{"--kind", "quick=1", "--kind", "quick=2"}, "'quick' occurs twice"},
    {{"--kind", "quick=1", "--workers", "4"}, "--workers"},
    {{"--kind", "quick=1:/none.json"}, "--kind quick: "},
    {{"--kind", "quick=1:" + other}, "has none of the variants"}};
  for (const auto& [more, part] : rows)
    for (const std::string command : {"plan", "simulate"}) {
      std::vector<std::string> all{command, "--profiles", p, "--policy",
                                   "atelier"};
      if (command == "plan")
        all.insert(all.end(), {"--demand", "10"});
      else
        all.insert(all.end(), {"--load", "steady:10-10:20"});
      all.insert(all.end(), more.begin(), more.end());
      err.str("");
      BOOST_TEST((run_program(all, world) == exit_status::bad_input), more[1]);
      BOOST_TEST(err.str().find(part) != std::string::npos, err.str());
    }
}

BOOST_AUTO_TEST_CASE(a_simulation_shows_no_quality_of_no_answer) {
  BOOST_TEST((run("simulate", "diffserve-paper", true) == exit_status::done));
  const auto x = nlohmann::json::parse(out.str());
  BOOST_TEST(x["completed"] == 0);
  BOOST_TEST(x["fid"].is_null());
  BOOST_TEST(x["quality_mean"].is_null());
  BOOST_TEST(
    x["infeasible"].get<std::string>().find("deadline_ms 40: one image") == 0u);
  BOOST_TEST((run("simulate", "diffserve-paper", false) == exit_status::done));
  BOOST_TEST(shows("diffserve-paper: deadline_ms 40: one image"));
  BOOST_TEST(!shows("18.00"));
}

BOOST_AUTO_TEST_SUITE_END()
