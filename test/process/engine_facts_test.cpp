// SPDX-License-Identifier: Apache-2.0

// Facts about requests before their route is chosen, on a running engine with
// the shipped classifier.

#include <atelier/core/image/codec.hpp>
#include <atelier/planning/policies/instgenie/instgenie.hpp>
#include <atelier/planning/profile_file.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <process/ladder_plan.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace fs = std::filesystem;

namespace {

const auto modes = boost::unit_test::data::make({mode::single, mode::split});

/// Names of routes that the classifier knows. The test card draws them.
const std::vector<std::string> ladder{"base@50", "small@20", "turbo@4"};

generation wanted(std::string prompt) {
  generation x;
  x.prompt = std::move(prompt);
  x.width = x.height = 64;
  x.seed = 3;
  return x;
}

uint64_t left_out(const engine& sut, std::string_view stage) {
  const auto all = sut.status().stages;
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const auto& x) { return x.name == stage; });
  BOOST_TEST_REQUIRE((at != all.end()), "no stage " << stage);
  return at->left_out;
}

/// A copy of the shipped classifier.
struct fixture {
  fixture() {
    folder.write("measured.json", planning::to_json(test::with_ladder(ladder)));
    fs::copy(ATELIER_SOURCE_DIR "/models/classifier", classifier);
  }

  engine_options options(mode how, const std::string& policy = "argus") const {
    return test::options_of(
      how,
      {"devices=[{name='cpu:0',executor='test_card',variants=['base@50',"
       "'small@20','turbo@4'],test_card_step_ms=1}]",
       "policy.name=" + policy,
       "planner.profile='" + (folder.path / "measured.json").string() + "'",
       "classifier.folder='" + classifier.string() + "'",
       "scheduler.facts_ms=20000"});
  }

  std::string refusal() const {
    const auto made = engine::start(options(mode::single));
    const auto* const why = std::get_if<failure>(&made);
    BOOST_TEST_REQUIRE(why != nullptr);
    return why->text;
  }

  test::scratch_folder folder;
  fs::path classifier = folder.path / "classifier";
};

/// Instgenie, which records the known facts about a mask when it chooses a
/// route.
struct watching_policy : planning::instgenie_policy {
  std::string_view name() const override {
    return "watching";
  }

  planning::choice choose(const planning::decision_context& by) const override {
    auto out = instgenie_policy::choose(by);
    if (std::holds_alternative<planning::go>(out)) {
      const std::lock_guard hold{mutex};
      seen.push_back(by.known.mask);
    }
    return out;
  }

  mutable std::mutex mutex;
  mutable std::vector<std::optional<planning::mask_facts>> seen;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_facts_test, fixture)

BOOST_DATA_TEST_CASE(the_prompts_class_stands_in_its_image, modes, how) {
  auto sut = test::start(options(how));
  const std::string prompts[] = {
    "a red circle",
    "a small blue ring above a large green star on a black background"};
  for (const auto& prompt : prompts) {
    const auto answers = test::answers_to(*sut, {wanted(prompt)});
    const auto& made = test::image_in(answers.front());
    BOOST_TEST(made.took.classify.count() > 0);
    BOOST_TEST(made.took.retrieve.count() == 0);
    const auto& told = made.prompt_class;
    BOOST_TEST_REQUIRE(told.size() == 1u, prompt);
    BOOST_TEST(told[0].ladder == "smaller_models");
    BOOST_TEST(told[0].level < 3u);
    BOOST_TEST(told[0].variant == ladder[told[0].level]);
  }
  BOOST_TEST(left_out(*sut, "classify") == 0u);
  BOOST_TEST(sut->stop(10s));
}

// Of these prompts the shipped classifier says different classes: a classifier
// that said the same of all would be noticed here.
BOOST_DATA_TEST_CASE(prompts_of_different_classes_have_different_variants,
                     modes, how) {
  folder.write("plan.json", test::plan_by_class(ladder));
  auto by_plan = options(how, "fixed");
  by_plan.set.push_back("planner.plan='" + (folder.path / "plan.json").string()
                        + "'");
  auto sut = test::start(by_plan);
  std::set<std::string> drawn_by;
  for (const auto* const prompt :
       {"a red circle", "a yellow star on a gray background",
        "a small red square, a blue circle and a green star on a navy "
        "background"}) {
    const auto answers = test::answers_to(*sut, {wanted(prompt)});
    const auto& made = test::image_in(answers.front());
    BOOST_TEST_REQUIRE(made.prompt_class.size() == 1u, prompt);
    const auto level = made.prompt_class[0].level;
    BOOST_TEST(made.route == "level " + std::to_string(level), prompt);
    BOOST_TEST(made.variant == ladder.at(level), prompt);
    drawn_by.insert(made.variant);
  }
  BOOST_TEST(drawn_by.size() == ladder.size());
  BOOST_TEST(sut->stop(10s));
}

BOOST_DATA_TEST_CASE(a_classifier_that_broke_is_gone_on_without_and_named,
                     modes, how) {
  auto sut = test::start(options(how));
  // The first prompt opens the file.
  fs::resize_file(classifier / "model.safetensors", 1000);
  for (uint64_t n = 1; n <= 3; ++n) {
    const auto answers = test::answers_to(*sut, {wanted("a red circle")});
    BOOST_TEST(test::image_in(answers.front()).prompt_class.empty());
    BOOST_TEST(left_out(*sut, "classify") == n);
  }
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(
  a_folder_that_holds_no_classifier_is_refused_at_the_start) {
  const auto told = [&](const char* file) {
    const auto why = refusal();
    return why.starts_with("classifier.folder: ")
        && why.find(file) != std::string::npos;
  };
  fs::resize_file(classifier / "model.safetensors", 1000);
  BOOST_TEST(told("model.safetensors"));
  fs::remove(classifier / "model.safetensors");
  BOOST_TEST(told("model.safetensors"));
  fs::remove(classifier / "vocab.json");
  BOOST_TEST(told("classifier"));
  fs::resize_file(classifier / "config.json", 10);
  BOOST_TEST(told("config.json"));
  fs::remove_all(classifier);
  BOOST_TEST(told("config.json"));
}

BOOST_DATA_TEST_CASE(the_share_of_a_mask_is_known_before_the_route, modes,
                     how) {
  auto measured = test::with_ladder(ladder);
  planning::masked_profile masked;
  masked.variant = core::variant_id{0};
  masked.blocks = masked.tokens = masked.width = 8;
  masked.compute_slope = masked.load_slope = 1e-9;
  measured.masked = {masked};
  folder.write("measured.json", planning::to_json(measured));
  const auto watching = std::make_shared<const watching_policy>();
  auto with = options(how);
  with.extend.policies = {watching};
  with.set.emplace_back("policy.name=watching");
  auto sut = test::start(with);
  auto edit = wanted("a red circle");
  const core::extent px{64, 64};
  image::bitmap grey{px, 3, std::vector<uint8_t>(px.pixels() * 3, 90)};
  image::bitmap mask{px, 3, std::vector<uint8_t>(px.pixels() * 3, 0)};
  edit.image = *image::encode(grey.view(), {});
  for (const size_t rows : {16u, 48u}) {
    std::fill_n(mask.bytes.begin(), 3 * rows * px.width, uint8_t{255});
    edit.mask = *image::encode(mask.view(), {});
    watching->seen.clear();
    const auto answers = test::answers_to(*sut, {edit});
    test::image_in(answers.front());
    BOOST_TEST_REQUIRE(watching->seen.size() == 1u);
    BOOST_TEST_REQUIRE(watching->seen[0].has_value());
    BOOST_TEST(watching->seen[0]->ratio == static_cast<double>(rows) / 64,
               boost::test_tools::tolerance(1e-9));
  }
  BOOST_TEST(left_out(*sut, "mask") == 0u);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_SUITE_END()
