// SPDX-License-Identifier: Apache-2.0

// Prompts that are compared with the images of a cache, on a running engine.

#include <atelier/core/image/codec.hpp>

#include <boost/test/unit_test.hpp>
#include <gpu/models/tiny_bert.hpp>
#include <process/engine_fixture.hpp>
#include <process/recall_rig.hpp>
#include <support/scale.hpp>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

const std::string images = "cache.compares='images'";

std::string encoder(const std::string& folder) {
  return "cache.encoder='" + folder + "'";
}

const std::string scorer = encoder(ATELIER_SOURCE_DIR "/models/scorer");

/// The shipped family draws real images in few steps, and its scorer knows what
/// they show.
struct seeing : test::recall_rig {
  seeing() {
    planning::profile p;
    auto v = *planning::parse_variant("turbo@4");
    v.native_px = {128, 128};
    v.step = {{1, 128 * 128, std::chrono::milliseconds{50}, 9}};
    p.variants.push_back(v);
    p.reuse.emplace();
    p.reuse->full = core::variant_id{0};
    p.reuse->small = {core::variant_id{0}};
    p.reuse->steps = 4;
    p.reuse->images = {{2, 0.25}};
    known = p;
    folder.write("family.json", planning::to_json(p));
  }

  std::vector<std::string> family(const std::string& policy,
                                  const std::vector<std::string>& more) {
    std::vector<std::string> out{
      "models=[{name='turbo',path='" ATELIER_SOURCE_DIR "/models/turbo'}]",
      "devices=[{name='cpu:0',executor='torch',variants=['turbo@4'],"
      "threads=1}]",
      "policy.name='" + policy + "'",
      "planner.profile='" + (folder.path / "family.json").string() + "'",
      "arena.capture_slots=8",
      "cache.memory_mib=16",
      "cache.disk_wait_ms=60000",
      "scheduler.facts_ms=60000",
      scorer};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  static generation scene(const std::string& prompt) {
    auto out = wanted(prompt);
    out.width = out.height = 128;
    return out;
  }

  static generated_image drawn(engine& sut, const std::string& prompt) {
    const auto made = test::answers_to(sut, {scene(prompt)});
    return test::image_in(made.front());
  }

  static image::bitmap pixels(const generated_image& x) {
    auto out = image::decode(x.bytes);
    BOOST_TEST_REQUIRE(bool{out});
    return *out;
  }

  /// Checks that an answer is a kept image that was found by itself.
  static void check_found(const generated_image& x,
                          const generated_image& kept) {
    BOOST_TEST(x.route == "picture");
    BOOST_TEST(x.steps_run == 0u);
    BOOST_TEST((pixels(x) == pixels(kept)));
    BOOST_TEST_REQUIRE(x.reused.has_value());
    BOOST_TEST(x.reused->kind == "image");
    // A prompt is not as similar to an image as to itself.
    BOOST_TEST(x.reused->similarity > 0.25);
    BOOST_TEST(x.reused->similarity < 0.95);
  }

  std::string in_folder(const std::string& name) const {
    return "cache.folder='" + (folder.path / name).string() + "'";
  }

  planning::profile known;
  const std::string circle = "a large red circle on a white background";
  const std::string disc = "a big red disc on a white background";
  const std::string star = "a small blue star on a black background";
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_image_cache_test, seeing)

BOOST_AUTO_TEST_CASE(a_prompt_is_answered_with_the_image_that_shows_it) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = test::start(how, family("crs", {images}));
      BOOST_TEST(sut->status().cache.value().compares == "images");
      const auto first = drawn(*sut, circle);
      BOOST_TEST(first.route == "scratch");
      remembered(*sut);
      check_found(drawn(*sut, circle), first);
      check_found(drawn(*sut, disc), first);
      BOOST_TEST(test::comes_to_rest(*sut));
      const auto told = sut->status().cache.value();
      BOOST_TEST(told.entries == 1u);
      BOOST_TEST(told.hits == 2u);
      BOOST_TEST(told.failures == 0u);
      BOOST_TEST(told.encoded_images == 1u);
      // The texts of searches alone.
      BOOST_TEST(told.encoded + told.recalled == 3u);
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(of_two_images_the_one_that_shows_it_is_found) {
  auto sut = test::start(mode::single, family("crs", {images}));
  const auto first = drawn(*sut, circle);
  remembered(*sut);
  auto other = scene(star);
  // It is drawn although an image may be similar enough.
  other.cache = "write";
  const auto second = test::image_in(test::answers_to(*sut, {other}).front());
  remembered(*sut, 2);
  check_found(drawn(*sut, circle), first);
  check_found(drawn(*sut, star), second);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(an_image_that_shows_it_is_refined) {
  auto sut = test::start(mode::single, family("modm", {images}));
  BOOST_TEST(drawn(*sut, circle).route == "miss");
  remembered(*sut);
  const auto made = drawn(*sut, disc);
  BOOST_TEST(made.route == "hit, k=2");
  BOOST_TEST(made.steps_run == 2u);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(vectors_of_images_outlive_a_restart) {
  const auto set = family("crs", {images, in_folder("kept")});
  generated_image first;
  {
    auto sut = test::start(mode::single, set);
    first = drawn(*sut, circle);
    remembered(*sut);
    BOOST_TEST(sut->stop(10s));
  }
  auto sut = test::start(mode::single, set);
  check_found(drawn(*sut, circle), first);
  BOOST_TEST(sut->status().cache.value().encoded_images == 0u);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_cache_that_was_filled_by_prompts_is_found_by_images) {
  generated_image first;
  {
    auto sut =
      test::start(mode::single, family("pinecone", {in_folder("kept")}));
    BOOST_TEST(sut->status().cache.value().compares == "prompts");
    first = drawn(*sut, circle);
    remembered(*sut);
    BOOST_TEST(sut->stop(10s));
  }
  auto sut =
    test::start(mode::single, family("crs", {images, in_folder("kept")}));
  BOOST_TEST(sut->status().cache.value().encoded_images == 1u);
  check_found(drawn(*sut, disc), first);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_policy_that_compares_something_else_is_refused_by_name) {
  const auto why = [this](const std::string& policy,
                          std::vector<std::string> more) {
    more.push_back(scorer);
    return refusal(more, policy);
  };
  for (const auto* const policy : {"nirvana", "pinecone", "modm"})
    BOOST_TEST(why(policy, {images})
                 .starts_with("cache.compares: it compares prompts with "
                              "images, and policy '"
                              + std::string{policy}
                              + "' compares prompts with prompts"));
  BOOST_TEST(why("crs", {}).starts_with("cache.compares: policy 'crs' compares "
                                        "prompts with images"));
  // One that compares nothing uses either.
  auto set = settings("vanilla");
  set.insert(set.end(), {images, scorer});
  BOOST_TEST(test::start(mode::single, set)->stop(10s));
}

BOOST_AUTO_TEST_CASE(an_encoder_without_an_image_tower_is_refused) {
  const auto bert = (folder.path / "bert").string();
  test::write_tiny_bert(bert, {{"red"}});
  const auto why = refusal({images, encoder(bert)}, "crs");
  for (const auto* const part :
       {"cache.compares: \"images\"", "cache.encoder", "bert/config.json"})
    BOOST_TEST(why.find(part) != std::string::npos, why);
  const auto words = refusal({images}, "crs");
  for (const auto* const part : {"cache.compares", "cache.encoder"})
    BOOST_TEST(words.find(part) != std::string::npos, words);
}

// Each generation starts from a state that the first one left.
BOOST_AUTO_TEST_CASE(generations_of_one_prompt_stay_its_first_image) {
  auto p = known;
  p.reuse->latents = {{2, 0.5}};
  folder.write("latents.json", planning::to_json(p));
  auto sut = test::start(
    mode::single,
    family("nirvana", {"planner.profile='"
                       + (folder.path / "latents.json").string() + "'"}));
  const auto first = drawn(*sut, circle);
  remembered(*sut);
  const auto generations = std::max<size_t>(test::scaled(500), 5);
  for (size_t i = 0; i < generations; ++i) {
    const auto made = repeated(*sut, scene(circle));
    BOOST_TEST(made.steps_run == 2u);
    BOOST_TEST((pixels(made) == pixels(first)));
    BOOST_TEST(test::comes_to_rest(*sut));
  }
  const auto all = sut->cache_entries({});
  BOOST_TEST_REQUIRE(std::holds_alternative<std::vector<cache_entry>>(all));
  for (const auto& entry : std::get<std::vector<cache_entry>>(all))
    BOOST_TEST(entry.depth == 0u);
  BOOST_TEST(sut->stop(10s));
}

// The part of a prompt behind the last token that its model reads draws
// nothing.
BOOST_AUTO_TEST_CASE(words_that_no_model_reads_make_no_other_prompt) {
  auto p = known;
  p.reuse->answers_from = 1;
  folder.write("exact.json", planning::to_json(p));
  auto sut = test::start(
    mode::single,
    family("pinecone", {"planner.profile='"
                        + (folder.path / "exact.json").string() + "'"}));
  auto all_read = circle;
  for (int i = 0; i < 80; ++i)
    all_read += " and a red circle";
  const auto first = drawn(*sut, all_read + " a blue star");
  BOOST_TEST(first.route == "scratch");
  remembered(*sut);
  const auto same = drawn(*sut, all_read + " a green square");
  BOOST_TEST(same.route == "picture");
  BOOST_TEST((pixels(same) == pixels(first)));
  BOOST_TEST_REQUIRE(same.reused.has_value());
  BOOST_TEST(same.reused->similarity == 1);
  // A word that is read makes another prompt.
  BOOST_TEST(drawn(*sut, "a blue star and " + all_read).route == "scratch");
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_SUITE_END()
