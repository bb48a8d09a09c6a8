// SPDX-License-Identifier: Apache-2.0
#include "rig.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/bitmap_font.hpp>
#include <atelier/gpu/test_card.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(test_card)

namespace {

core::recipe sample_recipe(core::extent px = {64, 64}) {
  core::recipe how;
  how.steps = 20;
  how.guidance = 7.5f;
  how.px = px;
  how.seed = 42;
  return how;
}

const core::prompt_pair sample_text{"a red fox asleep under a birch", "fog"};

std::vector<float> walk(const std::vector<uint32_t>& steps,
                        const core::recipe& how = sample_recipe(),
                        const core::prompt_pair& text = sample_text) {
  auto latent = test::noise_of(1, 256);
  for (const auto step : steps)
    test_card_step(latent, how, text, step);
  return latent;
}

std::vector<std::byte> draw(const std::vector<float>& latent,
                            core::latent_shape shape, const core::recipe& how,
                            const core::prompt_pair& text = sample_text) {
  std::vector<std::byte> rgb(test_card_bytes(how.px));
  test_card_decode(latent, shape, how, text, rgb);
  return rgb;
}

uint64_t sum_of(const void* data, size_t bytes) {
  auto sum = 0xCBF29CE484222325ull;
  for (auto i = size_t{0}; i < bytes; ++i)
    sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001B3ull;
  return sum;
}

} // namespace

BOOST_AUTO_TEST_CASE(the_bits_are_the_same_everywhere) {
  const auto latent = walk({0, 1, 2});
  BOOST_TEST(sum_of(latent.data(), latent.size() * sizeof(float))
             == 17444459621735702003u);
  const auto rgb = draw(latent, {4, 8, 8}, sample_recipe());
  BOOST_TEST(sum_of(rgb.data(), rgb.size()) == 10503999843441188038u);
}

BOOST_AUTO_TEST_CASE(a_lost_repeated_or_swapped_step_shows) {
  const auto right = walk({0, 1, 2});
  BOOST_CHECK(walk({0, 1, 2}) == right);
  for (const auto& wrong : std::vector<std::vector<uint32_t>>{{0, 1},
                                                              {0, 2},
                                                              {1, 2},
                                                              {0, 1, 1, 2},
                                                              {0, 1, 2, 2},
                                                              {1, 0, 2},
                                                              {0, 2, 1}}) {
    const auto latent = walk(wrong);
    auto equal = 0;
    for (auto i = size_t{0}; i < latent.size(); ++i)
      equal += latent[i] == right[i];
    BOOST_TEST(equal == 0);
  }
}

BOOST_AUTO_TEST_CASE(every_part_of_the_request_shows) {
  const auto right = walk({0});
  const auto changes = std::vector<std::function<void(core::recipe&)>>{
    [](auto& x) { x.steps = 21; },
    [](auto& x) { x.guidance = 7.25f; },
    [](auto& x) { x.sampler = core::sampler::euler; },
    [](auto& x) { x.guidance_rescale = 0.5f; },
    [](auto& x) { x.eta = 0.5f; },
    [](auto& x) { x.karras = true; },
    [](auto& x) { x.spacing = core::step_spacing::trailing; },
    [](auto& x) { x.variant = core::variant_id{1}; },
    [](auto& x) {
      x.px = {64, 72};
    }};
  for (const auto& change : changes) {
    auto how = sample_recipe();
    change(how);
    BOOST_CHECK(walk({0}, how) != right);
  }
  const auto how = sample_recipe();
  BOOST_CHECK(walk({0}, how, {"a red fox", "fog"}) != right);
  BOOST_CHECK(walk({0}, how, {sample_text.positive, ""}) != right);
  BOOST_CHECK(walk({0}, how, {"ab", "c"}) != walk({0}, how, {"a", "bc"}));
}

BOOST_AUTO_TEST_CASE(the_source_shows_in_the_steps) {
  const std::vector<uint8_t> pixels(64 * 64 * 3, 7);
  std::vector<uint8_t> mask(64 * 64, 255);
  const source_parts plain{{64, 64}, pixels, {}, {}};
  const source_parts masked{{64, 64}, pixels, mask, {}};
  const auto sum = test_card_sum(plain);
  BOOST_TEST(sum != 0u);
  BOOST_TEST(sum != test_card_sum(masked));
  const auto before = test_card_sum(masked);
  mask[5] = 0;
  BOOST_TEST(before != test_card_sum(masked));
  const auto step = [](uint64_t source, float strength) {
    auto how = sample_recipe();
    how.strength = strength;
    auto latent = test::noise_of(1, 256);
    test_card_step(latent, how, sample_text, 0, source);
    return latent;
  };
  BOOST_CHECK(step(0, 1) == walk({0}));
  BOOST_CHECK(step(sum, 1) != walk({0}));
  BOOST_CHECK(step(sum, 1) != step(sum, 0.5f));
  BOOST_CHECK(step(sum, 1) != step(before, 1));
}

BOOST_AUTO_TEST_CASE(the_card_lies_over_its_source) {
  const auto latent = walk({0});
  const auto how = sample_recipe();
  const auto card = draw(latent, {4, 8, 8}, how);
  std::vector<uint8_t> pixels(card.size());
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<uint8_t>(i * 3);
  std::vector<uint8_t> mask(64 * 64);
  for (size_t i = 0; i < mask.size(); ++i)
    mask[i] = i % 64 < 32 ? 0 : 255;
  const auto over = [&](float strength, bool masked) {
    auto with = how;
    with.strength = strength;
    const source_parts source{{64, 64},
                              pixels,
                              masked ? std::span<const uint8_t>{mask}
                                     : std::span<const uint8_t>{},
                              {}};
    std::vector<std::byte> rgb(card.size());
    test_card_decode(latent, {4, 8, 8}, with, sample_text, rgb, &source);
    return rgb;
  };
  const auto mixed = [&](size_t i, int share) {
    return static_cast<std::byte>(
      (std::to_integer<int>(card[i]) * share + pixels[i] * (256 - share) + 128)
      / 256);
  };
  const auto half = over(0.5f, false);
  const auto whole = over(1, true);
  for (size_t i = 0; i < card.size(); ++i) {
    BOOST_REQUIRE((half[i] == mixed(i, 128)));
    const bool kept = i / 3 % 64 < 32;
    BOOST_REQUIRE((whole[i] == mixed(i, kept ? 0 : 224)));
  }
  // Without a source, the card has nothing below it.
  BOOST_CHECK(draw(latent, {4, 8, 8}, how) == card);
}

BOOST_AUTO_TEST_CASE(latents_stay_finite_and_small) {
  for (const auto x : walk({0, 1, 2, 3}))
    BOOST_REQUIRE(std::abs(x) <= 4);
}

BOOST_AUTO_TEST_CASE(every_element_shows_in_the_pixels) {
  for (const auto px : std::vector<core::extent>{
         {8, 8}, {16, 8}, {40, 64}, {64, 64}, {512, 48}, {256, 384}}) {
    const auto how = sample_recipe(px);
    const core::latent_shape shape{4, px.height / 8, px.width / 8};
    core::philox random{test::seed(), core::purpose::test};
    std::vector<float> latent(shape.elements());
    for (auto& x : latent)
      x = static_cast<float>(random.uniform());
    const auto right = draw(latent, shape, how);
    const auto tried = std::min(latent.size(), test::scaled(6144) + 40);
    const auto every = latent.size() / tried;
    for (auto i = size_t{0}; i < latent.size(); i += every) {
      const auto was = latent[i];
      latent[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(was) ^ 1u);
      BOOST_TEST((draw(latent, shape, how) != right),
                 "element " << i << " at " << px.width << "x" << px.height);
      latent[i] = was;
    }
  }
}

BOOST_AUTO_TEST_CASE(every_size_and_text_can_be_drawn) {
  core::philox random{test::seed(), core::purpose::test};
  for (auto i = size_t{0}; i < test::scaled(2000) + 12; ++i) {
    const auto side = [&] {
      const auto most = random.below(40) == 0 ? 256u : 40u;
      return static_cast<uint32_t>(8 * (1 + random.below(most)));
    };
    const auto how = sample_recipe({side(), side()});
    const core::latent_shape shape{4, how.px.height / 8, how.px.width / 8};
    core::prompt_pair text;
    for (auto n = random.below(400); n > 0; --n)
      text.positive += static_cast<char>(random.below(256));
    const auto rgb =
      draw(std::vector<float>(shape.elements()), shape, how, text);
    BOOST_REQUIRE_EQUAL(rgb.size(), test_card_bytes(how.px));
  }
}

BOOST_AUTO_TEST_CASE(the_caption_shows_prompt_and_seed) {
  auto how = sample_recipe({256, 256});
  const core::latent_shape shape{4, 32, 32};
  const std::vector<float> latent(shape.elements());
  const auto right = draw(latent, shape, how);
  BOOST_CHECK(draw(latent, shape, how, {"a blue fox", "fog"}) != right);
  how.seed = 43;
  BOOST_CHECK(draw(latent, shape, how) != right);
}

BOOST_AUTO_TEST_CASE(glyphs_differ_and_strangers_are_boxes) {
  const auto bits = [](char c) {
    auto ink = uint64_t{0};
    for (auto y = 0u; y < detail::glyph_height; ++y)
      for (auto x = 0u; x < detail::glyph_width; ++x)
        ink = ink << 1 | static_cast<uint64_t>(detail::glyph_ink(c, x, y));
    return ink;
  };
  for (auto a = ' '; a <= '~'; ++a)
    for (auto b = a; b < '~';)
      BOOST_TEST(bits(a) != bits(++b));
  for (const auto c : {'\0', '\n', '\x7F', '\x80', '\xFF'})
    BOOST_TEST(bits(c) == bits('\x01'));
  BOOST_TEST(bits(' ') == 0u);
  BOOST_TEST(bits('\x01') != 0u);
}

BOOST_AUTO_TEST_SUITE_END()
