// SPDX-License-Identifier: Apache-2.0
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/match_prediction.hpp>
#include <atelier/index/memory.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using index::match_prediction;
using planning::checked_prediction;
using planning::predicted_from;

// Runs work at once, later, or never.
class trainer final : public core::offload {
public:
  enum class how : uint8_t { at_once, held, refused };

  struct shared {
    how runs = how::at_once;
    std::deque<std::function<void()>> waiting;
  };

  explicit trainer(std::shared_ptr<shared> x) : shared_(std::move(x)) {}

  bool run(core::timespan, std::function<void()> work) override {
    if (shared_->runs == how::refused)
      return false;
    if (shared_->runs == how::held)
      shared_->waiting.push_back(std::move(work));
    else
      work();
    return true;
  }

private:
  std::shared_ptr<shared> shared_;
};

// A cache whose vectors cannot be read.
class broken_vectors final : public index::kept_work {
public:
  std::vector<planning::match> near(std::string_view, std::string_view,
                                    const index::search_terms&) override {
    return {};
  }

  core::result<index::payload> state(uint64_t, uint32_t) override {
    return core::fail(core::ec::not_found, "nothing");
  }

  core::result<index::payload> image(uint64_t, core::extent,
                                     uint32_t) override {
    return core::fail(core::ec::not_found, "nothing");
  }

  void drop_torn(uint64_t) override {}

  bool keep(std::string_view, std::string_view, index::leftover) override {
    return false;
  }

  index::kept_counts counts() const override {
    return {};
  }

  std::optional<index::space_extent> extent(std::string_view) const override {
    return index::space_extent{1, 1};
  }

  std::vector<float> vectors(std::string_view, size_t) const override {
    throw std::runtime_error{"no memory"};
  }
};

std::string key_of(uint32_t tenant) {
  return index::key_of({}, "", core::tenant_id{tenant});
}

struct fixture {
  std::shared_ptr<index::memory> kept =
    std::make_shared<index::memory>(index::cache_bounds{1 << 24, 10'000});
  std::shared_ptr<trainer::shared> trains = std::make_shared<trainer::shared>();
  std::unique_ptr<match_prediction> sut = make();

  std::unique_ptr<match_prediction> make(index::prediction_limits most = {}) {
    return make(kept, most);
  }

  std::unique_ptr<match_prediction> make(std::shared_ptr<index::kept_work> of,
                                         index::prediction_limits most = {}) {
    return std::make_unique<match_prediction>(
      std::move(of), std::make_unique<trainer>(trains), 1, most);
  }

  void keep(uint32_t tenant, std::string_view text) const {
    index::leftover left;
    left.states.push_back({5, std::vector<std::byte>(8)});
    left.whose = core::tenant_id{tenant};
    BOOST_REQUIRE(kept->keep(key_of(tenant), text, std::move(left)));
  }

  std::vector<float> vector_of(std::string_view text) const {
    return kept->vector_of(key_of(0), text);
  }

  bool ask(uint32_t tenant, std::string_view text,
           predicted_from by = predicted_from::entries) const {
    return sut->ask(by, key_of(tenant), vector_of(text));
  }

  // Teaches outcomes: texts with a colour hit, others do not.
  void teach(uint32_t tenant, size_t n, bool colours_hit = true) const {
    for (size_t i = 0; i < n; ++i) {
      const auto number = std::to_string(i);
      sut->learn(predicted_from::outcomes, key_of(tenant),
                 vector_of("red ball thing " + number), colours_hit);
      sut->learn(predicted_from::outcomes, key_of(tenant),
                 vector_of("grey stone object " + number), !colours_hit);
    }
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(match_prediction_test, fixture)

BOOST_AUTO_TEST_CASE(a_search_in_an_empty_namespace_never_hits) {
  for (const auto by : {predicted_from::entries, predicted_from::outcomes}) {
    BOOST_TEST(!ask(1, "a red fox", by));
    BOOST_TEST(sut->counts().trainings == 0u);
  }
  keep(1, "a red fox");
  BOOST_TEST(!ask(2, "a red fox"));
  BOOST_TEST(ask(1, "a red fox"));
  BOOST_TEST(sut->counts().said_hits == 1u);
  BOOST_TEST(sut->counts().said_misses == 3u);
}

BOOST_AUTO_TEST_CASE(an_untrained_predictor_lets_everything_search) {
  trains->runs = trainer::how::held;
  keep(1, "a red fox");
  BOOST_TEST(ask(1, "some blue cubes under water"));
  BOOST_TEST(ask(1, "some blue cubes under water"));
  // A training is queued once.
  BOOST_TEST_REQUIRE(trains->waiting.size() == 1u);
  BOOST_TEST(sut->counts().trained_spaces == 0u);
  trains->waiting.front()();
  BOOST_TEST(sut->counts().trained_spaces == 1u);
  BOOST_TEST(!ask(1, "some blue cubes under water"));
  BOOST_TEST(ask(1, "a red fox"));
  // A prompt that the encoder could not read is searched for.
  BOOST_TEST(sut->ask(predicted_from::entries, key_of(1), {}));
}

BOOST_AUTO_TEST_CASE(every_entry_of_a_trained_namespace_is_expected) {
  for (int i = 0; i < 200; ++i)
    keep(1, "a red fox number " + std::to_string(i) + " in the snow");
  ask(1, "a red fox");
  for (int i = 0; i < 200; ++i)
    BOOST_TEST(ask(1, "a red fox number " + std::to_string(i) + " in the snow"),
               i);
  BOOST_TEST(!ask(1, "xylophone quartet"));
}

BOOST_AUTO_TEST_CASE(more_than_a_twentieth_of_changes_trains_again) {
  const auto trainings = [&] {
    ask(1, "a red fox");
    return sut->counts().trainings;
  };
  for (int i = 0; i < 100; ++i)
    keep(1, "fox " + std::to_string(i));
  BOOST_TEST(trainings() == 1u);
  for (int i = 0; i < 5; ++i) {
    keep(1, "cube " + std::to_string(i));
    BOOST_TEST(trainings() == 1u);
  }
  keep(1, "xylophone quartet");
  BOOST_TEST(trainings() == 2u);
  BOOST_TEST(ask(1, "xylophone quartet"));
  // Entries that leave are changes, too: 6 of the 100 that then remain.
  const auto all = *kept->list({0, 1000});
  for (size_t i = 0; i < 5; ++i) {
    kept->drop_torn(all[i].number);
    BOOST_TEST(trainings() == 2u);
  }
  kept->drop_torn(all[5].number);
  BOOST_TEST(trainings() == 3u);
  // Nothing changed.
  BOOST_TEST(trainings() == 3u);
}

BOOST_AUTO_TEST_CASE(outcomes_train_from_the_first_few_dozen) {
  keep(1, "a red fox");
  teach(1, 15);
  BOOST_TEST(sut->counts().trainings == 0u);
  BOOST_TEST(ask(1, "grey stone object", predicted_from::outcomes));
  teach(1, 40);
  BOOST_TEST(sut->counts().trainings > 0u);
  BOOST_TEST(!ask(1, "grey stone object", predicted_from::outcomes));
  BOOST_TEST(ask(1, "red ball thing", predicted_from::outcomes));
  // The same outcome of the same prompts is no change.
  const auto before = sut->counts().trainings;
  teach(1, 40);
  BOOST_TEST(sut->counts().trainings == before);
  // The last outcome of a prompt counts.
  teach(1, 40, false);
  BOOST_TEST(ask(1, "grey stone object", predicted_from::outcomes));
  BOOST_TEST(!ask(1, "red ball thing", predicted_from::outcomes));
}

BOOST_AUTO_TEST_CASE(what_is_learnt_is_expected_before_it) {
  keep(1, "a red fox");
  teach(1, 40);
  const auto learn = [&](std::string_view text) {
    return sut->learn(predicted_from::outcomes, key_of(1), vector_of(text),
                      true);
  };
  BOOST_TEST(!learn("grey stone object"));
  BOOST_TEST(learn("red ball thing"));
}

BOOST_AUTO_TEST_CASE(the_oldest_outcomes_are_forgotten) {
  index::prediction_limits most;
  most.outcomes = 80;
  sut = make(most);
  keep(1, "a red fox");
  teach(1, 40);
  BOOST_TEST(!ask(1, "grey stone object", predicted_from::outcomes));
  // Other prompts of both kinds, with the other outcomes, replace all.
  for (int i = 100; i < 140; ++i) {
    const auto number = std::to_string(i);
    sut->learn(predicted_from::outcomes, key_of(1),
               vector_of("red ball thing " + number), false);
    sut->learn(predicted_from::outcomes, key_of(1),
               vector_of("grey stone object " + number), true);
  }
  BOOST_TEST(ask(1, "grey stone object", predicted_from::outcomes));
  BOOST_TEST(!ask(1, "red ball thing", predicted_from::outcomes));
}

// The answers for one tenant are the same whatever another one does.
BOOST_AUTO_TEST_CASE(a_namespace_depends_on_nothing_of_others) {
  const std::vector<std::string> words{"red",  "fox",   "cube",  "blue",
                                       "snow", "water", "stone", "quartet"};
  for (const auto by : {predicted_from::entries, predicted_from::outcomes}) {
    std::vector<std::vector<bool>> answers;
    for (const bool disturbed : {false, true}) {
      kept =
        std::make_shared<index::memory>(index::cache_bounds{1 << 24, 10'000});
      sut = make();
      core::philox random{test::seed(), core::purpose::test};
      core::philox others{test::seed() + 1, core::purpose::test};
      const auto text = [&](core::philox& from) {
        std::string out;
        for (int i = 0; i < 3; ++i)
          out += words[from.below(words.size())] + " ";
        return out;
      };
      auto& told = answers.emplace_back();
      for (int i = 0; i < 400; ++i) {
        const auto own = text(random);
        told.push_back(ask(1, own, by));
        told.push_back(
          sut->learn(by, key_of(1), vector_of(own), own.starts_with("red")));
        if (i % 4 == 0)
          keep(1, own);
        if (!disturbed)
          continue;
        // The same prompts, with the opposite outcomes.
        sut->learn(by, key_of(2), vector_of(own), !own.starts_with("red"));
        keep(2, text(others));
        ask(2, text(others), by);
      }
    }
    BOOST_TEST((answers[0] == answers[1]));
    // Both answers occur.
    BOOST_TEST(std::ranges::count(answers[0], true) > 20);
    BOOST_TEST(std::ranges::count(answers[0], false) > 20);
  }
}

BOOST_AUTO_TEST_CASE(the_number_of_namespaces_is_bounded) {
  for (const bool first_come : {false, true}) {
    BOOST_TEST_CONTEXT(first_come) {
      index::prediction_limits most;
      most.spaces = 2;
      most.first_come = first_come;
      sut = make(most);
      for (const uint32_t tenant : {1u, 2u, 1u, 3u}) {
        keep(tenant, "a red fox");
        ask(tenant, "a red fox");
      }
      BOOST_TEST(sut->counts().trained_spaces == 2u);
      // The one without a predictor searches.
      BOOST_TEST(!ask(1, "xylophone quartet"));
      trains->runs = trainer::how::held;
      BOOST_TEST(ask(first_come ? 3u : 2u, "xylophone quartet"));
      trains->runs = trainer::how::at_once;
      BOOST_TEST(sut->counts().trained_spaces <= 2u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_full_queue_and_a_stop_train_nothing) {
  keep(1, "a red fox");
  trains->runs = trainer::how::refused;
  BOOST_TEST(ask(1, "xylophone quartet"));
  BOOST_TEST(sut->counts().failures == 1u);
  trains->runs = trainer::how::at_once;
  BOOST_TEST(ask(1, "xylophone quartet"));
  BOOST_TEST(!ask(1, "xylophone quartet"));
  sut->stop();
  for (int i = 0; i < 10; ++i)
    keep(1, "quartet " + std::to_string(i));
  BOOST_TEST(!ask(1, "xylophone quartet"));
  BOOST_TEST(sut->counts().trainings == 1u);
}

BOOST_AUTO_TEST_CASE(a_failed_training_lets_everything_search) {
  sut = make(std::make_shared<broken_vectors>());
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(ask(1, "xylophone quartet"));
  // It is not tried again before something changes.
  BOOST_TEST(sut->counts().failures == 1u);
  BOOST_TEST(sut->counts().trainings == 0u);
}

BOOST_AUTO_TEST_CASE(a_training_that_ends_late_does_no_harm) {
  trains->runs = trainer::how::held;
  keep(1, "a red fox");
  ask(1, "a red fox");
  sut.reset();
  BOOST_TEST_REQUIRE(trains->waiting.size() == 1u);
  trains->waiting.front()();
}

BOOST_AUTO_TEST_CASE(precision_and_recall_are_those_of_the_last_searches) {
  index::prediction_limits most;
  most.window = 50;
  sut = make(most);
  core::philox random{test::seed(), core::purpose::test};
  std::deque<checked_prediction> last;
  for (int i = 0; i < 500; ++i) {
    checked_prediction x;
    x.said_hit = random.below(2) == 0;
    x.hit = random.below(3) == 0;
    x.stands_for = x.said_hit ? 1 : 16;
    sut->count(x);
    last.push_back(x);
    if (last.size() > 50)
      last.pop_front();
    // Every prediction is counted as often as it stands for one.
    double said = 0;
    double hits = 0;
    double both = 0;
    double all = 0;
    for (const auto& y : last)
      for (uint32_t n = 0; n < y.stands_for; ++n) {
        said += y.said_hit ? 1 : 0;
        hits += y.hit ? 1 : 0;
        both += y.said_hit && y.hit ? 1 : 0;
        all += 1;
      }
    const auto told = sut->counts().recent;
    BOOST_TEST(told.checked == last.size());
    BOOST_TEST(told.precision() == (said > 0 ? both / said : 0));
    BOOST_TEST(told.recall() == (hits > 0 ? both / hits : 0));
    BOOST_TEST(told.hits() == hits / all);
    BOOST_TEST(told.false_alarms()
               == (all > hits ? (said - both) / (all - hits) : 0));
    BOOST_TEST(told.has_rates() == (said > 0 && hits > 0));
  }
  BOOST_TEST(sut->counts().checked == 500u);
}

BOOST_AUTO_TEST_SUITE_END()
