// SPDX-License-Identifier: Apache-2.0
#include "fake_service.hpp"
#include <atelier/runtime/cli/draw_list.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::runtime::cli;
using numbers = std::vector<uint64_t>;

namespace {

/// A service that counts how often it is asked to keep the work so far.
struct settling_service : test::fake_service {
  bool settle(std::chrono::nanoseconds) override {
    BOOST_TEST(waiting.empty());
    settled_after.push_back(handed_in.size());
    return true;
  }

  std::vector<size_t> settled_after;
};

/// A list of four requests with the seeds 0 to 3.
struct fixture {
  fixture() {
    wanted.count = 4;
    wanted.request = [](uint64_t index) {
      generation x;
      x.prompt = "p" + std::to_string(index);
      x.seed = index;
      return x;
    };
    wanted.name = [](uint64_t index) { return "no. " + std::to_string(index); };
    wanted.drawn = [this](uint64_t index, const generated_image& x) {
      drawn.push_back(index);
      prompts.push_back(x.prompt);
      if (when_drawn)
        when_drawn();
    };
    pace.grace = std::chrono::hours{1};
  }

  exit_status run() {
    list =
      std::make_unique<draw_list>(wanted, pace, makes, interrupted, terminal);
    return list->run();
  }

  wanted_images wanted;
  draw_pace pace;
  settling_service makes;
  test::fake_interruption interrupted;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  console terminal{in, out, err, 0};
  numbers drawn;
  std::vector<std::string> prompts;
  std::function<void()> when_drawn;
  std::unique_ptr<draw_list> list;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(draw_list_test, fixture)

BOOST_AUTO_TEST_CASE(every_request_is_drawn_once_and_in_order) {
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST((drawn == numbers{0, 1, 2, 3}));
  BOOST_TEST(prompts[3] == "p3");
  BOOST_TEST(makes.settled_after.empty());
  BOOST_TEST(err.str() == "");
}

BOOST_AUTO_TEST_CASE(empty_list_is_done) {
  wanted.count = 0;
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST(makes.handed_in.empty());
}

BOOST_AUTO_TEST_CASE(next_batch_waits_until_the_work_of_the_last_is_kept) {
  wanted.count = 5;
  pace.window = 2;
  pace.batch = 2;
  makes.at_once = false;
  makes.fullest = 2;
  // The last request is alone.
  makes.refuse = [this](const generation&, size_t) {
    makes.at_once = makes.handed_in.size() == 4;
    return std::optional<failure>{};
  };
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST((makes.settled_after == std::vector<size_t>{2, 4}));
  BOOST_TEST(drawn.size() == 5u);
}

BOOST_AUTO_TEST_CASE(only_the_used_part_of_an_image_is_passed_on) {
  wanted.used_part = [](const generated_image& x) {
    generated_image part;
    part.prompt = "part of " + x.prompt;
    return part;
  };
  BOOST_TEST((run() == exit_status::done));
  BOOST_TEST(prompts[1] == "part of p1");
}

BOOST_AUTO_TEST_CASE(failures_are_named_and_the_lowest_index_counts) {
  makes.at_once = false;
  makes.fullest = 4;
  pace.window = 4;
  makes.decide = [](const generation& x) -> answer {
    if (*x.seed == 1)
      return failure{"not_found", "no such model", {}};
    if (*x.seed == 2)
      return failure{"poison", "twice", {}};
    return test::fake_service::make_image(x);
  };
  BOOST_TEST((run() == exit_status::not_there));
  BOOST_TEST((drawn == numbers{0, 3}));
  BOOST_TEST(err.str()
             == "atelier: no. 1: not_found: no such model\n"
                "atelier: no. 2: poison: twice\n");
}

BOOST_AUTO_TEST_CASE(list_that_its_caller_ends_is_not_interrupted) {
  makes.at_once = false;
  makes.fullest = 2;
  pace.window = 2;
  when_drawn = [this] {
    list->note_failure(drawn.back(), exit_status::failed);
    list->stop_early();
    BOOST_TEST(list->stopped());
  };
  BOOST_TEST((run() == exit_status::failed));
  // Both images of the window were drawn already.
  BOOST_TEST((drawn == numbers{0, 1}));
  BOOST_TEST(makes.handed_in.size() == 2u);
}

BOOST_AUTO_TEST_CASE(request_to_stop_cancels_what_runs_without_a_report) {
  makes.at_once = false;
  pace.window = 2;
  makes.refuse = [this](const generation&, size_t waiting) {
    if (waiting == 1)
      interrupted.wish();
    return std::optional<failure>{};
  };
  BOOST_TEST((run() == exit_status::interrupted));
  BOOST_TEST((makes.cancelled == numbers{1, 2}));
  BOOST_TEST(drawn.empty());
  BOOST_TEST(err.str() == "");
}

BOOST_AUTO_TEST_SUITE_END()
