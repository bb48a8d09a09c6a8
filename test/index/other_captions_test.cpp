// SPDX-License-Identifier: Apache-2.0

// Captions that differ in little, compared by their words and decided on by
// every policy.

#include "planning/policies/scene.hpp"
#include "support/scale.hpp"
#include <atelier/index/memory.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace atelier;

namespace {

constexpr std::array<std::string_view, 6> shapes{"circle", "square", "star",
                                                 "heart",  "ring",   "cross"};
constexpr std::array<std::string_view, 6> colours{"red",   "blue",   "green",
                                                  "white", "yellow", "purple"};
constexpr std::array<std::string_view, 4> places{"on the left", "on the right",
                                                 "at the top", "at the bottom"};

struct object {
  std::string_view colour;
  std::string_view shape;
  std::string_view place;
};

template <size_t N>
std::string_view any(const std::array<std::string_view, N>& of,
                     core::philox& random) {
  return of[random.below(N)];
}

template <size_t N>
std::string_view other(const std::array<std::string_view, N>& of,
                       std::string_view than, core::philox& random) {
  for (;;)
    if (const auto x = any(of, random); x != than)
      return x;
}

std::string caption(const object& a, const object& b, std::string_view style) {
  return fmt::format("a {} {} {} and a {} {} {}{}", a.colour, a.shape, a.place,
                     b.colour, b.shape, b.place, style);
}

// Returns two captions that differ in a word, or in the place or order of words
// that both have.
std::pair<std::string, std::string> captions(size_t i, core::philox& random) {
  object a{any(colours, random), any(shapes, random), any(places, random)};
  object b{other(colours, a.colour, random), other(shapes, a.shape, random),
           other(places, a.place, random)};
  const std::string_view style =
    i % 2 == 0 ? ""
               : ", oil painting, masterpiece, best quality, highly detailed, "
                 "dramatic light, soft shadows, trending, sharp focus, 8k";
  const auto first = caption(a, b, style);
  switch (i % 6) {
    case 0:
      b.shape = other(shapes, b.shape, random);
      break;
    case 1:
      b.colour = other(colours, b.colour, random);
      break;
    case 2:
      b.place = other(places, b.place, random);
      break;
    case 3:
      std::swap(a.place, b.place);
      break;
    case 4:
      std::swap(a.colour, b.colour);
      break;
    default:
      std::swap(a.shape, b.shape);
  }
  return {first, caption(a, b, style)};
}

// Returns the route that a policy chooses for a request that finds this.
planning::route chosen(const test::scene& by,
                       const std::vector<planning::match>& near) {
  planning::facts known;
  for (int i = 0; i < 5; ++i) {
    const auto next = by.choose(known);
    if (const auto* go = std::get_if<planning::go>(&next))
      return by.now.routes.at(go->route.value);
    const auto* need = std::get_if<planning::need>(&next);
    BOOST_REQUIRE(need != nullptr);
    // The cache compares prompts, and answers no question about images.
    const bool answers = need->by != planning::compared::images;
    if (need->near)
      known.near = answers ? near : std::vector<planning::match>{};
    if (need->hit_likely)
      known.hit_likely = answers;
    if (need->tolerated)
      known.tolerated = std::vector<uint32_t>{2, 2};
    if (need->mask)
      known.mask.emplace();
  }
  BOOST_FAIL("the policy asks for ever");
  return {};
}

bool is_answer(const planning::route& x) {
  return x.legs.empty();
}

} // namespace

BOOST_AUTO_TEST_SUITE(other_captions_test)

BOOST_AUTO_TEST_CASE(no_policy_answers_with_the_image_of_another_caption) {
  std::vector<test::scene> all;
  for (const auto& policy : planning::all_policies()) {
    auto& s = all.emplace_back(policy->name());
    // A server refuses thresholds of other encoders beside words; this is what
    // the profile says instead.
    s.known.reuse->answers_from = 1;
    s.window(1);
    s.replan();
    s.load();
  }
  size_t repeated = 0;
  for (size_t i = 0; i < test::scaled(1'000); ++i) {
    auto random = test::random_of(i);
    const auto [kept, wanted] = captions(i, random);
    index::memory cache{{1 << 20, 10}};
    index::leftover left;
    left.image = std::vector<std::byte>(3 * 8 * 8);
    left.px = {8, 8};
    for (uint32_t steps = 5; steps <= 25; steps += 5)
      left.states.push_back({steps, std::vector<std::byte>(8)});
    BOOST_REQUIRE(cache.keep("k", kept, std::move(left)));
    const auto near = cache.near("k", wanted, {10});
    BOOST_REQUIRE(near.size() == 1u);
    BOOST_TEST(near.front().similarity < 1, kept << " / " << wanted);
    const auto again = cache.near("k", kept, {10});
    for (const auto& s : all) {
      BOOST_TEST(!is_answer(chosen(s, near)),
                 s.sut->name() << ": " << kept << " / " << wanted);
      repeated += is_answer(chosen(s, again)) ? 1u : 0u;
    }
  }
  // `gptcache` and `pinecone` answer a caption that is repeated.
  BOOST_TEST(repeated >= 2 * test::scaled(1'000));
}

BOOST_AUTO_TEST_SUITE_END()
