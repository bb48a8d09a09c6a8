// SPDX-License-Identifier: Apache-2.0
#include "fake_service.hpp"
#include "scratch_folder.hpp"
#include <atelier/bench/papers/policies/paper_policies.hpp>
#include <atelier/bench/papers/program/reproduce_command.hpp>
#include <atelier/core/instruction_set.hpp>
#include <atelier/runtime/cli/program.hpp>
#include <atelier/runtime/cli/simulate.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

constexpr auto profile = R"({"format": "atelier.profile", "version": 2,
  "variants": [
    {"name": "light@1", "native": {"width": 64, "height": 64},
     "step": [{"batch": 1, "pixels": 4096, "ms": 100}]},
    {"name": "heavy@10", "native": {"width": 64, "height": 64},
     "step": [{"batch": 1, "pixels": 4096, "ms": 100}]}],
  "cascades": [{"light": "light@1", "heavy": "heavy@10", "judge": "judge",
    "deadline_ms": 5000, "deferred": [[0, 0], [0.5, 0.4], [1, 1]],
    "fid": [[0, 18], [0.5, 17], [1, 23]]}]})";

struct fixture : test::scratch_folder {
  fixture() {
    write("p.json", profile);
    std::string trace;
    for (int i = 0; i < 200; ++i)
      trace += std::to_string(i * 200) + "," + std::to_string(i % 50) + "\n";
    write("t.txt", trace);
  }

  std::string at(const std::string& name) const {
    return (path / name).string();
  }

  exit_status run(std::vector<std::string> arguments) {
    out.str("");
    err.str("");
    return run_program(arguments, world);
  }

  /// Runs `simulate` with valid arguments and those given.
  exit_status simulate(std::vector<std::string> more,
                       const std::string& policy = "diffserve",
                       const std::string& trace = "t.txt",
                       const std::string& profiles = "p.json") {
    std::vector<std::string> all{"simulate",   "--policy",  policy,
                                 "--trace",    at(trace),   "--profiles",
                                 at(profiles), "--workers", "4"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }

  bool complains(const std::string& part) const {
    return err.str().find(part) != std::string::npos;
  }

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
                    [] { return uint64_t{7}; },
                    {{}, {}, reproduce, {}},
                    false,
                    papers::paper_policies()};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(simulate_test, fixture)

BOOST_AUTO_TEST_CASE(policies_are_shown_side_by_side) {
  BOOST_TEST((simulate({}, "diffserve,light-aimd") == exit_status::done));
  BOOST_TEST(out.str().find("diffserve") != std::string::npos);
  BOOST_TEST(out.str().find("light-aimd") != std::string::npos);
  BOOST_TEST(out.str().find("200") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(times_of_another_instruction_set_are_noted) {
  const auto measured_with = [&](core::instruction_set x) {
    std::string text{profile};
    text.insert(1, fmt::format(R"("instruction_set": "{}", )", to_string(x)));
    write("p.json", text);
  };
  const auto in_use = core::instruction_set_in_use();
  const auto other = in_use == core::instruction_set::avx2
                     ? core::instruction_set::avx512
                     : core::instruction_set::avx2;
  measured_with(in_use);
  BOOST_TEST((simulate({}) == exit_status::done));
  BOOST_TEST(err.str().empty(), err.str());
  measured_with(other);
  BOOST_TEST((simulate({}) == exit_status::done));
  BOOST_TEST(complains(fmt::format("instruction set {}, and {} is in use",
                                   to_string(other), to_string(in_use))));
  BOOST_TEST(complains("p.json"));
}

BOOST_AUTO_TEST_CASE(comparisons_are_left_to_the_program_that_has_them) {
  int left = 0;
  world.policies.clear();
  world.separate.compare = [&](environment&) {
    ++left;
    return exit_status::failed;
  };
  BOOST_TEST((simulate({}, "diffserve,light-aimd") == exit_status::failed));
  BOOST_TEST((run({"plan", "--policy", "light-aimd"}) == exit_status::failed));
  write("plan.json", R"({"policy": "clip-cascade"})");
  BOOST_TEST(
    (simulate({"--plan", at("plan.json")}, "fixed") == exit_status::failed));
  BOOST_TEST(left == 3);
  // Only those are.
  for (const auto* text :
       {R"({"policy": "diffserve"})", R"({"policy": 1})", "[]", "{", ""}) {
    write("plan.json", text);
    BOOST_TEST((simulate({"--plan", at("plan.json")}, "fixed")
                == exit_status::bad_input));
  }
  BOOST_TEST((simulate({}, "diffserve") == exit_status::done));
  BOOST_TEST((simulate({}, "light-amd") == exit_status::bad_input));
  BOOST_TEST(complains("did you mean light-aimd?"));
  BOOST_TEST(left == 3);
}

BOOST_AUTO_TEST_CASE(json_is_one_object_a_policy_and_the_same_each_time) {
  const auto stripped = [&] {
    std::istringstream lines{out.str()};
    std::vector<nlohmann::json> all;
    for (std::string line; std::getline(lines, line);) {
      auto x = nlohmann::json::parse(line);
      for (const char* wall : {"plan_ms", "route_us", "wall_s"})
        x.erase(wall);
      all.push_back(std::move(x));
    }
    return all;
  };
  BOOST_TEST((simulate({"--json"}, "diffserve,vanilla") == exit_status::done));
  const auto first = stripped();
  BOOST_REQUIRE(first.size() == 2u);
  BOOST_TEST(first[0]["requests"] == 200);
  BOOST_TEST(first[1]["policy"] == "vanilla");
  BOOST_TEST((simulate({"--json"}, "diffserve,vanilla") == exit_status::done));
  BOOST_TEST((stripped() == first));
}

BOOST_AUTO_TEST_CASE(auto_names_the_policy_that_it_chose) {
  BOOST_TEST((simulate({"--json"}, "auto") == exit_status::done));
  // The profile's variants form a cascade.
  BOOST_TEST(nlohmann::json::parse(out.str())["policy"] == "vanilla");
  BOOST_TEST((simulate({}, "auto,vanilla") == exit_status::bad_input));
}

BOOST_AUTO_TEST_CASE(devices_of_several_kinds_are_simulated) {
  // This kind is ten times as slow: a heavy image takes 10 s there.
  std::string slow{profile};
  const std::string step = "\"ms\": 100";
  for (auto i = slow.find(step); i != std::string::npos;
       i = slow.find(step, i + step.size()))
    slow.insert(i + step.size(), "0");
  write("slow.json", slow);
  BOOST_TEST((run({"simulate", "--policy", "atelier,diffserve", "--trace",
                   at("t.txt"), "--profiles", at("p.json"), "--kind", "quick=2",
                   "--kind", "slow=3:" + at("slow.json"), "--json"})
              == exit_status::done),
             err.str());
  std::istringstream lines{out.str()};
  for (std::string line; std::getline(lines, line);) {
    const auto x = nlohmann::json::parse(line);
    BOOST_TEST(x["requests"] == 200);
    BOOST_TEST_REQUIRE(x["kinds"].size() == 2u);
    BOOST_TEST(x["kinds"][0]["kind"] == "quick");
    BOOST_TEST(x["kinds"][0]["devices"] == 2);
    BOOST_TEST(x["kinds"][1]["kind"] == "slow");
    double seconds = 0;
    for (const auto& k : x["kinds"])
      seconds += k["device_seconds"].get<double>();
    BOOST_TEST(seconds == x["device_seconds"].get<double>(),
               boost::test_tools::tolerance(1e-9));
  }
  BOOST_TEST((simulate({"--json"}) == exit_status::done));
  BOOST_TEST(!nlohmann::json::parse(out.str()).contains("kinds"));
}

BOOST_AUTO_TEST_CASE(a_folder_gets_summary_series_and_report) {
  BOOST_TEST((simulate({"-o", at("out")}) == exit_status::done));
  for (const char* name : {"summary.json", "series.csv", "report.html"})
    BOOST_TEST(!read(std::string{"out/"} + name).empty(), name);
  // The profile has no qualities of its variants.
  BOOST_TEST(read("out/report.html").find("Quality of the answers")
             == std::string::npos);
  BOOST_TEST(read("out/summary.json").find("\"quality_mean\":null")
             != std::string::npos);
  BOOST_TEST((simulate({"-o", at("out")}) == exit_status::bad_input));
  BOOST_TEST(complains("summary.json"));
  BOOST_TEST((simulate({"-o", at("out"), "--force"}) == exit_status::done));
}

BOOST_AUTO_TEST_CASE(the_mix_says_what_requests_ask_for) {
  const auto mean = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--json", "--noise", "0", "--slo-ms", "60000"});
    BOOST_TEST((simulate(more, "vanilla") == exit_status::done), err.str());
    return nlohmann::json::parse(out.str())["latency_ms"]["mean"].get<double>();
  };
  const auto plain = mean({});
  const auto steps = mean({"--mix", "steps=3"});
  const auto half = mean({"--mix", "steps=1,3"});
  BOOST_TEST(plain < half);
  BOOST_TEST(half < steps);
  // The same seed draws the same requests, and another seed draws others.
  BOOST_TEST(half == mean({"--mix", "steps=1,3"}));
  BOOST_TEST(half != mean({"--mix", "steps=1,3", "--seed", "2"}));
  // A row of 3 steps takes 300 ms. With a shorter deadline none is answered.
  BOOST_TEST((simulate({"--json", "--noise", "0", "--mix", "steps=3", "--mix",
                        "deadline_ms=250"},
                       "vanilla")
              == exit_status::done));
  BOOST_TEST(nlohmann::json::parse(out.str())["completed"] == 0);
}

BOOST_AUTO_TEST_CASE(what_a_mix_cannot_ask_for_is_told_by_name) {
  for (const auto& [text, part] :
       {std::pair{"steps=0", "--mix steps: '0'"},
        {"colour=red", "--mix: 'colour=red' is not FIELD=VALUE"},
        {"model=other", "--mix model=other: model not found: 'other'"}}) {
    BOOST_TEST((simulate({"--mix", text}, "vanilla") != exit_status::done));
    BOOST_TEST(complains(part), text << ": " << err.str());
  }
  BOOST_TEST((simulate({"--max-batch", "0"}) == exit_status::bad_input));
  BOOST_TEST(complains("--max-batch"));
  BOOST_TEST((simulate({"--batching", "never"}) == exit_status::bad_input));
  BOOST_TEST(complains("whole_batch"));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_told_by_name) {
  BOOST_TEST((run({"simulate"}) == exit_status::bad_input));
  BOOST_TEST(complains("--policy"));
  BOOST_TEST((simulate({}, "nobody") == exit_status::bad_input));
  BOOST_TEST(complains("'nobody'"));
  BOOST_TEST((simulate({}, "vanilla,vanilla") == exit_status::bad_input));
  BOOST_TEST((simulate({"--noise", "nan"}) == exit_status::bad_input));
  BOOST_TEST(complains("--noise"));
  BOOST_TEST((simulate({"--slo-ms", "-5"}) == exit_status::bad_input));
  for (const auto& [text, part] :
       {std::pair{"1.5", "--edits: '1.5' is not a number in 0..1"},
        {"0.7,", "--edits: ''"},
        {"0.7,0.1,0.1,1", "--edits: '1' is too much"},
        {"0.7,0", "--edits: the mean masked share, 0, is outside 0.01..0.99"},
        {"0.7,0.1,0.4", "--edits: the spread of masked shares, 0.4"},
        {"some", "--edits: 'some'"}}) {
    BOOST_TEST((simulate({"--edits", text}) == exit_status::bad_input));
    BOOST_TEST(complains(part), text << ": " << err.str());
  }
  BOOST_TEST((simulate({"--load", "steady:1:10"}) == exit_status::bad_input));
  BOOST_TEST((run({"simulate", "--policy", "vanilla", "--profiles",
                   at("p.json"), "--load", "wavy:1-2:30"})
              == exit_status::bad_input));
  BOOST_TEST(complains("wavy"));
  BOOST_TEST(
    (run({"simulate", "--reproduce", "nothing"}) == exit_status::bad_input));
  BOOST_TEST(complains("'nothing'"));
}

BOOST_AUTO_TEST_CASE(edits_are_simulated_by_their_share) {
  for (const auto& [text, least, most] :
       {std::tuple{"0", 0, 0}, {"0.7", 110, 170}, {"1,0.3", 200, 200}}) {
    BOOST_TEST((simulate({"--edits", text, "--json"}, "instgenie")
                == exit_status::done));
    const auto x = nlohmann::json::parse(out.str());
    BOOST_TEST(x["edits"] >= least);
    BOOST_TEST(x["edits"] <= most);
  }
}

BOOST_AUTO_TEST_CASE(masks_come_from_a_file) {
  write("masks.txt", "0.05\n0.9\n");
  const auto mean_of = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--edits", "1", "--json"});
    BOOST_TEST((simulate(options, "instgenie") == exit_status::done));
    return nlohmann::json::parse(out.str())["masked_mean"].get<double>();
  };
  BOOST_TEST(mean_of({}) < 0.2);
  const double measured = mean_of({"--masks", at("masks.txt")});
  BOOST_TEST(measured > 0.35);
  BOOST_TEST(measured < 0.6);
  for (const auto& [options, part] :
       {std::pair{std::vector<std::string>{}, "--masks: needs --edits"},
        {{"--edits", "0.5,0.1"}, "--masks: needs --edits"}}) {
    auto all = options;
    all.insert(all.end(), {"--masks", at("masks.txt")});
    BOOST_TEST((simulate(all, "instgenie") == exit_status::bad_input));
    BOOST_TEST(complains(part), err.str());
  }
  write("masks.txt", "0.05\n2\n");
  BOOST_TEST(
    (simulate({"--edits", "1", "--masks", at("masks.txt")}, "instgenie")
     == exit_status::bad_input));
  BOOST_TEST(complains("line 2: '2' is not a number in 0..1"), err.str());
}

BOOST_AUTO_TEST_CASE(bad_files_are_told_with_their_place) {
  BOOST_TEST((simulate({}, "vanilla", "none.txt") == exit_status::bad_input));
  BOOST_TEST(complains("none.txt"));
  write("bad.txt", "0,1\n5,1\n4,1\nx,2\n-1,3\n");
  BOOST_TEST((simulate({}, "vanilla", "bad.txt") == exit_status::bad_input));
  for (const char* line : {"bad.txt:4", "bad.txt:5"})
    BOOST_TEST(complains(line), line);
  write("empty.txt", "");
  BOOST_TEST((simulate({}, "vanilla", "empty.txt") == exit_status::bad_input));
  write("bad.json", "{\"format\": \"atelier.profile\", \"version\": 1, "
                    "\"variants\": [{\"name\": \"x@0\"}]}");
  BOOST_TEST(
    (simulate({}, "vanilla", "t.txt", "bad.json") == exit_status::bad_input));
  BOOST_TEST(complains("variants[0]"));
  write("f.json", "{\"format\": \"atelier.faults\", \"version\": 1, "
                  "\"faults\": [{\"kind\": \"rain\", \"at_s\": 1}]}");
  BOOST_TEST((simulate({"--faults", at("f.json")}) == exit_status::bad_input));
  BOOST_TEST(complains("faults[0].kind"));
}

BOOST_AUTO_TEST_CASE(a_cache_that_fills_is_simulated) {
  auto p = nlohmann::json::parse(profile);
  p["reuse"] = {{"full", "heavy@10"},
                {"small", nlohmann::json::array()},
                {"latents", {{{"skip", 10}, {"similarity", 0.65}}}},
                {"images", nlohmann::json::array()}};
  write("r.json", p.dump());
  BOOST_TEST((simulate({"--cache", "entries=40,replace=lcbfu,topics=10",
                        "--similarity", "0.8,0.12", "--json", "-o", at("c")},
                       "nirvana", "t.txt", "r.json")
              == exit_status::done),
             err.str());
  const auto x = nlohmann::json::parse(out.str());
  BOOST_TEST(x["cache"]["entries"] == 40);
  BOOST_TEST(x["cache"]["inserted"] > 0);
  BOOST_TEST(x["cache"]["hits"] > 0);
  BOOST_TEST(read("c/report.html").find("Contents of the cache")
             != std::string::npos);
  for (const auto& [text, part] :
       {std::pair{"entries=0", "--cache entries: '0'"},
        {"entries=100001", "1..100000"},
        {"entries=nan", "--cache entries: 'nan'"},
        {"replace=lru", "--cache: entries=N is missing"},
        {"entries=5,replace=best",
         "--cache replace: 'best' is not one of fifo"},
        {"entries=5,again=1.5", "--cache again: '1.5'"},
        {"entries=5,again=nan", "--cache again: 'nan'"},
        {"entries=5,size=3", "--cache: 'size' is not one of entries"},
        {"entries", "--cache: 'entries' is not FIELD=VALUE"},
        {"", "--cache: '' is not FIELD=VALUE"}}) {
    BOOST_TEST((simulate({"--cache", text}, "nirvana", "t.txt", "r.json")
                == exit_status::bad_input));
    BOOST_TEST(complains(part), text << ": " << err.str());
  }
  BOOST_TEST((simulate({"--cache", "entries=5"}, "nirvana", "t.txt", "r.json")
              == exit_status::bad_input));
  BOOST_TEST(complains("neither --similarity nor the profile's reuse.near"));
  BOOST_TEST(
    (simulate({"--cache", "entries=5"}, "vanilla") == exit_status::bad_input));
  BOOST_TEST(complains("nothing that starts from a cache"));
}

BOOST_AUTO_TEST_CASE(a_trace_out_of_order_is_sorted_and_says_so) {
  write("mixed.txt", "500,1\n0,2\n900,3\n");
  BOOST_TEST(
    (simulate({"--json"}, "vanilla", "mixed.txt") == exit_status::done));
  BOOST_TEST(complains("mixed.txt: 1 of 3 lines were out of order"));
  const auto x = nlohmann::json::parse(out.str());
  BOOST_TEST(x["trace"]["sorted_lines"] == 1);
  BOOST_TEST(x["requests"] == 3);
}

BOOST_AUTO_TEST_CASE(a_trace_names_variants_and_numbers_of_images) {
  write("cols.csv", "ms,variant,n,tenant,failed\n0,heavy@10,2,ann,1\n"
                    "100,light@1,,bob,\n");
  BOOST_TEST(
    (simulate({"--json", "--slo-ms", "172800000"}, "vanilla", "cols.csv")
     == exit_status::done),
    err.str());
  const auto x = nlohmann::json::parse(out.str());
  BOOST_TEST(x["requests"] == 2);
  BOOST_TEST(x["images"] == 3);
  BOOST_TEST(x["trace"]["tenants"] == 2);
  BOOST_TEST(x["trace"]["failed_when_recorded"] == 1);
  write("cols.csv", "ms,variant\n0,light@1\n5,other@3\n");
  BOOST_TEST((simulate({}, "vanilla", "cols.csv") == exit_status::bad_input));
  BOOST_TEST(complains("cols.csv:3: variant: 'other@3' is not in the profile; "
                       "it has light@1, heavy@10"));
  write("cols.csv", "ms,mask\n0,0.5\n");
  BOOST_TEST((simulate({"--edits", "0.5"}, "vanilla", "cols.csv")
              == exit_status::bad_input));
  BOOST_TEST(complains("column 'mask'"));
}

BOOST_AUTO_TEST_CASE(a_worker_has_memory_for_every_variant) {
  auto sized = std::string{profile};
  const std::string from = R"("name": "light@1",)";
  sized.replace(sized.find(from), from.size(),
                from + R"( "memory_bytes": 2097152,)");
  write("sized.json", sized);
  BOOST_TEST((simulate({"--memory", "1"}, "vanilla", "t.txt", "sized.json")
              == exit_status::bad_input));
  BOOST_TEST(complains("'light@1' takes 2097152 bytes"));
  BOOST_TEST((simulate({"--memory", "2"}, "vanilla", "t.txt", "sized.json")
              == exit_status::done));
  BOOST_TEST((simulate({"--memory", "0"}) == exit_status::bad_input));
}

BOOST_AUTO_TEST_CASE(an_interruption_ends_a_simulation) {
  std::string trace;
  for (int i = 0; i < 5000; ++i)
    trace += std::to_string(i * 50) + ",1\n";
  write("long.txt", trace);
  interrupted.wish();
  BOOST_TEST((simulate({}, "vanilla", "long.txt") == exit_status::interrupted));
}

BOOST_AUTO_TEST_CASE(a_plan_is_printed_with_its_reasons) {
  BOOST_TEST((run({"plan", "--profiles", at("p.json"), "--demand", "6",
                   "--workers", "8", "--policy", "diffserve"})
              == exit_status::done));
  BOOST_TEST(out.str().find("heavy@10") != std::string::npos);
  BOOST_TEST(out.str().find("threshold") != std::string::npos);
  BOOST_TEST((run({"plan", "--json", "--profiles", at("p.json"), "--demand",
                   "6", "--policy", "atelier"})
              == exit_status::done));
  const auto x = nlohmann::json::parse(out.str());
  BOOST_TEST(x["policy"] == "atelier");
  BOOST_TEST((run({"plan", "--profiles", at("p.json"), "--demand", "6"})
              == exit_status::done));
  for (const char* part :
       {"class 0: ", "requests/s", " quality/s (no plan exceeds",
        "quality/s: the answers of a second"})
    BOOST_TEST(out.str().find(part) != std::string::npos,
               part << " in " << out.str());
  uint64_t workers = 0;
  for (const auto& w : x["workers"])
    workers += w["count"].get<uint64_t>();
  BOOST_TEST(workers == 16u);
}

BOOST_AUTO_TEST_CASE(a_plan_is_written_and_run_again) {
  const auto planned = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"plan", "--profiles", at("p.json"), "--demand",
                                 "6",    "--workers",  "4"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  BOOST_TEST((planned({"--policy", "diffserve", "-o", at("a.json")})
              == exit_status::done),
             err.str());
  const auto text = read("a.json");
  BOOST_TEST(nlohmann::json::parse(text)["policy"] == "diffserve");
  BOOST_TEST((planned({"--policy", "diffserve", "-o", at("a.json")})
              == exit_status::bad_input));
  BOOST_TEST(complains("a.json"));
  BOOST_TEST((planned({"--policy", "diffserve,vanilla", "-o", at("b.json")})
              == exit_status::bad_input));
  BOOST_TEST(complains("-o: a file holds one plan"));
  // An edited plan is compared with the original and with the policy itself.
  auto changed = nlohmann::json::parse(text);
  changed["thresholds"][0] = 0;
  write("b.json", changed.dump());
  BOOST_TEST((simulate({"--plan", at("a.json"), "--plan", at("b.json"),
                        "--json", "--noise", "0"},
                       "diffserve,fixed")
              == exit_status::done),
             err.str());
  std::istringstream lines{out.str()};
  std::vector<nlohmann::json> all;
  for (std::string line; std::getline(lines, line);)
    all.push_back(nlohmann::json::parse(line));
  BOOST_REQUIRE(all.size() == 3u);
  BOOST_TEST(all[0]["policy"] == "diffserve");
  BOOST_TEST(all[1]["policy"] == "fixed:a.json");
  BOOST_TEST(all[2]["policy"] == "fixed:b.json");
  // Every image passes a threshold of 0.
  BOOST_TEST(all[2]["light_share"] == 1);
  BOOST_TEST(all[1]["light_share"] < 1);
  BOOST_TEST((planned({"--policy", "fixed", "--plan", at("a.json"), "--json"})
              == exit_status::done),
             err.str());
  BOOST_TEST(nlohmann::json::parse(out.str())["policy"] == "fixed");
}

BOOST_AUTO_TEST_CASE(plans_that_do_not_fit_are_told) {
  BOOST_TEST((simulate({}, "fixed") == exit_status::bad_input));
  BOOST_TEST(complains("--plan FILE is missing"));
  write("x.json",
        R"({"format": "atelier.plan", "version": 1, "policy": "vanilla",
    "workers": [{"count": -4, "hosting": ["light@2"], "batch": 1}],
    "routes": [{"route": 0, "name": "a", "stages": [{"any_of": ["light@1"]}]},
               {"route": 1, "name": "b", "stages": [{"any_of": ["heavy@10"]}]}],
    "share": [{"0": 1.5}]})");
  BOOST_TEST(
    (simulate({"--plan", at("x.json")}, "fixed") == exit_status::bad_input));
  for (const char* part :
       {"x.json: workers[0].count: -4 is not a whole number in 1..20000",
        "\"light@2\" is not a variant of the profile, which has light@1, "
        "heavy@10",
        "plan.share[0].0: 1.5 is not a number in 0..1"})
    BOOST_TEST(complains(part), part << "\nin\n" << err.str());
  BOOST_TEST(
    (simulate({"--plan", at("x.json")}, "vanilla") == exit_status::bad_input));
  BOOST_TEST(complains("which --policy does not name"));
  BOOST_TEST(
    (simulate({"--plan", at("none.json")}, "fixed") == exit_status::bad_input));
  BOOST_TEST(complains("--plan: cannot read"));
}

BOOST_AUTO_TEST_CASE(bad_demands_are_told) {
  const auto planned = [&](const std::string& demand) {
    return run({"plan", "--profiles", at("p.json"), "--demand", demand});
  };
  BOOST_TEST((planned("-1") == exit_status::bad_input));
  BOOST_TEST(complains("--demand"));
  BOOST_TEST((planned("nan") == exit_status::bad_input));
  BOOST_TEST((planned(at("none.json")) == exit_status::bad_input));
  write("d.json", "{\"format\": \"atelier.demand\", \"version\": 1, "
                  "\"windows\": [{\"seconds\": 1}]}");
  BOOST_TEST((planned(at("d.json")) == exit_status::bad_input));
  BOOST_TEST(complains("windows[0].arrived"));
  BOOST_TEST((run({"plan", "--demand", "1"}) == exit_status::bad_input));
  BOOST_TEST(complains("--profiles"));
}

BOOST_AUTO_TEST_CASE(strict_makes_a_failing_row_a_failure) {
  using runtime::reproduced;
  using runtime::verdict;
  std::vector<reproduced> rows(3);
  rows[0].passes = verdict::pass;
  rows[1].passes = verdict::told;
  rows[2].passes = verdict::open;
  BOOST_TEST((end_of_reproduction(rows, true) == exit_status::done));
  rows[1].passes = verdict::fail;
  BOOST_TEST((end_of_reproduction(rows, false) == exit_status::done));
  BOOST_TEST((end_of_reproduction(rows, true) == exit_status::failed));
}

BOOST_AUTO_TEST_SUITE_END()
