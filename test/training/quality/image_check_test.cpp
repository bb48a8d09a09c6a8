// SPDX-License-Identifier: Apache-2.0
#include "degrade.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/captions/palette.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/quality/caption_score.hpp>
#include <atelier/training/render.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/core.h>

#include <array>
#include <ctime>
#include <functional>
#include <numbers>
#include <string>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(image_check_test)

namespace {

core::philox generator(uint64_t number) {
  return core::philox{test::seed(), core::purpose::test,
                      core::request_id{number}};
}

// Rows are drawn values, and columns are detected ones. The last column means
// "not detected", and the last row means "not drawn".
template <size_t Count>
class confusion_table {
public:
  void add(size_t drawn, size_t seen) {
    ++counts_[drawn][seen];
  }

  template <class T>
  std::string text(std::string_view title) const {
    const auto name = [](size_t i) {
      return i < Count ? to_string(static_cast<T>(i)) : "nothing";
    };
    std::string out = fmt::format("{:>10}", title);
    for (auto i = size_t{0}; i <= Count; ++i)
      out += fmt::format(" {:>6.6}", name(i));
    for (auto i = size_t{0}; i <= Count; ++i) {
      out += fmt::format("\n{:>10.10}", name(i));
      for (const auto x : counts_[i])
        out += fmt::format(" {:>6}", x);
    }
    return out;
  }

private:
  std::array<std::array<size_t, Count + 1>, Count + 1> counts_{};
};

struct confusions {
  confusion_table<shape_count> shapes;
  confusion_table<colour_count> colours;
  confusion_table<texture_count> textures;

  // Each object is matched with the nearest detected one, within half a place.
  void add(const scene& drawn, const seen_image& shown) {
    std::vector<bool> used(shown.objects.size(), false);
    for (const auto& x : drawn.objects) {
      const seen_object* match = nullptr;
      for (auto i = size_t{0}; i < used.size(); ++i) {
        const auto& y = shown.objects[i];
        if (!used[i] && !match
            && std::hypot(x.centre.x - y.centre.x, x.centre.y - y.centre.y)
                 < 17) {
          used[i] = true;
          match = &y;
        }
      }
      const auto shape = match && match->shape
                         ? static_cast<size_t>(*match->shape)
                         : shape_count;
      const auto colour = match && match->colour
                          ? static_cast<size_t>(*match->colour)
                          : colour_count;
      shapes.add(static_cast<size_t>(x.shape), shape);
      colours.add(static_cast<size_t>(x.colour), colour);
      textures.add(static_cast<size_t>(x.texture),
                   match ? static_cast<size_t>(match->texture) : texture_count);
    }
    for (auto i = size_t{0}; i < used.size(); ++i)
      if (!used[i]) {
        const auto& y = shown.objects[i];
        shapes.add(shape_count,
                   y.shape ? static_cast<size_t>(*y.shape) : shape_count);
        colours.add(colour_count,
                    y.colour ? static_cast<size_t>(*y.colour) : colour_count);
        textures.add(texture_count, static_cast<size_t>(y.texture));
      }
  }
};

using degradation =
  std::function<image::bitmap(const image::bitmap&, core::philox&)>;

caption_score accuracy(size_t count, uint32_t objects, const degradation& by,
                       confusions* into = nullptr) {
  caption_score sum;
  for (auto i = size_t{0}; i < count; ++i) {
    auto from = generator(i * 4 + objects);
    const auto scene = draw_scene(from, {objects, scene_split::training});
    const auto shown = check_image(by(render(scene), from).view());
    sum += score_image(shown, describe_all(scene));
    if (into != nullptr)
      into->add(scene, shown);
  }
  return sum;
}

std::string row(std::string_view name, uint32_t objects,
                const caption_score& x) {
  const auto percent = [](const score_count& c) { return 100 * c.share(); };
  return fmt::format("{:>14} {:>7} {:>7.1f} {:>7.1f} {:>7.1f} {:>7.1f} "
                     "{:>7.1f} {:>7.1f} {:>7.1f} {:>7.1f}",
                     name, objects, percent(x.images), percent(x.objects),
                     percent(x.shapes), percent(x.colours), percent(x.sizes),
                     percent(x.textures), percent(x.places),
                     percent(x.backgrounds));
}

const auto heading =
  fmt::format("{:>14} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
              "percent right", "objects", "picture", "object", "shape",
              "colour", "size", "texture", "place", "backgr.");

const degradation untouched = [](const image::bitmap& x, core::philox&) {
  return x;
};

// Returns a white image that is red where `covers` holds; its arguments are in
// radii from the centre.
image::bitmap silhouette(float radius, bool (*covers)(float, float),
                         rgb8 colour = {220, 40, 40}) {
  image::bitmap out;
  out.px = {128, 128};
  for (auto y = 0; y < 128; ++y)
    for (auto x = 0; x < 128; ++x) {
      const auto u = (static_cast<float>(x) + 0.5f - 64) / radius;
      const auto v = (static_cast<float>(y) + 0.5f - 64) / radius;
      const auto c = covers(u, v) ? colour : rgb8{246, 246, 246};
      out.bytes.insert(out.bytes.end(), {c.r, c.g, c.b});
    }
  return out;
}

bool in_disc(float x, float y) {
  return x * x + y * y < 1;
}

} // namespace

BOOST_AUTO_TEST_CASE(renders_are_read_right) {
  confusions all;
  std::string table = heading;
  for (uint32_t objects = 1; objects <= most_objects; ++objects) {
    const auto count = test::scaled(30'000);
    const auto x = accuracy(count, objects, untouched, &all);
    table += "\n" + row("render", objects, x);
    // The bound is 97 %, less five standard deviations for this number of
    // images.
    const auto few = 5 * std::sqrt(0.03 * static_cast<double>(count));
    BOOST_TEST(x.images.right + few >= 0.97 * static_cast<double>(count));
    BOOST_TEST(x.images.said == count);
  }
  BOOST_TEST_MESSAGE(table);
  BOOST_TEST_MESSAGE(all.shapes.text<object_shape>("shape"));
  BOOST_TEST_MESSAGE(all.colours.text<object_colour>("colour"));
  BOOST_TEST_MESSAGE(all.textures.text<object_texture>("texture"));
}

BOOST_AUTO_TEST_CASE(held_out_scenes_are_read_right) {
  const auto count = test::scaled(10'000);
  caption_score sum;
  for (auto i = size_t{0}; i < count; ++i) {
    auto from = generator(i);
    const auto scene = draw_scene(from, {0, scene_split::held_out});
    sum += score_image(check_image(render(scene).view()), describe_all(scene));
  }
  BOOST_TEST(sum.images.share() >= 0.95);
}

BOOST_AUTO_TEST_CASE(degraded_renders_are_read_nearly_as_well) {
  struct entry {
    std::string_view name;
    // The required percentage of fully correct images, for any number of
    // objects.
    double least;
    degradation by;
  };

  const entry entries[] = {
    {"blur 1", 95,
     [](const image::bitmap& x, core::philox&) { return test::blurred(x, 1); }},
    {"blur 2", 95,
     [](const image::bitmap& x, core::philox&) { return test::blurred(x, 2); }},
    {"noise 8", 95,
     [](const image::bitmap& x, core::philox& p) {
       return test::noisy(x, 8, p);
     }},
    {"noise 16", 95,
     [](const image::bitmap& x, core::philox& p) {
       return test::noisy(x, 16, p);
     }},
    {"jpeg 50", 95,
     [](const image::bitmap& x, core::philox&) {
       return test::through_jpeg(x, 50);
     }},
    {"4x coarser", 95,
     [](const image::bitmap& x, core::philox&) { return test::coarse(x, 4); }},
    {"wavering", 80,
     [](const image::bitmap& x, core::philox& p) {
       return test::wavering(x, p);
     }},
  };
  std::string table = heading;
  for (const auto& x : entries)
    for (uint32_t objects = 1; objects <= most_objects; ++objects) {
      const auto count = test::scaled(5'000);
      const auto sum = accuracy(count, objects, x.by);
      table += "\n" + row(x.name, objects, sum);
      const auto least = x.least / 100;
      const auto few = 5 * std::sqrt((1 - least) * static_cast<double>(count));
      BOOST_TEST(sum.images.right + few >= least * static_cast<double>(count),
                 x.name << " " << objects);
    }
  BOOST_TEST_MESSAGE(table);
}

BOOST_AUTO_TEST_CASE(other_extents_are_read_too) {
  for (const auto side : {64u, 96u, 200u, 256u, 512u}) {
    caption_score sum;
    for (auto i = uint64_t{0}; i < 20; ++i) {
      core::philox from{21, core::purpose::test, core::request_id{i}};
      const auto scene = draw_scene(from);
      sum += score_image(check_image(render(scene, side).view()),
                         describe_all(scene));
    }
    BOOST_TEST(sum.main.share() >= 0.97, side);
    if (side > 128)
      BOOST_TEST(sum.objects.share() >= 0.95, side);
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_word_makes_a_image_wrong) {
  const auto count = test::scaled(5'000);
  for (auto i = size_t{0}; i < count; ++i) {
    auto from = generator(i);
    const auto scene = draw_scene(from, {1, scene_split::training});
    const auto shown = check_image(render(scene).view());
    const auto said = describe_all(scene);
    const auto wrong = [&](auto change) {
      auto other = said;
      change(other.objects[0]);
      return score_image(shown, other).objects.right == 0;
    };
    const auto next = [](auto x, size_t of) {
      return static_cast<decltype(x)>((static_cast<size_t>(x) + 1) % of);
    };
    BOOST_TEST(wrong([&](auto& x) { x.shape = next(x.shape, shape_count); }));
    BOOST_TEST(
      wrong([&](auto& x) { x.colour = next(*x.colour, colour_count); }));
    BOOST_TEST(wrong([&](auto& x) { x.size = next(*x.size, size_count); }));
    BOOST_TEST(wrong([&](auto& x) { x.place = next(*x.place, place_count); }));
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_seen_where_nothing_is) {
  scene empty;
  empty.background.from = background_colour::teal;
  empty.background.to = background_colour::teal;
  const auto shown = check_image(render(empty).view());
  BOOST_TEST(shown.objects.empty());
  BOOST_TEST((shown.background == empty.background));
  // Specks do not count as objects.
  const auto speck = check_image(silhouette(4, in_disc).view());
  BOOST_TEST(speck.objects.empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_shape_has_none) {
  using covers = bool (*)(float, float);
  const covers others[] = {
    [](float x, float y) { return std::abs(x) < 1 && std::abs(y) < 0.35f; },
    [](float x, float y) { return x * x + y * y / 0.4f < 1; },
    [](float x, float y) { return in_disc(x, y) && y < 0.1f; },
    [](float x, float y) {
      return (std::abs(x + 0.6f) < 0.35f && std::abs(y) < 1)
          || (std::abs(y - 0.7f) < 0.3f && std::abs(x) < 0.95f);
    },
    // This is a triangle upside down.
    [](float x, float y) {
      return y > -0.7f && 0.87f * std::abs(x) + 0.49f * (y - 0.9f) < 0;
    },
  };
  for (const auto& x : others)
    for (const auto radius : {17.f, 27.f}) {
      const auto shown = check_image(silhouette(radius, x).view());
      BOOST_REQUIRE(shown.objects.size() == 1u);
      BOOST_TEST(!shown.objects[0].shape.has_value(), &x - others);
      BOOST_TEST((shown.objects[0].colour == object_colour::red));
    }
}

BOOST_AUTO_TEST_CASE(what_is_none_of_the_colours_has_none) {
  // The colours are grey, pale pink, brown and cyan.
  for (const auto colour : {rgb8{130, 130, 130}, rgb8{240, 150, 150},
                            rgb8{110, 70, 40}, rgb8{0, 200, 210}}) {
    const auto shown = check_image(silhouette(27, in_disc, colour).view());
    BOOST_REQUIRE(shown.objects.size() == 1u);
    BOOST_TEST(!shown.objects[0].colour.has_value());
    BOOST_TEST((shown.objects[0].shape == object_shape::circle));
  }
}

BOOST_AUTO_TEST_CASE(any_image_is_survived) {
  core::philox from{test::seed(), core::purpose::test};
  for (const auto side : {1u, 2u, 3u, 17u, 128u, 300u})
    for (const auto noise : {0.0, 1.0}) {
      image::bitmap x;
      x.px = {side, side + (side > 100 ? 0 : 2)};
      for (auto i = uint64_t{0}; i < x.px.pixels() * 3; ++i)
        x.bytes.push_back(static_cast<uint8_t>(noise * from.uniform() * 255));
      const auto shown = check_image(x.view());
      BOOST_TEST(shown.objects.size() < 128u * 128 / 90);
      for (const auto& o : shown.objects)
        BOOST_TEST(std::isfinite(o.shape_score + o.radius + o.centre.x));
    }
  // The images are halves, and a checkerboard whose squares are as large as
  // objects.
  const auto halves = silhouette(1, [](float x, float) { return x < 0; });
  static_cast<void>(check_image(halves.view()));
  const auto board = silhouette(32, [](float x, float y) {
    return (static_cast<int>(x + 10) + static_cast<int>(y + 10)) % 2 == 0;
  });
  static_cast<void>(check_image(board.view()));
}

BOOST_AUTO_TEST_CASE(both_are_quick) {
  const auto count = std::max<size_t>(test::scaled(10'000), 100);
  std::vector<scene> scenes;
  for (auto i = size_t{0}; i < count; ++i) {
    auto from = generator(i);
    scenes.push_back(draw_scene(from));
  }
  std::vector<image::bitmap> images;
  const auto milliseconds_each = [count](std::clock_t since) {
    return 1e3 * static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC
         / static_cast<double>(count);
  };
  auto start = std::clock();
  for (const auto& x : scenes)
    images.push_back(render(x));
  const auto render_ms = milliseconds_each(start);
  auto objects = size_t{0};
  start = std::clock();
  for (const auto& x : images)
    objects += check_image(x.view()).objects.size();
  const auto check_ms = milliseconds_each(start);
  BOOST_TEST(objects > count);
  BOOST_TEST_MESSAGE(fmt::format(
    "processor time of an image: {:.3f} ms to render, {:.3f} ms to check",
    render_ms, check_ms));
}

BOOST_AUTO_TEST_SUITE_END()
