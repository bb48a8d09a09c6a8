// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/caption_notes.hpp>
#include <atelier/gpu/captions/parse_caption.hpp>
#include <atelier/gpu/captions/sample_captions.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

using namespace atelier::gpu;

namespace {

/// Returns the number of statements that differ.
size_t differences(const description& a, const description& b) {
  BOOST_TEST_REQUIRE(a.objects.size() == b.objects.size());
  size_t out = a.background == b.background ? 0 : 1;
  for (size_t i = 0; i < a.objects.size(); ++i) {
    const auto& x = a.objects[i];
    const auto& y = b.objects[i];
    out += (x.shape != y.shape ? 1u : 0u) + (x.colour != y.colour ? 1u : 0u)
         + (x.size != y.size ? 1u : 0u) + (x.texture != y.texture ? 1u : 0u)
         + (x.place != y.place ? 1u : 0u);
  }
  return out;
}

std::multiset<std::string> words_of(const std::string& text) {
  std::istringstream from{text};
  return {std::istream_iterator<std::string>{from}, {}};
}

} // namespace

BOOST_AUTO_TEST_SUITE(sample_captions_test)

BOOST_AUTO_TEST_CASE(they_are_captions_that_the_family_knows) {
  const auto drawn = draw_sample_captions(3, 200, 1000);
  BOOST_TEST_REQUIRE(drawn.first.size() == 200u);
  BOOST_TEST_REQUIRE(drawn.second.size() == 1000u);
  for (const auto* all : {&drawn.first, &drawn.second})
    for (const auto& text : *all) {
      BOOST_TEST(caption_notes(text).empty(), text);
      const auto read = parse_caption(text);
      BOOST_TEST(read.unknown_words.empty(), text);
      BOOST_TEST(read.remarks.empty(), text);
    }
}

BOOST_AUTO_TEST_CASE(they_are_more_and_less_alike) {
  const auto drawn = draw_sample_captions(5, 40, 240);
  size_t others = 0;
  size_t exchanges = 0;
  for (size_t i = 0; i < drawn.second.size(); ++i) {
    const auto& near = drawn.first[i / 6];
    const auto& text = drawn.second[i];
    const auto says = parse_caption(text).says;
    const auto said = parse_caption(near).says;
    switch (i % 6) {
      case 0:
        BOOST_TEST(text == near);
        break;
      case 1:
        BOOST_TEST(text != near);
        if (says.objects.size() == 1)
          break;
        // Only the order of the words distinguishes them.
        ++exchanges;
        BOOST_TEST(words_of(text) == words_of(near));
        BOOST_TEST((says.objects[0].place == said.objects[1].place));
        BOOST_TEST((says.objects[1].place == said.objects[0].place));
        break;
      case 2:
        // A colour may change together with the background, so that the object
        // is visible.
        BOOST_TEST(differences(says, said) >= 1u, near << " / " << text);
        BOOST_TEST(differences(says, said) <= 1 + says.objects.size());
        break;
      case 3:
        BOOST_TEST(differences(says, said) >= 2u, near << " / " << text);
        break;
      case 4:
        BOOST_TEST(differences(says, said) >= 4u, near << " / " << text);
        break;
      default:
        others += text != near ? 1u : 0u;
    }
  }
  BOOST_TEST(others == 40u);
  BOOST_TEST(exchanges > 10u);
}

BOOST_AUTO_TEST_CASE(equal_seeds_draw_equal_captions) {
  const auto one = draw_sample_captions(1, 10, 20);
  const auto again = draw_sample_captions(1, 10, 20);
  BOOST_TEST(one.first == again.first);
  BOOST_TEST(one.second == again.second);
  BOOST_TEST(one.first != draw_sample_captions(2, 10, 20).first);
}

BOOST_AUTO_TEST_SUITE_END()
