// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/image_batch.hpp>
#include <atelier/training/render.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace atelier::gpu {

namespace {

// Returns the pixel at which a crop begins along one axis. The crop's centre is
// moved at random from `centre`, by up to `reach`; both have the units of
// scene_point. The crop begins at a multiple of `crop_step` and stays inside
// the image.
uint32_t cut_at(float centre, float reach, const image_batch_shape& shape,
                core::philox& from) {
  const auto last = shape.side - shape.crop_side;
  const auto units = static_cast<float>(shape.side) / scene_side;
  const auto by = (2 * static_cast<float>(from.uniform()) - 1) * reach;
  const auto begin =
    (centre + by) * units - static_cast<float>(shape.crop_side) / 2;
  const auto step = static_cast<float>(shape.crop_step);
  const auto whole = std::lround(std::max(begin, 0.f) / step)
                   * static_cast<long>(shape.crop_step);
  return std::min(static_cast<uint32_t>(whole), last);
}

void copy_cut(std::span<const float> planes, uint32_t side, uint32_t left,
              uint32_t top, uint32_t cut_side, float* out) {
  for (size_t c = 0; c < 3; ++c)
    for (size_t y = 0; y < cut_side; ++y) {
      const auto* from = planes.data() + (c * side + top + y) * side + left;
      out = std::copy_n(from, cut_side, out);
    }
}

} // namespace

image_batch draw_image_batch(uint64_t seed, uint64_t number,
                             const image_batch_shape& shape) {
  auto from = data_stream(seed, data_use::images, number);
  const auto whole = number % shape.whole_every == shape.whole_every - 1;
  image_batch out;
  out.side = whole ? shape.side : shape.crop_side;
  const auto ratio = shape.side / shape.crop_side;
  out.count = whole ? std::max(shape.crops / (ratio * ratio), 1u) : shape.crops;
  const auto elements = size_t{3} * out.side * out.side;
  out.pixels.resize(out.count * elements);
  std::vector<float> planes(size_t{3} * shape.side * shape.side);
  for (uint32_t i = 0; i < out.count; ++i) {
    const auto x = draw_scene(from);
    auto* to = out.pixels.data() + i * elements;
    if (whole) {
      render_batch({&x, 1}, shape.side, {to, elements});
      continue;
    }
    render_batch({&x, 1}, shape.side, planes);
    const auto& object = x.objects[from.below(x.objects.size())];
    const auto left = cut_at(object.centre.x, object.radius, shape, from);
    const auto top = cut_at(object.centre.y, object.radius, shape, from);
    copy_cut(planes, shape.side, left, top, out.side, to);
  }
  return out;
}

} // namespace atelier::gpu
