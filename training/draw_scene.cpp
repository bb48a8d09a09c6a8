// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/training/contrast.hpp>
#include <atelier/training/detail/layouts.hpp>
#include <atelier/training/detail/separation.hpp>
#include <atelier/training/draw_scene.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace atelier::gpu {

namespace {

struct look {
  object_shape shape;
  object_colour colour;

  friend bool operator==(const look&, const look&) = default;
};

// The looks that a split allows at each place.
using looks_by_place = std::array<std::vector<look>, place_count>;

looks_by_place looks_of(scene_split split) {
  looks_by_place out;
  for (auto place = size_t{0}; place < place_count; ++place)
    for (auto shape = size_t{0}; shape < shape_count; ++shape)
      for (auto colour = size_t{0}; colour < colour_count; ++colour) {
        const look x{static_cast<object_shape>(shape),
                     static_cast<object_colour>(colour)};
        const auto held =
          held_out(x.shape, x.colour, static_cast<grid_place>(place));
        if (held == (split == scene_split::held_out))
          out[place].push_back(x);
      }
  return out;
}

// Tables that do not depend on the generator.
struct tables {
  std::array<detail::layout_table, most_objects> layouts{
    detail::layout_table{1}, detail::layout_table{2}, detail::layout_table{3}};
  looks_by_place training = looks_of(scene_split::training);
  looks_by_place held_out = looks_of(scene_split::held_out);
};

const tables& the_tables() {
  static const tables once;
  return once;
}

template <class T>
T one_of(core::philox& from, size_t count) {
  return static_cast<T>(from.below(count));
}

float between(core::philox& from, float low, float high) {
  const auto share = static_cast<float>(from.uniform());
  return std::clamp(low + (high - low) * share, low, high);
}

object_texture draw_texture(core::philox& from) {
  constexpr object_texture quarters[] = {
    object_texture::plain, object_texture::plain, object_texture::striped,
    object_texture::dotted};
  return quarters[from.below(std::size(quarters))];
}

std::vector<scene_object> draw_looks(core::philox& from,
                                     const detail::layout& in,
                                     const looks_by_place& looks) {
  std::vector<scene_object> out;
  for (auto i = size_t{0}; i < in.count; ++i) {
    const auto& slot = in.slots[i];
    const auto& choice = looks[static_cast<size_t>(slot.place)];
    const auto& x = choice[from.below(choice.size())];
    scene_object next;
    next.shape = x.shape;
    next.colour = x.colour;
    next.size = slot.size;
    next.texture = draw_texture(from);
    next.centre = centre_of(slot.place);
    out.push_back(next);
  }
  return out;
}

bool any_alike(const std::vector<scene_object>& objects) {
  for (auto it = objects.begin(); it != objects.end(); ++it)
    for (auto other = objects.begin(); other != it; ++other)
      if (it->shape == other->shape && it->colour == other->colour)
        return true;
  return false;
}

// Moves `x` away from its place's centre, but not out of the image.
void jitter(core::philox& from, scene_object& x) {
  const auto range = radii(x.size);
  x.radius = between(from, range.low, range.high);
  const auto low = x.radius + 1;
  const auto high = scene_side - x.radius - 1;
  const auto moved = [&](float v) {
    return between(from, std::max(v - place_jitter, low),
                   std::min(v + place_jitter, high));
  };
  const auto middle = centre_of(place_at(x.centre));
  x.centre.x = moved(middle.x);
  x.centre.y = moved(middle.y);
}

bool jitter_apart(core::philox& from, std::vector<scene_object>& objects) {
  // With so many tries, looks that seldom fit are hardly rarer than others.
  constexpr auto tries = 2000;
  for (auto i = 0; i < tries; ++i) {
    for (auto& x : objects)
      jitter(from, x);
    auto fits = true;
    for (auto it = objects.begin(); it != objects.end(); ++it)
      for (auto other = objects.begin(); other != it; ++other)
        fits = fits && detail::apart(*it, *other);
    if (fits)
      return true;
  }
  return false;
}

std::optional<scene_background> draw_background(
  core::philox& from, const std::vector<scene_object>& objects) {
  const auto graded = from.below(10) < 3;
  constexpr auto tries = 200;
  for (auto i = 0; i < tries; ++i) {
    scene_background out;
    out.from = one_of<background_colour>(from, background_colour_count);
    out.to = out.from;
    if (graded) {
      out.to = one_of<background_colour>(from, background_colour_count);
      out.grade = from.below(2) == 0 ? background_grade::vertical
                                     : background_grade::horizontal;
      if (out.to == out.from)
        continue;
    }
    if (std::ranges::all_of(objects,
                            [&](const auto& x) { return stands_out(x, out); }))
      return out;
  }
  return {};
}

} // namespace

scene draw_scene(core::philox& from, const scene_options& options) {
  ATELIER_EXPECTS(options.objects <= most_objects, "at most three objects");
  const auto count = options.objects != 0
                     ? size_t{options.objects}
                     : 1 + static_cast<size_t>(from.below(most_objects));
  const auto& fixed = the_tables();
  const auto& looks =
    options.split == scene_split::training ? fixed.training : fixed.held_out;
  // Looks that do not fit are replaced by others at the same places, which
  // preserves the balance of places and sizes.
  const auto& in = fixed.layouts[count - 1].draw(from);
  for (;;) {
    scene out;
    out.objects = draw_looks(from, in, looks);
    if (any_alike(out.objects) || !jitter_apart(from, out.objects))
      continue;
    if (const auto background = draw_background(from, out.objects)) {
      out.background = *background;
      return out;
    }
  }
}

} // namespace atelier::gpu
