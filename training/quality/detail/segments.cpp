// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/quality/detail/segments.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

namespace {

template <class F>
void for_neighbours(uint16_t pixel, F visit) {
  const auto x = pixel % check_side;
  const auto y = pixel / check_side;
  for (auto j = std::max(y - 1, 0); j <= std::min(y + 1, check_side - 1); ++j)
    for (auto i = std::max(x - 1, 0); i <= std::min(x + 1, check_side - 1); ++i)
      if (i != x || j != y)
        visit(static_cast<uint16_t>(pixel_at(i, j)));
}

} // namespace

std::vector<segment> connected(std::span<const uint16_t> of,
                               const std::vector<float>& difference,
                               float threshold, size_t least) {
  std::vector<uint8_t> open(check_pixels, 0);
  for (const auto pixel : of)
    open[pixel] = difference[pixel] > threshold ? 1 : 0;
  std::vector<segment> out;
  for (const auto start : of) {
    if (open[start] == 0)
      continue;
    segment next{start};
    open[start] = 0;
    for (auto i = size_t{0}; i < next.size(); ++i)
      for_neighbours(next[i], [&](uint16_t pixel) {
        if (open[pixel] != 0) {
          open[pixel] = 0;
          next.push_back(pixel);
        }
      });
    if (next.size() >= least)
      out.push_back(std::move(next));
  }
  return out;
}

std::vector<segment> grown(const std::vector<segment>& seeds,
                           std::span<const uint16_t> all) {
  constexpr uint8_t outside = 255;
  constexpr uint8_t open = 254;
  std::vector<uint8_t> owner(check_pixels, outside);
  for (const auto pixel : all)
    owner[pixel] = open;
  // All seeds grow at the same pace, one ring of pixels after another.
  segment front;
  for (auto i = size_t{0}; i < seeds.size() && i < open; ++i)
    for (const auto pixel : seeds[i]) {
      owner[pixel] = static_cast<uint8_t>(i);
      front.push_back(pixel);
    }
  auto out = seeds;
  for (auto i = size_t{0}; i < front.size(); ++i) {
    const auto by = owner[front[i]];
    for_neighbours(front[i], [&](uint16_t pixel) {
      if (owner[pixel] == open) {
        owner[pixel] = by;
        out[by].push_back(pixel);
        front.push_back(pixel);
      }
    });
  }
  return out;
}

segment core_of(const segment& of, int depth) {
  // Counts steps from outside: 0 outside, 1 at the outline.
  constexpr uint8_t unknown = 255;
  std::vector<uint8_t> steps(check_pixels, 0);
  for (const auto pixel : of)
    steps[pixel] = unknown;
  segment front;
  for (const auto pixel : of) {
    const auto x = pixel % check_side;
    const auto y = pixel / check_side;
    auto outline =
      x == 0 || y == 0 || x == check_side - 1 || y == check_side - 1;
    for_neighbours(
      pixel, [&](uint16_t other) { outline = outline || steps[other] == 0; });
    if (outline) {
      steps[pixel] = 1;
      front.push_back(pixel);
    }
  }
  for (auto i = size_t{0}; i < front.size(); ++i)
    for_neighbours(front[i], [&](uint16_t other) {
      if (steps[other] == unknown) {
        steps[other] = static_cast<uint8_t>(steps[front[i]] + 1);
        front.push_back(other);
      }
    });
  const auto deepest = front.empty() ? 0 : int{steps[front.back()]};
  const auto needed = std::min(depth, deepest / 2) + 1;
  segment out;
  for (const auto pixel : front)
    if (steps[pixel] >= needed)
      out.push_back(pixel);
  return out;
}

} // namespace atelier::gpu::detail
