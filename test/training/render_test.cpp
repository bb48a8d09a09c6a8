// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/captions/palette.hpp>
#include <atelier/training/contrast.hpp>
#include <atelier/training/detail/signed_distance.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/render.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(render_test)

namespace {

constexpr auto all_shapes = [] {
  std::array<object_shape, shape_count> out{};
  for (auto i = size_t{0}; i < shape_count; ++i)
    out[i] = static_cast<object_shape>(i);
  return out;
}();

rgb8 pixel(const image::bitmap& in, uint32_t x, uint32_t y) {
  const auto* p = in.bytes.data() + (size_t{y} * in.px.width + x) * 3;
  return {p[0], p[1], p[2]};
}

scene one_object(object_shape shape, object_texture texture) {
  scene x;
  x.objects.resize(1);
  x.objects[0].shape = shape;
  x.objects[0].texture = texture;
  x.objects[0].radius = 27;
  x.objects[0].size = object_size::large;
  return x;
}

} // namespace

BOOST_AUTO_TEST_CASE(objects_are_drawn_on_their_background) {
  const auto shown =
    render(one_object(object_shape::circle, object_texture::plain));
  BOOST_TEST(shown.px.width == 128u);
  BOOST_TEST(shown.bytes.size() == 128u * 128 * 3);
  BOOST_TEST((pixel(shown, 64, 64) == colour_of(object_colour::red)));
  BOOST_TEST((pixel(shown, 64, 40) == colour_of(object_colour::red)));
  BOOST_TEST((pixel(shown, 64, 30) == colour_of(background_colour::white)));
  BOOST_TEST((pixel(shown, 0, 127) == colour_of(background_colour::white)));
}

BOOST_AUTO_TEST_CASE(graded_backgrounds_run_from_one_colour_to_the_other) {
  scene x = one_object(object_shape::circle, object_texture::plain);
  x.background = {background_colour::black, background_colour::pink,
                  background_grade::horizontal};
  const auto across = render(x);
  BOOST_TEST(pixel(across, 0, 5).r < 24);
  BOOST_TEST(pixel(across, 127, 5).r > 246);
  BOOST_TEST((pixel(across, 20, 5) == pixel(across, 20, 120)));
  x.background.grade = background_grade::vertical;
  const auto down = render(x);
  BOOST_TEST(pixel(down, 5, 0).r < 24);
  BOOST_TEST(pixel(down, 5, 127).r > 246);
}

BOOST_AUTO_TEST_CASE(the_same_bytes_come_everywhere) {
  core::sha256_stream sum;
  for (auto i = uint64_t{0}; i < 50; ++i) {
    core::philox from{11, core::purpose::test, core::request_id{i}};
    const auto shown = render(draw_scene(from));
    sum.update(std::as_bytes(std::span{shown.bytes}));
  }
  BOOST_TEST(
    core::to_hex(sum.finish())
    == "6a9354e26bc1d559a48fd376f06b72cca3f975577f1a2a3192ea6bcf929bcee3");
}

BOOST_AUTO_TEST_CASE(blocks_are_skipped_only_where_nothing_is_lost) {
  // Distances that change faster than their argument would show as squares.
  const auto count = test::scaled(3'000'000);
  core::philox from{test::seed(), core::purpose::test};
  for (auto i = size_t{0}; i < count; ++i) {
    const auto shape = all_shapes[from.below(shape_count)];
    const auto draw = [&] {
      return static_cast<float>(from.uniform() * 3 - 1.5);
    };
    const auto x = draw();
    const auto y = draw();
    const auto dx = draw() / 10;
    const auto dy = draw() / 10;
    const auto change = std::abs(detail::signed_distance(shape, x + dx, y + dy)
                                 - detail::signed_distance(shape, x, y));
    BOOST_TEST(change <= std::hypot(dx, dy) * 1.0001f + 1e-5f,
               to_string(shape) << " at " << x << ", " << y);
  }
}

BOOST_AUTO_TEST_CASE(shapes_fill_their_reach) {
  for (const auto shape : all_shapes)
    for (auto turn = 0; turn < 64; ++turn) {
      const auto angle = static_cast<float>(turn) * 0.0982f;
      const auto dx = std::cos(angle);
      const auto dy = std::sin(angle);
      auto farthest = 0.f;
      for (auto x = -1.2f; x <= 1.2f; x += 0.01f)
        for (auto y = -1.2f; y <= 1.2f; y += 0.01f)
          if (detail::signed_distance(shape, x, y) < 0)
            farthest = std::max(farthest, x * dx + y * dy);
      const auto reach = detail::reach(shape, dx, dy);
      // Sharp tips end between the points.
      BOOST_TEST(farthest <= reach + 1e-3f, to_string(shape) << " " << turn);
      BOOST_TEST(farthest >= reach - 0.04f, to_string(shape) << " " << turn);
    }
  for (const auto shape : all_shapes)
    for (const auto side : {-1.f, 1.f}) {
      BOOST_TEST(detail::reach(shape, side, 0) <= 1);
      BOOST_TEST(detail::reach(shape, 0, side) <= 1);
    }
}

BOOST_AUTO_TEST_CASE(edges_are_smooth) {
  // The coverage of a shape, summed over its smoothed pixels, is its area. It
  // stays the same when the shape moves by fractions of a pixel.
  constexpr auto area_of_disc = 3.14159f * 27 * 27;
  for (const auto off : {0.f, 0.25f, 0.5f, 0.7f}) {
    auto x = one_object(object_shape::circle, object_texture::plain);
    x.objects[0].centre = {64 + off, 64 - off / 3};
    const auto shown = render(x);
    auto area = 0.f;
    for (auto i = size_t{1}; i < shown.bytes.size(); i += 3)
      area += static_cast<float>(246 - shown.bytes[i]) / (246 - 40);
    BOOST_TEST(std::abs(area - area_of_disc) < 3, area);
  }
}

BOOST_AUTO_TEST_CASE(patterns_cover_their_share) {
  for (const auto& [texture, share] : {std::pair{object_texture::plain, 0.f},
                                       {object_texture::striped, 0.5f},
                                       {object_texture::dotted, 0.28f}}) {
    const auto shown = render(one_object(object_shape::circle, texture));
    const auto base = colour_of(object_colour::red);
    const auto pattern = pattern_colour_of(object_colour::red);
    auto sum = 0.f;
    auto pixels = 0;
    for (auto y = 48u; y < 80; ++y)
      for (auto x = 48u; x < 80; ++x, ++pixels)
        sum += static_cast<float>(pixel(shown, x, y).g - base.g)
             / static_cast<float>(pattern.g - base.g);
    BOOST_TEST(std::abs(sum / static_cast<float>(pixels) - share) < 0.02f);
  }
}

BOOST_AUTO_TEST_CASE(any_extent_shows_the_same_scene) {
  core::philox from{test::seed(), core::purpose::test};
  for (auto i = 0; i < 10; ++i) {
    const auto x = draw_scene(from);
    const auto fine = render(x, 512);
    const auto usual = render(x, 128);
    auto off = 0.0;
    for (auto y = 0u; y < 128; ++y)
      for (auto at = 0u; at < 128; ++at) {
        auto sum = 0;
        for (auto j = 0u; j < 4; ++j)
          for (auto k = 0u; k < 4; ++k)
            sum += pixel(fine, at * 4 + k, y * 4 + j).g;
        off += std::abs(sum / 16.0 - pixel(usual, at, y).g);
      }
    BOOST_TEST(off / (128 * 128) < 1.0);
    for (const auto side : {1u, 7u, 64u, 200u})
      BOOST_TEST(render(x, side).bytes.size() == size_t{side} * side * 3);
  }
}

BOOST_AUTO_TEST_CASE(batches_are_planes_of_the_same_images) {
  core::philox from{test::seed(), core::purpose::test};
  std::vector<scene> scenes;
  for (auto i = 0; i < 3; ++i)
    scenes.push_back(draw_scene(from));
  std::vector<float> planes(size_t{3} * 3 * 64 * 64);
  render_batch(scenes, 64, planes);
  for (auto n = size_t{0}; n < 3; ++n) {
    const auto shown = render(scenes[n], 64);
    auto equal = true;
    for (auto c = size_t{0}; c < 3; ++c)
      for (auto i = size_t{0}; i < 64 * 64; ++i)
        equal = equal
             && planes[(n * 3 + c) * 64 * 64 + i]
                  == static_cast<float>(shown.bytes[i * 3 + c]) / 127.5f - 1;
    BOOST_TEST(equal);
  }
  const auto [low, high] = std::ranges::minmax(planes);
  BOOST_TEST(low >= -1);
  BOOST_TEST(high <= 1);
}

BOOST_AUTO_TEST_SUITE_END()
