// SPDX-License-Identifier: Apache-2.0

// Captions that differ in little, compared by their words or by images, and
// decided on by every policy.

#include "planning/policies/scene.hpp"
#include "support/scale.hpp"
#include <atelier/index/image_encoder.hpp>
#include <atelier/index/memory.hpp>
#include <atelier/index/text_encoder.hpp>
#include <atelier/index/text_vector.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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

/// A policy's decision, and the entry from which it starts.
struct decision {
  planning::route route;
  std::optional<uint64_t> entry;
};

// Returns what a policy decides for a prompt.
decision decided(const test::scene& by, index::memory& cache,
                 const std::string& prompt) {
  planning::facts known;
  for (int i = 0; i < 5; ++i) {
    const auto next = by.choose(known);
    if (const auto* go = std::get_if<planning::go>(&next)) {
      decision out{by.now.routes.at(go->route.value), {}};
      if (go->match)
        out.entry = known.near.value().at(*go->match).entry;
      return out;
    }
    const auto* need = std::get_if<planning::need>(&next);
    BOOST_REQUIRE(need != nullptr);
    // A cache answers no question about what it does not compare.
    const bool answers =
      need->by == planning::compared::nothing || need->by == cache.compares();
    if (need->near)
      known.near = answers ? cache.near("k", prompt, {10, need->holds})
                           : std::vector<planning::match>{};
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

bool is_answer(const decision& x) {
  return x.route.legs.empty();
}

constexpr core::extent shown_px{16, 16};

// Returns the work of a request, with an image that shows its caption.
index::leftover work_of(const std::string& caption) {
  index::leftover out;
  out.image = std::vector<std::byte>(3 * shown_px.pixels());
  BOOST_REQUIRE(caption.size() < out.image.size());
  std::memcpy(out.image.data(), caption.data(), caption.size());
  out.px = shown_px;
  for (uint32_t steps = 5; steps <= 25; steps += 5)
    out.states.push_back({steps, std::vector<std::byte>(8)});
  return out;
}

// Stand-ins for the two encoders of a CLIP model. A text is no more similar to
// the image that shows it than this, as with CLIP; all that an image has
// besides is in its last number.
constexpr double of_own_image = 0.3;
constexpr size_t seen_dimensions = index::text_dimensions + 1;

std::vector<float> seen_vector(std::string_view caption, double share) {
  std::vector<float> out;
  for (const auto x : index::vector_of(caption))
    out.push_back(static_cast<float>(share * x));
  out.push_back(static_cast<float>(std::sqrt(1 - share * share)));
  return out;
}

class reading_encoder final : public index::text_encoder {
public:
  std::string_view name() const override {
    return "reading";
  }

  size_t dimensions() const override {
    return seen_dimensions;
  }

  core::result<std::vector<float>> encode(
    std::string_view text) const override {
    return seen_vector(text, 1);
  }
};

class seeing_encoder final : public index::image_encoder {
public:
  size_t dimensions() const override {
    return seen_dimensions;
  }

  core::result<std::vector<float>> encode(std::span<const std::byte> rgb,
                                          core::extent) const override {
    const std::string all{reinterpret_cast<const char*>(rgb.data()),
                          rgb.size()};
    return seen_vector(all.c_str(), of_own_image);
  }
};

// Returns every policy beside this profile.
std::vector<test::scene> all_scenes(
  const std::function<void(planning::reuse_profile&)>& with) {
  std::vector<test::scene> out;
  for (const auto& policy : test::every_policy()) {
    auto& s = out.emplace_back(policy->name());
    with(*s.known.reuse);
    s.window(1);
    s.replan();
    s.load();
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(other_captions_test)

BOOST_AUTO_TEST_CASE(no_policy_answers_with_the_image_of_another_caption) {
  // A server refuses thresholds of other encoders beside words; this is what
  // the profile says instead.
  const auto all = all_scenes([](auto& x) { x.answers_from = 1; });
  size_t repeated = 0;
  for (size_t i = 0; i < test::scaled(1'000); ++i) {
    auto random = test::random_of(i);
    const auto [kept, wanted] = captions(i, random);
    index::memory cache{{1 << 20, 10}};
    BOOST_REQUIRE(cache.keep("k", kept, work_of(kept)));
    const auto near = cache.near("k", wanted, {10});
    BOOST_REQUIRE(near.size() == 1u);
    BOOST_TEST(near.front().similarity < 1, kept << " / " << wanted);
    for (const auto& s : all) {
      BOOST_TEST(!is_answer(decided(s, cache, wanted)),
                 s.sut->name() << ": " << kept << " / " << wanted);
      repeated += is_answer(decided(s, cache, kept)) ? 1u : 0u;
    }
  }
  // `gptcache` and `pinecone` answer a caption that is repeated.
  BOOST_TEST(repeated >= 2 * test::scaled(1'000));
}

// An image answers, or is refined, for the caption that it shows, although the
// other one is as good a match but for a word.
BOOST_AUTO_TEST_CASE(no_policy_takes_an_image_that_shows_another_caption) {
  const auto all = all_scenes([](planning::reuse_profile& x) {
    // A measurement finds that similar captions keep too little.
    constexpr double rounding = 1e-4;
    x.images_by = planning::compared::images;
    x.images = {{5, 0.25}, {30, of_own_image - rounding}};
    x.answers_from = of_own_image - rounding;
    x.measured.emplace();
    x.measured->answers.emplace();
  });
  const auto reads = std::make_shared<reading_encoder>();
  const auto sees = std::make_shared<seeing_encoder>();
  size_t answered = 0;
  size_t refined = 0;
  for (size_t i = 0; i < test::scaled(1'000); ++i) {
    auto random = test::random_of(i);
    const auto [one, other] = captions(i, random);
    index::memory cache{{1 << 20, 10}, reads, sees};
    BOOST_REQUIRE(cache.keep("k", one, work_of(one)));
    for (const auto& s : all)
      BOOST_TEST(!is_answer(decided(s, cache, other)),
                 s.sut->name() << ": " << one << " / " << other);
    BOOST_REQUIRE(cache.keep("k", other, work_of(other)));
    for (const auto& s : all) {
      uint64_t entry = 0;
      for (const auto& asked : {one, other}) {
        ++entry;
        const auto x = decided(s, cache, asked);
        const bool refines =
          !is_answer(x) && x.route.legs.front().from == planning::origin::image;
        if (is_answer(x) || refines)
          BOOST_TEST(x.entry.value_or(0) == entry,
                     s.sut->name() << ": " << one << " / " << other);
        answered += is_answer(x) ? 1u : 0u;
        refined += refines ? 1u : 0u;
      }
    }
  }
  // `crs` answers with, and `modm` refines, the image of each caption.
  BOOST_TEST(answered >= 2 * test::scaled(1'000));
  BOOST_TEST(refined >= 2 * test::scaled(1'000));
}

BOOST_AUTO_TEST_SUITE_END()
