// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/text_file.hpp>
#include <atelier/gpu/captions/parse_caption.hpp>
#include <atelier/gpu/captions/scene_vocabulary.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/scene.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace atelier;
using namespace atelier::gpu;

namespace {

std::span<const caption_word> group(std::string_view name) {
  const auto all = scene_vocabulary();
  const auto it = std::ranges::find(all, name, &caption_word_group::name);
  BOOST_TEST_REQUIRE((it != all.end()), name);
  return it->words;
}

} // namespace

BOOST_AUTO_TEST_SUITE(scene_vocabulary_test)

BOOST_AUTO_TEST_CASE(each_kind_has_all_its_words) {
  BOOST_TEST(group("shapes").size() == shape_count);
  BOOST_TEST(group("object_colours").size() == colour_count);
  BOOST_TEST(group("background_colours").size() == background_colour_count);
  BOOST_TEST(group("sizes").size() == size_count);
  BOOST_TEST(group("textures").size() == texture_count);
  BOOST_TEST(group("places").size() == place_count);
  BOOST_TEST(group("relations").size() == relation_count);
  BOOST_TEST(group("objects").size() == most_objects);
}

BOOST_AUTO_TEST_CASE(a_synonym_means_its_word) {
  for (const auto& x : group("shapes"))
    for (const auto other : x.also)
      BOOST_TEST((parse_caption("a " + std::string{other}).says
                  == parse_caption("a " + std::string{x.word}).says),
                 other);
  BOOST_TEST(group("shapes")[0].word == "circle");
  BOOST_TEST(group("shapes")[0].also.at(0) == "disk");
}

BOOST_AUTO_TEST_CASE(the_page_on_the_family_has_the_table) {
  const auto page =
    core::read_text_file(ATELIER_SOURCE_DIR "/docs/family.md", 1 << 20, "page");
  BOOST_TEST_REQUIRE(page.operator bool());
  BOOST_TEST(page->find(vocabulary_table()) != std::string::npos,
             vocabulary_table());
}

BOOST_AUTO_TEST_SUITE_END()
