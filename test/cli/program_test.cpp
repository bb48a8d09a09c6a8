// SPDX-License-Identifier: Apache-2.0
#include "fake_service.hpp"
#include "scratch_folder.hpp"
#include <atelier/core/image/codec.hpp>
#include <atelier/runtime/cli/program.hpp>
#include <atelier/training/program/evaluate_command.hpp>
#include <atelier/training/program/train_command.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

/// Lends one fake service to a program that owns its service.
class lent_service : public service {
public:
  explicit lent_service(test::fake_service& x) : lender_(x) {}

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override {
    return lender_.submit(wanted, std::move(calls));
  }

  bool cancel(uint64_t request) override {
    return lender_.cancel(request);
  }

  bool stop(std::chrono::nanoseconds grace) override {
    return lender_.stop(grace);
  }

private:
  test::fake_service& lender_;
};

struct fixture : test::scratch_folder {
  exit_status run(std::vector<std::string> arguments) {
    out.str("");
    err.str("");
    return run_program(arguments, world);
  }

  std::vector<std::string> prompts() const {
    std::vector<std::string> result;
    for (const auto& x : makes.handed_in)
      result.push_back(x.prompt);
    return result;
  }

  test::fake_service makes;
  test::fake_interruption interrupted;
  engine_options started_with;
  std::optional<failure> start_failure;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  environment world{{in, out, err, 0},
                    interrupted,
                    [this](const engine_options& options) -> started_service {
                      started_with = options;
                      if (start_failure)
                        return *start_failure;
                      return std::make_unique<lent_service>(makes);
                    },
                    "1.2.3",
                    [] { return uint64_t{7}; },
                    {train, evaluate, {}, {}}};
};

using words = std::vector<std::string>;

} // namespace

BOOST_FIXTURE_TEST_SUITE(program_test, fixture)

BOOST_AUTO_TEST_CASE(no_argument_prints_one_example) {
  BOOST_TEST((run({}) == exit_status::done));
  BOOST_TEST(out.str().find("atelier generate \"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(version_and_help_go_to_standard_output) {
  BOOST_TEST((run({"--version"}) == exit_status::done));
  BOOST_TEST(out.str() == "atelier 1.2.3\n");
  BOOST_TEST((run({"generate", "--version"}) == exit_status::done));
  BOOST_TEST(out.str() == "atelier 1.2.3\n");
  BOOST_TEST((run({"--help"}) == exit_status::done));
  for (const auto* command : {"generate", "edit", "models", "cache", "config",
                              "doctor", "completion"})
    BOOST_TEST(out.str().find(command) != std::string::npos, command);
  BOOST_TEST((run({"generate", "--help"}) == exit_status::done));
  BOOST_TEST(out.str().find("PROMPT...") != std::string::npos);
  BOOST_TEST(out.str().find("--deadline-ms") != std::string::npos);
  BOOST_TEST(err.str() == "");
}

BOOST_AUTO_TEST_CASE(the_version_says_whether_the_program_is_a_quick_build) {
  for (const bool quick : {false, true}) {
    world.quick_build = quick;
    BOOST_TEST((run({"--version"}) == exit_status::done));
    BOOST_TEST(out.str()
               == (quick
                     ? "atelier 1.2.3 (quick build: slower than a release)\n"
                     : "atelier 1.2.3\n"));
    for (const words& asked : {words{"--version", "--json"},
                               words{"--json", "bench", "--version"}}) {
      BOOST_TEST((run(asked) == exit_status::done));
      BOOST_TEST(out.str()
                 == (quick
                       ? "{\"version\":\"1.2.3\",\"quick_build\":true}\n"
                       : "{\"version\":\"1.2.3\",\"quick_build\":false}\n"));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_edit_takes_an_image_a_mask_and_prompts) {
  const std::vector<uint8_t> pixels(8 * 8 * 3, 70);
  const auto file = *image::encode({{8, 8}, 3, pixels}, {});
  write("a.png", {file.begin(), file.end()});
  const auto a = (path / "a.png").string();
  const auto out_dir = (path / "out").string();
  BOOST_TEST((run({"edit", a, "--mask", a, "a hat", "a cap", "-o", out_dir,
                   "--strength", "0.5", "--karras"})
              == exit_status::done));
  BOOST_TEST((prompts() == words{"a hat", "a cap"}));
  for (const auto& x : makes.handed_in) {
    BOOST_TEST(x.image == file);
    BOOST_TEST(x.mask == file);
    BOOST_TEST((x.strength == 0.5f));
    BOOST_TEST((x.karras == true));
  }
  makes.handed_in.clear();
  const auto refused = [&](std::vector<std::string> arguments,
                           const std::string& says) {
    const auto status = run(std::move(arguments));
    BOOST_TEST((status == exit_status::bad_input));
    BOOST_TEST(err.str().find(says) != std::string::npos, err.str());
  };
  refused({"edit"}, "IMAGE is missing");
  refused({"edit", a, "a"}, "--mask is missing");
  refused({"edit", a, "--mask", a}, "PROMPT is missing");
  refused({"edit", a, "--mask", a}, "IMAGE --mask MASK PROMPT...");
  refused({"edit", a, "--mask", a, "b", "--init", a}, "--init");
  refused({"generate", "b", "--mask", a}, "--mask");
  refused({"edit", "no.png", "--mask", a, "b"}, "IMAGE: cannot read 'no.png'");
  BOOST_TEST(makes.handed_in.empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_cannot_be_is_refused_before_it_starts) {
  const auto refused = [&](std::vector<std::string> arguments,
                           const std::string& says) {
    arguments.insert(arguments.begin(), "serve");
    const auto status = run(std::move(arguments));
    BOOST_TEST((status == exit_status::bad_input));
    BOOST_TEST(err.str().find(says) != std::string::npos, err.str());
  };
  refused({"a"}, "serve takes no argument");
  refused({"--listen", "here"}, "atelier: --listen: 'here' is not HOST:PORT");
  refused({"--listen", "7861x"}, "--listen: '7861x'");
  refused({"--device", "gpu"}, "atelier: --device: the text \"gpu\" is not ");
  refused({"--listen", "0.0.0.0:0"}, "http.keys");
  refused({"--processes", "many"}, "--processes: 'many'");
  refused({"--policy", "none", "--listen", "127.0.0.1:0"}, "'none'");
  refused({"--set", "http.keys=/nonexistent"}, "/nonexistent");
  refused({"--set", "http.threads=0", "--set", "arena.image_slots=x"},
          "arena.image_slots");
  BOOST_TEST(err.str().find("http.threads") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_told) {
  const auto data = (path / "data").string();
  BOOST_TEST((run({"status", "--data", data}) == exit_status::not_there));
  BOOST_TEST(err.str().find("no server runs") != std::string::npos);
  BOOST_TEST((run({"stop", "--data", data}) == exit_status::not_there));
  BOOST_TEST((run({"status", "--server", "http://127.0.0.1:1"})
              == exit_status::not_there));
  BOOST_TEST((run({"status", "--server", "here"}) == exit_status::bad_input));
  BOOST_TEST((run({"stop", "a"}) == exit_status::bad_input));
}

BOOST_AUTO_TEST_CASE(jobs_that_cannot_be_meant_are_refused) {
  const auto refused = [&](std::vector<std::string> arguments,
                           const std::string& says) {
    arguments.insert(arguments.begin(), "jobs");
    // The command fails before it asks the server.
    arguments.insert(arguments.end(), {"--server", "http://127.0.0.1:1"});
    const auto status = run(std::move(arguments));
    BOOST_TEST((status == exit_status::bad_input));
    BOOST_TEST(err.str().find(says) != std::string::npos, err.str());
  };
  refused({"stop"}, "'stop' is not list or cancel");
  refused({"cancel"}, "jobs cancel: 0 jobs named, 1 allowed");
  refused({"cancel", "a", "b"}, "jobs cancel: 2 jobs named, 1 allowed");
  refused({"list", "a"}, "jobs list: 1 jobs named, 0 allowed");
  refused({"--image", "0"}, "--image: '0' is for 'cancel', not for 'list'");
  refused({"cancel", "a/b"}, "ID: 'a/b' is not 1..128 of [A-Za-z0-9_.()-]");
  refused({"cancel", ""}, "ID: ''");
  refused({"cancel", "a", "--image", "x"}, "--image: 'x'");
  refused({"cancel", "a", "--image", "-1"}, "--image: '-1'");
  BOOST_TEST((run({"jobs", "--server", "http://127.0.0.1:1"})
              == exit_status::not_there));
  BOOST_TEST((run({"jobs", "--data", (path / "data").string()})
              == exit_status::not_there));
}

BOOST_AUTO_TEST_CASE(unknown_words_get_a_suggestion) {
  BOOST_TEST((run({"generat", "a"}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("unknown command 'generat'; the nearest is "
                            "'generate'")
             != std::string::npos);
  BOOST_TEST((run({"generate", "a", "--sede", "5"}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("unknown option '--sede'; the nearest is '--seed'")
             != std::string::npos);
  // Whatever is far from every option gets none.
  for (const char* far : {"-x", "--nothing-like-it"}) {
    err.str("");
    BOOST_TEST((run({"generate", "a", far}) == exit_status::bad_input));
    BOOST_TEST(err.str().find("unknown option") != std::string::npos,
               err.str());
    BOOST_TEST(err.str().find("nearest") == std::string::npos, err.str());
  }
  BOOST_TEST((run({"doctor", "a"}) == exit_status::bad_input));
  BOOST_TEST((run({"--json"}) == exit_status::bad_input));
  BOOST_TEST(makes.handed_in.empty());
}

BOOST_AUTO_TEST_CASE(no_suggestion_ends_a_server) {
  for (const auto* word : {"stp", "stopp", "Stop", "halp"}) {
    BOOST_TEST((run({word}) == exit_status::bad_input));
    BOOST_TEST(err.str().find("nearest is 'stop'") == std::string::npos, word);
  }
  BOOST_TEST((run({"draw"}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("nearest") == std::string::npos, err.str());
}

BOOST_AUTO_TEST_CASE(the_first_word_is_the_command) {
  for (const auto& arguments :
       {words{"foo", "generate", "a"},
        {"foo", "bar", "generate", "a"},
        {"--json", "foo", "generate", "a"},
        {"--set", "limits.steps=30", "foo", "generate", "a"},
        {"--set=limits.steps=30", "foo", "generate", "a"},
        {"foo", "generate", "--help"},
        {"-", "generate", "a"}}) {
    const auto status = run(arguments);
    BOOST_TEST((status == exit_status::bad_input));
    const auto stray = arguments.front() == "-" ? "'-'" : "'foo'";
    BOOST_TEST(err.str().find(std::string{"unknown command "} + stray)
                 != std::string::npos,
               err.str());
    BOOST_TEST(out.str() == "");
  }
  BOOST_TEST(makes.handed_in.empty());
  // The value of an option does not count as a word.
  BOOST_TEST((run({"--log", "off", "generate", "a", "-o", path.string()})
              == exit_status::done),
             err.str());
}

BOOST_AUTO_TEST_CASE(help_is_a_command) {
  BOOST_TEST((run({"--help"}) == exit_status::done));
  const auto all = out.str();
  BOOST_TEST((run({"help"}) == exit_status::done));
  BOOST_TEST(out.str() == all);
  for (const auto* command :
       {"generate", "edit", "serve", "status", "stop", "jobs", "models",
        "config", "doctor", "profile", "plan", "simulate", "bench", "topology",
        "train", "evaluate", "completion", "help"}) {
    BOOST_TEST((run({command, "--help"}) == exit_status::done));
    const auto own = out.str();
    BOOST_TEST((run({"help", command}) == exit_status::done));
    BOOST_TEST(out.str() == own);
    // The help contains two examples of this command, and the meaning of its
    // statuses.
    const auto examples =
      own.substr(std::min(own.find("\nExamples:\n"), own.size()));
    size_t found = 0;
    for (size_t at = 0;
         (at = examples.find("atelier ", at)) != std::string::npos; ++at)
      if (examples.compare(at + 8, std::strlen(command), command) == 0)
        ++found;
    BOOST_TEST(found >= 2u, command << examples);
    BOOST_TEST(examples.find("\nExit status:\n  0 ") != std::string::npos,
               command);
  }
  BOOST_TEST((run({"help", "generat"}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("the nearest is 'generate'") != std::string::npos);
  BOOST_TEST((run({"help", "a", "b"}) == exit_status::bad_input));
  BOOST_TEST(makes.handed_in.empty());
}

BOOST_AUTO_TEST_CASE(long_helps_are_grouped) {
  const std::pair<const char*, words> all[] = {
    {"generate", {"Image:", "Output:", "Where it runs:", "Expert:"}},
    {"edit", {"Image:", "Output:", "Where it runs:", "Expert:"}},
    {"bench", {"Load:", "Output:", "Where it runs:", "Expert:"}},
    {"simulate", {"Load:", "Policies and devices:", "Output:", "Expert:"}},
    {"plan", {"Demand and devices:", "Output:"}},
    {"models", {"Import:", "Check:", "Show, import and check:"}}};
  for (const auto& [command, groups] : all) {
    BOOST_TEST((run({command, "--help"}) == exit_status::done));
    size_t last = 0;
    for (const auto& group : groups) {
      const auto at = out.str().find("\n" + group + "\n");
      BOOST_TEST_REQUIRE(at != std::string::npos, command << " " << group);
      BOOST_TEST(at > last);
      last = at;
    }
    BOOST_TEST(out.str().find("\nOptions:\n") == std::string::npos, command);
    BOOST_TEST(out.str().find("\n\n\n") == std::string::npos, command);
  }
  BOOST_TEST((run({"generate", "--help"}) == exit_status::done));
  BOOST_TEST(out.str().find("for all prompts of") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_has_no_effect_is_told) {
  const auto to = path.string();
  BOOST_TEST(
    (run({"generate", "a", "--quality", "50", "-o", to}) == exit_status::done));
  BOOST_TEST(err.str().starts_with("atelier: --quality: 50 has no effect on "
                                   "PNG"),
             err.str());
  BOOST_TEST(
    (run({"generate", "a", "--quality", "50", "-o", to, "--format", "webp"})
     == exit_status::done));
  BOOST_TEST(err.str().find("--quality") == std::string::npos);
  BOOST_TEST((run({"generate", "", "a", " ", "-o", to, "--force"})
              == exit_status::done));
  BOOST_TEST(err.str().starts_with("atelier: PROMPT: 2 are empty"), err.str());
  BOOST_TEST((run({"generate", "", "-o", to, "--force"}) == exit_status::done));
  BOOST_TEST(err.str().starts_with("atelier: PROMPT: one is empty"), err.str());
}

BOOST_AUTO_TEST_CASE(what_goes_with_a_server_needs_one) {
  for (const auto& arguments :
       {words{"generate", "a", "--cacert", "x"},
        {"edit", "a", "--mask", "a", "b", "--cacert", "x"},
        {"status", "--cacert", "x"},
        {"jobs", "--cacert", "x"},
        {"bench", "serve", "--rate", "1", "--cacert", "x"},
        {"bench", "serve", "--rate", "1", "--key", "x"},
        {"bench", "serve", "--rate", "1", "--connections", "3"}}) {
    BOOST_TEST((run(arguments) == exit_status::bad_input));
    BOOST_TEST(err.str().find("it has no effect without --server")
                 != std::string::npos,
               err.str());
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_policy_gets_a_list_that_can_be_read) {
  BOOST_TEST(
    (run({"generate", "a", "--policy", "nosuch"}) == exit_status::bad_input));
  std::istringstream lines{err.str()};
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    BOOST_TEST(line.size() <= 80u, line);
  BOOST_TEST(count > 5u);
  BOOST_TEST(
    err.str().starts_with("atelier: --policy: unknown policy "
                          "'nosuch'; known policies are\n  atelier, argus, "
                          "diffserve, instgenie, modm, nirvana, fixed, "
                          "vanilla\n  as published: argus-paper, "),
    err.str());
  BOOST_TEST(err.str().find("\n  baselines: ") != std::string::npos);
  BOOST_TEST(err.str().find("\n  ablations: ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_missing_word_is_told_as_missing) {
  BOOST_TEST((run({"completion"}) == exit_status::bad_input));
  BOOST_TEST(err.str().starts_with("atelier: SHELL is missing: bash, zsh or"),
             err.str());
  BOOST_TEST((run({"topology"}) == exit_status::bad_input));
  BOOST_TEST(err.str().starts_with("atelier: FILE is missing"), err.str());
  BOOST_TEST((run({"train"}) == exit_status::bad_input));
  BOOST_TEST(err.str().starts_with("atelier: PART is missing: vae, "),
             err.str());
}

BOOST_AUTO_TEST_CASE(a_missing_prompt_prints_the_usage) {
  BOOST_TEST((run({"generate"}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("PROMPT is missing") != std::string::npos);
  BOOST_TEST(err.str().find("Usage: atelier generate") != std::string::npos);
  BOOST_TEST((run({"generate", "--"}) == exit_status::bad_input));
}

BOOST_AUTO_TEST_CASE(every_prompt_reaches_the_engine_as_it_stands) {
  const words odd = {"",     "[a, b]",    "{}", "generate", "doctor", "a=b",
                     "a,b ", "\u00e9 \n", "-",  "/x",       "%",      "'\""};
  words arguments = {"generate", "-o", path.string()};
  arguments.insert(arguments.end(), odd.begin(), odd.end());
  BOOST_TEST((run(arguments) == exit_status::done), err.str());
  BOOST_TEST(prompts() == odd, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(behind_the_mark_stand_prompts_only) {
  BOOST_TEST(
    (run({"generate", "a", "-o", path.string(), "--", "--seed", "++", "--"})
     == exit_status::done));
  BOOST_TEST((prompts() == words{"a", "--seed", "++", "--"}));
}

BOOST_AUTO_TEST_CASE(an_empty_value_is_a_value) {
  BOOST_TEST((run({"generate", "a", "--seed", ""}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("--seed: ''") != std::string::npos);
  BOOST_TEST((run({"generate", "a", "-o", ""}) == exit_status::bad_input));
}

BOOST_AUTO_TEST_CASE(values_may_begin_with_a_dash) {
  BOOST_TEST(
    (run({"generate", "a", "--guidance", "-1"}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("--guidance: '-1' is not a number in 0..50")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(common_options_stand_before_or_behind_the_command) {
  BOOST_TEST((run({"--set", "limits.steps=30", "--json", "generate", "a", "-o",
                   path.string()})
              == exit_status::done));
  BOOST_TEST((started_with.set == words{"limits.steps=30"}));
  BOOST_TEST(out.str().starts_with("{\"path\""));
  BOOST_TEST(
    (run({"generate", "--set", "limits.steps=30", "--set", "log.level=info",
          "b", "-o", path.string(), "--force", "--log", "off"})
     == exit_status::done));
  BOOST_TEST(
    (started_with.set
     == words{"limits.steps=30", "log.level=info", "log.level=\"off\""}));
}

BOOST_AUTO_TEST_CASE(repeated_options_are_refused) {
  BOOST_TEST((run({"generate", "a", "--seed", "1", "--seed", "2"})
              == exit_status::bad_input));
  BOOST_TEST(err.str().find("--seed") != std::string::npos);
  BOOST_TEST((run({"generate", "a", "--seed"}) == exit_status::bad_input));
}

BOOST_AUTO_TEST_CASE(an_engine_that_does_not_start_is_told) {
  start_failure = failure{"unavailable", "cuda:0 is not there", {}};
  BOOST_TEST((run({"generate", "a", "-o", (path / "new").string()})
              == exit_status::not_there));
  BOOST_TEST(err.str() == "atelier: cuda:0 is not there\n");
  BOOST_TEST(names().empty());
}

BOOST_AUTO_TEST_CASE(the_service_is_stopped_at_the_end) {
  BOOST_TEST(
    (run({"generate", "a", "-o", path.string()}) == exit_status::done));
  BOOST_TEST(makes.stops == 1);
}

BOOST_AUTO_TEST_CASE(the_configuration_is_printed_as_it_is_read) {
  BOOST_TEST(
    (run({"config", "--set", "limits.steps=30"}) == exit_status::done));
  BOOST_TEST(out.str().find("steps = 30") != std::string::npos);
  BOOST_TEST((run({"config", "--example"}) == exit_status::done));
  BOOST_TEST(out.str().find('#') != std::string::npos);
  BOOST_TEST(
    (run({"config", "--set", "limits.stpes=9"}) == exit_status::bad_input));
}

BOOST_AUTO_TEST_SUITE_END()
