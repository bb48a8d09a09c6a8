// SPDX-License-Identifier: Apache-2.0
#include "fake_service.hpp"
#include "scratch_folder.hpp"
#include <atelier/runtime/cli/generate_run.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <sstream>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

struct fixture : test::scratch_folder {
  fixture() {
    plan.prompts = {"a", "b"};
    plan.count = 2;
    plan.seed = 5;
    plan.output = {output_target::kind::folder, path, "png"};
    plan.window = 3;
    plan.grace = std::chrono::hours{1};
  }

  exit_status run() {
    return generate_run{plan, makes, interrupted, terminal}.run();
  }

  std::set<std::string> every_name() const {
    return {"00000-5.png", "00001-6.png", "00002-5.png", "00003-6.png"};
  }

  generate_plan plan;
  test::fake_service makes;
  test::fake_interruption interrupted;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  console terminal{in, out, err, 0};
};

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(generate_run_test, fixture)

BOOST_AUTO_TEST_CASE(each_prompt_takes_the_seeds_from_the_first) {
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST((names() == every_name()));
  BOOST_TEST(read("00001-6.png") == "a");
  BOOST_TEST(read("00002-5.png") == "b");
  BOOST_TEST(out.str() == "");
  BOOST_TEST(lines_of(err.str()) == 4u);
}

BOOST_AUTO_TEST_CASE(only_the_first_image_of_a_prompt_may_come_from_a_cache) {
  const auto uses = [this](std::optional<std::string> said, bool drawn) {
    plan.common.cache = std::move(said);
    plan.common.seed_drawn = drawn;
    plan.existing = on_existing::replace;
    makes.handed_in.clear();
    BOOST_TEST((run() == exit_status::done));
    BOOST_TEST_REQUIRE(makes.handed_in.size() == 4u);
    return makes.handed_in;
  };
  for (const bool drawn : {false, true}) {
    const auto all = uses("on", drawn);
    for (const size_t first : {0u, 2u}) {
      BOOST_TEST(all[first].cache.value() == "on");
      BOOST_TEST(all[first + 1].cache.value() == "write");
    }
    BOOST_TEST(uses("read", drawn)[1].cache.value() == "off");
  }
  // Without a word of the client, a drawn seed reads the cache.
  const auto all = uses({}, true);
  for (const size_t i : {0u, 1u, 2u, 3u}) {
    BOOST_TEST(!all[i].cache);
    BOOST_TEST(all[i].seed_drawn == (i % 2 == 0));
  }
}

BOOST_AUTO_TEST_CASE(json_is_one_object_a_line_and_nothing_else) {
  plan.json = true;
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST(lines_of(out.str()) == 4u);
  BOOST_TEST(err.str() == "");
}

BOOST_AUTO_TEST_CASE(what_is_to_be_known_is_told_beside_the_image) {
  makes.decide = [](const generation& x) -> answer {
    auto made = test::fake_service::make_image(x);
    made.notes = {{"unknown_word", "prompt: 'cat' is not known"}};
    if (x.seed == 6)
      made.notes.push_back({"prompt_cut", "prompt: cut by 3 tokens"});
    return made;
  };
  BOOST_TEST((run() == exit_status::done));
  // Each image has a line, and each note is printed once.
  BOOST_TEST(lines_of(err.str()) == 6u, err.str());
  BOOST_TEST(err.str().find("note: prompt: 'cat' is not known\n")
             != std::string::npos);
  BOOST_TEST(err.str().find("note: prompt: cut by 3 tokens\n")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(steps_that_were_left_out_are_told) {
  plan.count = 1;
  makes.decide = [](const generation& x) -> answer {
    auto made = test::fake_service::make_image(x);
    made.strength = 0.35f;
    return made;
  };
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST(err.str().find("  7 of 20 steps  ") != std::string::npos,
             err.str());
}

BOOST_AUTO_TEST_CASE(steps_that_ran_are_told_whatever_the_sampler_could_run) {
  plan.count = 1;
  makes.decide = [](const generation& x) -> answer {
    auto made = test::fake_service::make_image(x);
    made.sampler = "lcm";
    made.strength = 0.5f;
    made.steps = 8;
    made.steps_run = 4;
    return made;
  };
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST(err.str().find("  4 of 8 steps  ") != std::string::npos,
             err.str());
}

BOOST_AUTO_TEST_CASE(never_more_than_the_window_is_handed_in) {
  plan.count = 51;
  makes.at_once = false;
  makes.fullest = plan.window;
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST(makes.handed_in.size() == 102u);
  BOOST_TEST(makes.most_waiting == 3u);
}

BOOST_AUTO_TEST_CASE(a_failure_does_not_stop_the_others) {
  makes.decide = [](const generation& x) -> answer {
    if (x.seed == 6)
      return failure{x.prompt == "a" ? "deadline_missed" : "poison", "why", {}};
    return test::fake_service::make_image(x);
  };
  BOOST_TEST((run() == exit_status::refused));
  BOOST_TEST((names() == std::set<std::string>{"00000-5.png", "00002-5.png"}));
  BOOST_TEST(err.str().find("image 2 of 4 (prompt 'a', seed 6): "
                            "deadline_missed: why")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_refusal_at_the_door_is_a_failure_of_one) {
  makes.refuse = [](const generation& x, size_t) -> std::optional<failure> {
    if (x.prompt == "a")
      return failure{"not_found", "no such model", {}};
    return std::nullopt;
  };
  BOOST_TEST((run() == exit_status::not_there));
  BOOST_TEST((names() == std::set<std::string>{"00002-5.png", "00003-6.png"}));
}

BOOST_AUTO_TEST_CASE(a_full_service_is_asked_again_after_an_answer) {
  int refusals = 0;
  makes.at_once = false;
  makes.refuse = [&](const generation&,
                     size_t waiting) -> std::optional<failure> {
    // The last request is by itself, and no later one triggers its answer.
    makes.at_once = makes.handed_in.size() == 3;
    if (waiting == 0)
      return std::nullopt;
    ++refusals;
    makes.answer_one();
    return failure{"overloaded", "full", {}};
  };
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST(refusals == 3);
  BOOST_TEST((names() == every_name()));
}

BOOST_AUTO_TEST_CASE(a_full_service_with_nothing_running_refuses) {
  makes.refuse = [](const generation&, size_t) -> std::optional<failure> {
    return failure{"overloaded", "full", {}};
  };
  BOOST_TEST((run() == exit_status::refused));
  BOOST_TEST(names().empty());
}

BOOST_AUTO_TEST_CASE(a_wish_to_stop_takes_back_what_runs) {
  makes.at_once = false;
  makes.refuse = [this](const generation&, size_t waiting) {
    if (waiting == 1)
      interrupted.wish();
    return std::nullopt;
  };
  BOOST_TEST((run() == exit_status::interrupted));
  BOOST_TEST(makes.handed_in.size() == 2u);
  BOOST_TEST((makes.cancelled == std::vector<uint64_t>{1, 2}));
  BOOST_TEST(names().empty());
  BOOST_TEST(err.str() == "");
}

BOOST_AUTO_TEST_CASE(a_wish_before_the_start_hands_in_nothing) {
  interrupted.wish();
  BOOST_TEST((run() == exit_status::interrupted));
  BOOST_TEST(makes.handed_in.empty());
}

BOOST_AUTO_TEST_CASE(a_second_wish_waits_for_nothing) {
  class deaf : public test::fake_service {
    bool cancel(uint64_t) override {
      return true;
    }
  } silent;

  silent.at_once = false;
  interrupted.wishes = 0;
  silent.refuse = [this](const generation&, size_t waiting) {
    if (waiting == 1) {
      interrupted.wish();
      interrupted.wish();
    }
    return std::nullopt;
  };
  const auto status = generate_run{plan, silent, interrupted, terminal}.run();
  BOOST_TEST((status == exit_status::interrupted));
}

BOOST_AUTO_TEST_CASE(a_name_taken_meanwhile_is_kept) {
  write("00001-6.png", "mine");
  BOOST_TEST((run() == exit_status::failed));
  BOOST_TEST((names() == every_name()));
  BOOST_TEST(read("00001-6.png") == "mine");
}

BOOST_AUTO_TEST_CASE(no_place_to_write_stops_all) {
  write("in-the-way", "");
  plan.output.path = path / "in-the-way";
  plan.window = 1;
  BOOST_TEST((run() == exit_status::failed));
  BOOST_TEST(makes.handed_in.size() == 1u);
  BOOST_TEST(err.str().find("in-the-way") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_output_that_nobody_reads_stops_all) {
  plan.json = true;
  plan.window = 1;
  out.setstate(std::ios::badbit);
  BOOST_TEST((run() == exit_status::failed));
  BOOST_TEST(makes.handed_in.size() == 1u);
  BOOST_TEST(err.str() == "atelier: cannot write to standard output\n");
}

BOOST_AUTO_TEST_SUITE_END()
