// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/key.hpp>
#include <atelier/index/memory.hpp>
#include <atelier/runtime/parts_read.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace atelier;

namespace {

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i)
    out += text;
  return out;
}

// A cache beside a shipped model, which reads 46 tokens, and a test card, which
// reads everything.
struct fixture {
  fixture() {
    config::settings x;
    x.models.resize(1);
    x.models[0].name = "base";
    x.models[0].path = ATELIER_SOURCE_DIR "/models/base";
    x.devices.resize(2);
    x.devices[0].executor = "torch";
    x.devices[0].variants = {"base@4"};
    x.devices[1].executor = "test_card";
    x.devices[1].variants = {"card@4"};
    planning::profile known;
    for (const auto& device : x.devices) {
      planning::variant_profile v;
      v.name = device.variants.front();
      known.variants.push_back(std::move(v));
    }
    auto reads = runtime::part_reader_of(x, known);
    BOOST_REQUIRE_MESSAGE(reads, (reads ? "" : reads.why().text));
    kept = runtime::compare_parts_read(
      std::make_shared<index::memory>(index::cache_bounds{1 << 20, 100}),
      std::move(*reads));
  }

  std::string key() const {
    return index::key_of(how, "", {});
  }

  void keep(std::string_view text) {
    index::leftover left;
    left.image = std::vector<std::byte>(3 * 8 * 8);
    left.px = {8, 8};
    BOOST_REQUIRE(kept->keep(key(), text, std::move(left)));
  }

  double similarity(std::string_view text) {
    const auto found = kept->near(key(), text, {1});
    return found.empty() ? 0 : found.front().similarity;
  }

  core::recipe how;
  std::shared_ptr<index::kept_work> kept;
};

const auto circles = repeated("a red circle at the top, ", 8);
const auto stars = repeated("two blue stars below a wall, ", 8);
const auto tail = repeated("a small square and a cross, ", 40);

} // namespace

BOOST_FIXTURE_TEST_SUITE(parts_read, fixture)

BOOST_AUTO_TEST_CASE(words_behind_the_last_token_make_no_prompts_alike) {
  keep(circles + tail);
  BOOST_TEST(similarity(stars + tail) < 0.5);
  // All that is drawn is equal.
  BOOST_TEST(similarity(circles + "a ring, a heart") == 1);
  BOOST_TEST(similarity(circles) == 1);
  BOOST_TEST(kept->vector_of(key(), circles + tail)
             == kept->vector_of(key(), circles + "a plus"));
}

BOOST_AUTO_TEST_CASE(
  phrases_that_a_model_of_captions_ignores_are_not_compared) {
  keep("a red circle, masterpiece, trending");
  BOOST_TEST(similarity("a red circle") == 1);
  BOOST_TEST(similarity("a blue star, masterpiece, trending") < 0.5);
}

BOOST_AUTO_TEST_CASE(an_executor_that_reads_everything_compares_everything) {
  how.variant = core::variant_id{1};
  keep(circles + tail);
  BOOST_TEST(similarity(circles + tail) == 1);
  BOOST_TEST(similarity(stars + tail) > 0.5);
  BOOST_TEST(similarity(circles + "a ring, a heart") < 1);
}

BOOST_AUTO_TEST_CASE(a_model_without_files_is_named) {
  config::settings x;
  x.models.resize(1);
  x.models[0].name = "base";
  x.models[0].path = "nowhere";
  x.devices.resize(1);
  x.devices[0].executor = "torch";
  x.devices[0].variants = {"base@4"};
  planning::profile known;
  known.variants.resize(1);
  known.variants[0].name = "base@4";
  const auto refused = runtime::part_reader_of(x, known);
  BOOST_REQUIRE(!refused);
  BOOST_TEST(refused.why().text.starts_with("models: base: "),
             refused.why().text);
}

BOOST_AUTO_TEST_SUITE_END()
