// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/classify.hpp>
#include <atelier/core/log.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

using namespace atelier;
using namespace std::chrono_literals;
using actors::classify_stage;
using core::ec;
using planning::ladder_kind;

namespace {

using numbers = std::vector<uint32_t>;
using loading = core::result<std::shared_ptr<const gpu::prompt_classifier>>;

/// Predicts the scripted levels for every prompt, and records the prompts.
struct fake_classifier final : gpu::prompt_classifier {
  const std::vector<std::string>& levels() const override {
    return names;
  }

  core::result<std::vector<float>> qualities(
    std::string_view prompt) const override {
    inside = inside + 1;
    most = std::max(most, inside);
    asked.emplace_back(prompt);
    std::this_thread::yield();
    inside = inside - 1;
    if (fails)
      return core::fail(ec::internal, "no numbers today");
    return expected;
  }

  std::vector<std::string> names{"base@50", "base@20", "small@20", "tiny@20"};
  std::vector<float> expected{0.8f, 0.8f, 0.75f, 0.4f};
  bool fails = false;
  // Callers ask one at a time, which guards these members.
  mutable std::vector<std::string> asked;
  mutable int inside = 0;
  mutable int most = 0;
};

planning::ladder_profile ladder_of(
  ladder_kind kind, std::vector<std::pair<uint32_t, uint32_t>> levels) {
  planning::ladder_profile out;
  out.kind = kind;
  for (const auto& [variant, skip] : levels) {
    auto& x = out.levels.emplace_back();
    x.variant = core::variant_id{variant};
    x.skip = skip;
  }
  return out;
}

struct fixture {
  fixture() {
    for (const auto* name :
         {"base@50", "base@20", "small@20", "tiny@20", "mine@30"}) {
      auto& v = costs.variants.emplace_back();
      v.name = name;
    }
    costs.ladders = {
      ladder_of(ladder_kind::cached_latents, {{0, 0}, {0, 10}, {0, 20}}),
      ladder_of(ladder_kind::smaller_models, {{0, 0}, {1, 0}, {2, 0}, {3, 0}})};
    wanted.text = {"a red circle", "a blue one"};
    asked.tolerated = true;
  }

  classify_stage stage() {
    return {[this]() -> loading {
              ++loads;
              return std::shared_ptr<const gpu::prompt_classifier>{classifier};
            },
            200ms, 0.25};
  }

  std::optional<classify_stage::work> begin(const classify_stage& x) {
    return x.begin({wanted, known, costs, asked});
  }

  core::result<classify_stage::done> run(const classify_stage& x) {
    const auto order = begin(x);
    BOOST_REQUIRE(order.has_value());
    return x.run(*order, here);
  }

  numbers tolerated() {
    const auto sut = stage();
    const auto found = run(sut);
    BOOST_REQUIRE_MESSAGE(found, (found ? "" : found.why().text));
    return found->tolerated;
  }

  std::shared_ptr<fake_classifier> classifier =
    std::make_shared<fake_classifier>();
  int loads = 0;
  core::request wanted;
  planning::facts known;
  planning::profile costs;
  planning::need asked;
  ipc::heap_store slots{1, {1, 1, 0}};
  std::vector<core::note> notes;
  planning::worker_context here{
    slots, {}, {}, [] { return core::time_point{}; }, notes};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(classify_stage_test, fixture)

BOOST_AUTO_TEST_CASE(its_row_is_that_of_a_fact_without_slots) {
  const auto sut = stage();
  const auto& row = sut.row();
  BOOST_TEST(row.name == "classify");
  BOOST_CHECK(row.place == planning::place::cpu_pool);
  BOOST_CHECK(row.hook == planning::hook::before_route);
  BOOST_CHECK(row.otherwise == planning::if_failed::go_on);
  BOOST_TEST(row.slots.empty());
  BOOST_CHECK(row.budget == 200ms);
  BOOST_TEST(row.budget_share == 0.25);
  BOOST_CHECK(sut.takes({}, costs) > 0ms);
}

BOOST_AUTO_TEST_CASE(it_has_an_order_where_levels_are_asked_for) {
  const auto sut = stage();
  const auto order = begin(sut);
  BOOST_REQUIRE(order.has_value());
  BOOST_TEST(order->text == "a red circle");
  BOOST_REQUIRE(order->ladders.size() == 2u);
  BOOST_TEST(order->ladders[0].levels[2].variant == "base@50");
  BOOST_TEST(order->ladders[0].levels[2].skip == 20u);
  BOOST_TEST(order->ladders[1].levels[2].variant == "small@20");
  asked.tolerated = false;
  BOOST_TEST(!begin(sut).has_value());
  asked.tolerated = true;
  costs.ladders.clear();
  BOOST_TEST(!begin(sut).has_value());
  BOOST_TEST(loads == 0);
}

BOOST_AUTO_TEST_CASE(without_a_loader_there_is_no_order) {
  const classify_stage sut{{}, 1s, 1};
  BOOST_TEST(!begin(sut).has_value());
}

BOOST_AUTO_TEST_CASE(the_fastest_level_that_keeps_the_quality_is_tolerated) {
  BOOST_TEST(tolerated() == (numbers{0, 2}));
  BOOST_TEST(classifier->asked == std::vector<std::string>{"a red circle"});
  classifier->expected = {0.8f, 0.7f, 0.6f, 0.73f};
  BOOST_TEST(tolerated() == (numbers{0, 3}));
  classifier->expected = {0.8f, 0.7f, 0.6f, 0.5f};
  BOOST_TEST(tolerated() == (numbers{0, 0}));
}

BOOST_AUTO_TEST_CASE(levels_that_leave_out_steps_are_not_tolerated) {
  costs.ladders = {
    ladder_of(ladder_kind::cached_latents, {{0, 0}, {1, 0}, {1, 5}, {2, 5}})};
  BOOST_TEST(tolerated() == numbers{1});
}

BOOST_AUTO_TEST_CASE(
  levels_of_variants_that_it_does_not_know_are_not_tolerated) {
  costs.ladders = {
    ladder_of(ladder_kind::smaller_models, {{0, 0}, {1, 0}, {4, 0}})};
  BOOST_TEST(tolerated() == numbers{1});
  // Nothing is known about the quality of the first variant.
  costs.ladders = {
    ladder_of(ladder_kind::smaller_models, {{4, 0}, {1, 0}, {2, 0}})};
  BOOST_TEST(tolerated() == numbers{0});
  costs.ladders = {ladder_of(ladder_kind::smaller_models, {{4, 0}, {9, 0}}),
                   ladder_of(ladder_kind::cached_latents, {})};
  BOOST_TEST(tolerated() == (numbers{0, 0}));
}

BOOST_AUTO_TEST_CASE(a_classifier_that_says_too_little_tolerates_nothing) {
  classifier->expected = {0.8f};
  BOOST_TEST(tolerated() == (numbers{0, 0}));
  classifier->expected.clear();
  BOOST_TEST(tolerated() == (numbers{0, 0}));
}

BOOST_AUTO_TEST_CASE(it_is_loaded_by_the_first_order_and_once) {
  const auto sut = stage();
  const auto same = sut;
  BOOST_TEST(loads == 0);
  BOOST_CHECK(run(sut));
  BOOST_CHECK(run(same));
  BOOST_TEST(loads == 1);
}

BOOST_AUTO_TEST_CASE(
  what_loading_fails_with_is_told_each_time_and_logged_once) {
  int calls = 0;
  const classify_stage sut{[&]() -> loading {
                             ++calls;
                             return core::fail(ec::not_found,
                                               "m/config.json: no such file");
                           },
                           1s, 1};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(),
                                                             std::fclose};
  auto log = core::start_log("warn", "test", file.get());
  BOOST_REQUIRE(log);
  for (int i = 0; i < 3; ++i) {
    const auto found = run(sut);
    BOOST_REQUIRE(!found);
    BOOST_CHECK(found.why().code == ec::not_found);
    BOOST_TEST(found.why().text == "classifier: m/config.json: no such file");
  }
  log->reset();
  BOOST_TEST(calls == 1);
  std::rewind(file.get());
  std::string logged(4096, '\0');
  logged.resize(std::fread(logged.data(), 1, logged.size(), file.get()));
  const auto at = logged.find("m/config.json");
  BOOST_TEST(at != std::string::npos);
  BOOST_TEST(logged.find("m/config.json", at + 1) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_loader_that_throws_or_returns_none_is_an_error) {
  int calls = 0;
  const classify_stage throwing{[&]() -> loading {
                                  ++calls;
                                  throw std::runtime_error("broken");
                                },
                                1s, 1};
  for (int i = 0; i < 2; ++i) {
    const auto thrown = run(throwing);
    BOOST_REQUIRE(!thrown);
    BOOST_CHECK(thrown.why().code == ec::internal);
    BOOST_TEST(thrown.why().text == "classifier: the loader threw: broken");
  }
  BOOST_TEST(calls == 1);
  classifier = nullptr;
  const auto none = stage();
  const auto found = run(none);
  BOOST_REQUIRE(!found);
  BOOST_CHECK(found.why().code == ec::internal);
}

BOOST_AUTO_TEST_CASE(what_classifying_fails_with_is_its_error) {
  classifier->fails = true;
  const auto sut = stage();
  const auto found = run(sut);
  BOOST_REQUIRE(!found);
  BOOST_TEST(found.why().text == "no numbers today");
  classifier->fails = false;
  BOOST_CHECK(run(sut));
}

BOOST_AUTO_TEST_CASE(several_workers_classify_one_at_a_time) {
  const auto sut = stage();
  const auto order = begin(sut);
  BOOST_REQUIRE(order.has_value());
  std::atomic<int> fine{0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i)
      workers.emplace_back([&] {
        for (int k = 0; k < 50; ++k)
          fine += sut.run(*order, here) ? 1 : 0;
      });
  }
  BOOST_TEST(fine.load() == 200);
  BOOST_TEST(loads == 1);
  BOOST_TEST(classifier->most == 1);
}

BOOST_AUTO_TEST_CASE(orders_and_outcomes_cross_processes) {
  const auto sut = planning::make_stage(stage());
  const auto order = sut->begin({wanted, known, costs, asked});
  BOOST_REQUIRE(order);
  BOOST_REQUIRE(order->has_value());
  const auto found =
    sut->run(core::typed_body::from_bytes((*order)->to_bytes()), here);
  BOOST_REQUIRE_MESSAGE(found, (found ? "" : found.why().text));
  BOOST_CHECK(sut->end(core::typed_body::from_bytes(found->to_bytes()), known));
  BOOST_REQUIRE(known.tolerated.has_value());
  BOOST_TEST(*known.tolerated == (numbers{0, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
