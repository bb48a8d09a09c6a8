// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/training/contrast.hpp>
#include <atelier/training/detail/separation.hpp>
#include <atelier/training/scene.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

scene_point centre_of(grid_place place) {
  const auto i = static_cast<size_t>(place);
  return {grid_centres[i % 3], grid_centres[i / 3]};
}

grid_place place_at(scene_point at) {
  const auto nearest = [](float v) {
    const auto off = [v](float centre) { return std::abs(v - centre); };
    const auto it = std::ranges::min_element(grid_centres, {}, off);
    return it - grid_centres.begin();
  };
  return static_cast<grid_place>(nearest(at.y) * 3 + nearest(at.x));
}

namespace {

// The least distance of a point in a direction, and the least ratio of that
// distance to its deviation from the direction.
struct direction_bound {
  float distance;
  float ratio;
};

bool lies_towards(float along, float across, relation_rule by) {
  const auto bound = by == relation_rule::clear ? direction_bound{20, 1.35f}
                                                : direction_bound{8, 0.75f};
  return along >= bound.distance && along >= bound.ratio * std::abs(across);
}

bool lies_between(scene_point subject, scene_point first, scene_point second,
                  relation_rule by) {
  const auto dx = second.x - first.x;
  const auto dy = second.y - first.y;
  const auto square = dx * dx + dy * dy;
  if (square < 400)
    return false;
  const auto px = subject.x - first.x;
  const auto py = subject.y - first.y;
  const auto along = (px * dx + py * dy) / square;
  const auto across = std::abs(px * dy - py * dx) / square;
  const auto clear = by == relation_rule::clear;
  const auto end = clear ? 0.3f : 0.2f;
  return along >= end && along <= 1 - end && across <= (clear ? 0.2f : 0.35f);
}

} // namespace

bool holds(relation what, scene_point subject, scene_point first,
           scene_point second, relation_rule by) {
  const auto dx = subject.x - first.x;
  const auto dy = subject.y - first.y;
  switch (what) {
    case relation::above:
      return lies_towards(-dy, dx, by);
    case relation::below:
      return lies_towards(dy, dx, by);
    case relation::left_of:
      return lies_towards(-dx, dy, by);
    case relation::right_of:
      return lies_towards(dx, dy, by);
    case relation::between:
      return lies_between(subject, first, second, by);
  }
  return false;
}

bool held_out(object_shape shape, object_colour colour, grid_place place) {
  const core::philox_block pair{static_cast<uint32_t>(shape),
                                static_cast<uint32_t>(colour), 0, 0};
  constexpr core::philox_key key{0x68656C64, 0x6F757421};
  return core::philox4x32(pair, key)[0] % place_count
      == static_cast<size_t>(place);
}

std::optional<std::string_view> fault_of(const scene& x) {
  const auto& ground = x.background;
  if ((ground.grade == background_grade::plain) != (ground.from == ground.to))
    return "the background's colours do not fit its grade";
  if (x.objects.empty() || x.objects.size() > most_objects)
    return "not one to three objects";
  for (auto it = x.objects.begin(); it != x.objects.end(); ++it) {
    const auto range = radii(it->size);
    if (it->radius < range.low || it->radius > range.high)
      return "an object's radius is not of its size";
    const auto centre = centre_of(place_at(it->centre));
    if (std::abs(it->centre.x - centre.x) > place_jitter
        || std::abs(it->centre.y - centre.y) > place_jitter)
      return "an object is at no place";
    const auto inside = [&](float v) {
      return v >= it->radius + 1 && v <= scene_side - it->radius - 1;
    };
    if (!inside(it->centre.x) || !inside(it->centre.y))
      return "an object reaches out of the image";
    if (!stands_out(*it, ground))
      return "an object stands out too little";
    for (auto other = x.objects.begin(); other != it; ++other) {
      if (!detail::apart(*it, *other))
        return "two objects are too close";
      if (it->shape == other->shape && it->colour == other->colour)
        return "two objects are of one shape and colour";
    }
  }
  return {};
}

} // namespace atelier::gpu
