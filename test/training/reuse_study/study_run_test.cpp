// SPDX-License-Identifier: Apache-2.0

// Whole studies of a few requests, through running engines of the test card.

#include <atelier/training/program/reuse_study/study_report.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::runtime::reuse_study;

namespace {

constexpr uint32_t few = 20;

struct fixture : test::scratch_folder {
  /// A plan by the encoder of words, so that every build runs it.
  study_plan plan(const std::string& name, std::vector<std::string> systems) {
    study_plan out;
    out.set = {"cache.encoder=''", "devices[0].executor=test_card",
               "devices[0].test_card_step_ms=1", "policy.judges=''"};
    out.folder = path / name;
    out.variant = "card@10";
    out.warm = few;
    out.measured = few;
    out.seed = 5;
    out.px = {64, 64};
    for (const auto& x : systems)
      out.systems.push_back(find_system(x));
    for (const auto* x : out.systems) {
      if (x->name == "small-model")
        out.small = "card@4";
      if (x->request == asked_for::turbo)
        out.turbo = "card@2";
    }
    return out;
  }

  static study_results run(const study_plan& plan) {
    auto out =
      run_study(plan, [](const auto&, size_t, size_t) { return true; });
    BOOST_TEST_REQUIRE(bool{out}, (out ? "" : out.why().text));
    return std::move(*out);
  }

  static std::string why(const study_plan& plan) {
    const auto out =
      run_study(plan, [](const auto&, size_t, size_t) { return true; });
    BOOST_TEST_REQUIRE(!out);
    return out.why().text;
  }

  static const std::vector<answered_line>& lines(const study_results& of,
                                                 std::string_view name) {
    const auto at = std::ranges::find_if(
      of.systems, [&](const auto& x) { return x.first->name == name; });
    BOOST_TEST_REQUIRE((at != of.systems.end()), name);
    return at->second;
  }

  /// Returns lines without what depends on the machine's time.
  static std::vector<answered_line> timeless(std::vector<answered_line> all) {
    for (auto& x : all)
      x.text_ms = x.denoise_ms = x.decode_ms = x.total_ms = 0;
    return all;
  }

  /// Returns what requests would have taken at the mean times of others.
  static double device_seconds(const std::vector<answered_line>& drawn,
                               const std::vector<answered_line>& times_of) {
    double rest_ms = 0, denoise_ms = 0, steps = 0;
    for (const auto& x : times_of) {
      rest_ms += x.text_ms + x.decode_ms;
      denoise_ms += x.denoise_ms;
      steps += x.steps_run;
    }
    double out = 0;
    for (const auto& x : drawn)
      if (x.steps_run > 0)
        out += rest_ms / static_cast<double>(times_of.size())
             + denoise_ms / steps * x.steps_run;
    return out / 1000;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(study_run_test, fixture)

BOOST_AUTO_TEST_CASE(every_system_answers_the_same_requests) {
  const auto plan_of_all =
    plan("all", {"full", "nirvana", "random-entry", "fewer-steps", "turbo",
                 "nirvana-paper", "gptcache", "pinecone", "small-model"});
  const auto found = run(plan_of_all);
  BOOST_TEST(found.systems.size() == 9u);
  const auto requests = requests_of(plan_of_all);
  BOOST_TEST_REQUIRE(requests.size() == 2 * few);
  for (const auto& [system, all] : found.systems) {
    BOOST_TEST_REQUIRE(all.size() == few, system->name);
    for (size_t i = 0; i < few; ++i) {
      BOOST_TEST(all[i].prompt == requests[few + i].prompt);
      BOOST_TEST(all[i].objects_said > 0u);
      BOOST_TEST(all[i].distance.has_value() == (system->name != "full"));
      BOOST_TEST(all[i].denoise_ms + all[i].skipped > 0);
    }
  }
  for (const auto& x : lines(found, "full"))
    BOOST_TEST(x.steps_run == 10u);
  for (const auto& x : lines(found, "turbo"))
    BOOST_TEST(x.steps_run == 2u);
  for (const auto& x : lines(found, "small-model"))
    BOOST_TEST(x.steps_run == 4u);
  uint64_t reused = 0, skipped = 0, fewer = 0, states = 0;
  const auto& likely = lines(found, "nirvana");
  const auto& any = lines(found, "random-entry");
  bool differs = false;
  for (size_t i = 0; i < few; ++i) {
    reused += likely[i].reused.empty() ? 0u : 1u;
    skipped += likely[i].skipped;
    BOOST_TEST(likely[i].steps_run + likely[i].skipped == 10u);
    BOOST_TEST(likely[i].stored == likely[i].reused.empty());
    // The same steps, from another entry.
    BOOST_TEST(any[i].skipped == likely[i].skipped);
    BOOST_TEST(any[i].reused == likely[i].reused);
    differs = differs || any[i].distance != likely[i].distance;
    fewer += lines(found, "fewer-steps")[i].steps_run;
    states += likely[i].steps_run;
    // What nobody reused is the full run's image.
    if (likely[i].reused.empty())
      BOOST_TEST(likely[i].distance.value() == 0);
  }
  BOOST_TEST(reused > 2u);
  BOOST_TEST(skipped > 0u);
  BOOST_TEST(differs);
  BOOST_TEST(fewer == states);
  const auto& found_images = lines(found, "gptcache");
  BOOST_TEST(std::ranges::any_of(found_images, [](const auto& x) {
    return x.reused == "image" && x.steps_run == 0;
  }));
  const auto report = report_of(plan_of_all, found);
  BOOST_TEST_REQUIRE(bool{report});
  for (const auto& x : report->simulated) {
    BOOST_TEST(std::abs(x.live_hit_rate - x.simulated_hit_rate) < 0.02, x.name);
    BOOST_TEST(x.simulated_device_seconds
                 == device_seconds(lines(found, x.name), lines(found, "full")),
               boost::test_tools::tolerance(1e-3));
  }
}

#ifdef ATELIER_WITH_TORCH
// The images of the shipped family show something, those of the test card do
// not.
BOOST_AUTO_TEST_CASE(
  crs_finds_the_images_of_a_cache_that_was_filled_by_prompts) {
  auto x = plan("images", {"crs"});
  x.set = {"cache.encoder=''", "devices[0].executor=torch",
           "devices[0].threads=1",
           "models=[{name='turbo',path='" ATELIER_SOURCE_DIR "/models/turbo'}]",
           "policy.judges='" ATELIER_SOURCE_DIR "/models'"};
  x.variant = "turbo@4";
  x.px = {128, 128};
  x.measured = 4;
  const auto found = run(x);
  size_t reused = 0;
  for (const auto& line : lines(found, "crs")) {
    BOOST_TEST_REQUIRE(line.nearest.has_value());
    // A prompt is not as similar to an image as to itself.
    BOOST_TEST(*line.nearest < 0.95);
    BOOST_TEST(line.reused == (*line.nearest >= 0.25 ? "image" : ""));
    reused += line.reused.empty() ? 0u : 1u;
  }
  BOOST_TEST(reused > 0u);
}
#endif

BOOST_AUTO_TEST_CASE(a_stopped_study_goes_on_as_if_it_had_not_been) {
  const std::vector<std::string> systems{"full", "nirvana", "random-entry"};
  const auto whole = run(plan("whole", systems));
  const auto parts = plan("parts", systems);
  size_t stops = 0;
  for (;;) {
    size_t asked = 0;
    // Each run answers a few requests, of all phases.
    const auto found = run_study(
      parts, [&](const auto&, size_t, size_t) { return ++asked <= 7; });
    if (found) {
      for (const auto* const name : {"full", "nirvana", "random-entry"})
        BOOST_TEST(
          (timeless(lines(*found, name)) == timeless(lines(whole, name))),
          name);
      break;
    }
    BOOST_TEST_REQUIRE((found.why().code == core::ec::cancelled),
                       found.why().text);
    BOOST_TEST_REQUIRE(++stops < 20u);
  }
  BOOST_TEST(stops > 3u);
}

BOOST_AUTO_TEST_CASE(a_kept_answer_without_its_line_is_not_found_by_itself) {
  const std::vector<std::string> systems{"full", "nirvana"};
  const auto whole = run(plan("whole", systems));
  const auto& expected = lines(whole, "nirvana");
  // The answer whose line is lost was drawn from noise, and kept.
  const auto lost = std::ranges::find_if(
    expected, [](const auto& x) { return x.stored && x.number > 0; });
  BOOST_TEST_REQUIRE((lost != expected.end()));
  const auto parts = plan("parts", systems);
  // "full" has all its lines, and "nirvana" stops behind the lost one.
  const auto found =
    run_study(parts, [&](const std::string& system, size_t done, size_t) {
      return system != "nirvana" || done <= 2 * few + lost->number;
    });
  BOOST_TEST_REQUIRE(!found);
  const auto log = path / "parts" / "nirvana.jsonl";
  const auto text = read("parts/nirvana.jsonl");
  const auto end = text.rfind('\n', text.size() - 2);
  write("parts/nirvana.jsonl",
        end == std::string::npos ? "" : text.substr(0, end + 1));
  auto again = timeless(lines(run(parts), "nirvana"));
  auto before = timeless(expected);
  // It is not searched for again.
  again[lost->number].nearest.reset();
  before[lost->number].nearest.reset();
  BOOST_TEST((again == before));
}

BOOST_AUTO_TEST_CASE(texts_of_others_are_only_searched_for) {
  auto x = plan("texts", {"nirvana", "nirvana-words"});
  x.warm = 0;
  x.measured = 4;
  x.texts = {"a house by a lake, oil on canvas", "portrait of an old sailor",
             "a house by a lake, oil on canvas", "a ship in a storm"};
  const auto found = run(x);
  for (const auto* const name : {"nirvana", "nirvana-words"}) {
    const auto& all = lines(found, name);
    BOOST_TEST(all[0].reused == "");
    BOOST_TEST(all[0].objects_said == 0u);
    BOOST_TEST(!all[0].distance);
    BOOST_TEST(all[2].reused == "latent");
    BOOST_TEST(all[2].skipped == 5u);
    BOOST_TEST(all[2].similarity > 0.999);
    BOOST_TEST(all[3].reused == "");
  }
  x.texts.back() = "a ship in a calm";
  BOOST_TEST(why(x).find("another evaluation") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_plan_that_cannot_run_is_refused) {
  const auto other = plan("other", {"full"});
  run(other);
  auto x = other;
  x.seed = 6;
  BOOST_TEST(why(x).find("another evaluation") != std::string::npos);
  x = plan("few", {"full"});
  x.variant = "card@1";
  BOOST_TEST(why(x).find("card@1 has no steps to skip") != std::string::npos);
  x = plan("random", {"full", "random-entry"});
  BOOST_TEST(why(x).find("random-entry does as much as nirvana")
             != std::string::npos);
  x = plan("turbo", {"turbo"});
  x.turbo.clear();
  BOOST_TEST(why(x).find("--turbo") != std::string::npos);
  x = plan("small", {"small-model"});
  x.small.clear();
  BOOST_TEST(why(x).find("--small") != std::string::npos);
  x = plan("crs", {"crs"});
  BOOST_TEST(why(x).find("has no scorer") != std::string::npos);
  x = plan("texts", {"full"});
  x.texts = {"one"};
  BOOST_TEST(why(x).find("--texts: 1 texts are too few") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
