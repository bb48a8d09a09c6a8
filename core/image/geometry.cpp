// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/detail/resample.hpp>
#include <atelier/core/image/geometry.hpp>

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

namespace atelier::image {

namespace {

using core::ec;
using core::fail;

using stop_type = std::function<bool()>;

uint8_t light_or_dark(const uint8_t* rgb) {
  const auto luma =
    (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16;
  return luma >= 128 ? 255 : 0;
}

bitmap with_rows_scaled(const pixel_view& from, uint32_t to,
                        const stop_type& stop, scaling_filter by) {
  return detail::scale_rows(from, detail::windows_of(from.px.width, to, by),
                            stop);
}

bitmap with_columns_scaled(const pixel_view& from, uint32_t to,
                           const stop_type& stop, scaling_filter by) {
  return detail::scale_columns(from, detail::windows_of(from.px.height, to, by),
                               stop);
}

bitmap scaled(const pixel_view& from, core::extent to, const stop_type& stop,
              scaling_filter by) {
  const bool rows = to.width != from.px.width;
  const bool columns = to.height != from.px.height;
  // The image between the passes has whole bytes, so the order of the passes
  // matters.
  if (to.width > from.px.width && to.height < from.px.height)
    return with_rows_scaled(
      with_columns_scaled(from, to.height, stop, by).view(), to.width, stop,
      by);
  if (rows && columns)
    return with_columns_scaled(
      with_rows_scaled(from, to.width, stop, by).view(), to.height, stop, by);
  if (rows)
    return with_rows_scaled(from, to.width, stop, by);
  if (columns)
    return with_columns_scaled(from, to.height, stop, by);
  return {to, from.channels, {from.bytes.begin(), from.bytes.end()}};
}

/// Calls `use(to, from)` for each pixel of the upright image with its index
/// there and its index in the other image, in blocks that fit the cache.
template <class F>
void for_each_place(core::extent from, uint32_t orientation, F use) {
  constexpr uint32_t block = 32;
  const bool turned = orientation >= 5;
  const core::extent px = turned ? core::extent{from.height, from.width} : from;
  // These follow from where the first row and the first column are on the
  // screen.
  const bool from_right = orientation == 2 || orientation == 3
                       || orientation == 7 || orientation == 8;
  const bool from_below = orientation == 3 || orientation == 4
                       || orientation == 6 || orientation == 7;
  const auto place = [&](uint32_t row, uint32_t column) {
    const auto across = turned ? row : column;
    const auto down = turned ? column : row;
    const size_t left = from_right ? from.width - 1 - across : across;
    const size_t top = from_below ? from.height - 1 - down : down;
    use(size_t{row} * px.width + column, top * from.width + left);
  };
  for (uint32_t y = 0; y < px.height; y += block)
    for (uint32_t x = 0; x < px.width; x += block)
      for (uint32_t row = y; row < std::min(y + block, px.height); ++row)
        for (uint32_t i = x; i < std::min(x + block, px.width); ++i)
          place(row, i);
}

} // namespace

core::result<bitmap> resize(const pixel_view& from, core::extent to,
                            const std::function<bool()>& stop,
                            scaling_filter by) {
  const auto known =
    from.channels == 1 || from.channels == 3 || from.channels == 4;
  const auto shaped = known && from.px.pixels() > 0
                   && from.bytes.size() == bytes_of(from.px, from.channels);
  if (!shaped || to.pixels() == 0)
    return fail(ec::invalid_argument,
                "{} bytes of {} channels cannot be scaled from {}x{} to {}x{}",
                from.bytes.size(), from.channels, from.px.width, from.px.height,
                to.width, to.height);
  try {
    return scaled(from, to, stop, by);
  } catch (const detail::given_up&) {
    return fail(ec::bad_payload,
                "scaling an image of {}x{} takes longer than it may",
                from.px.width, from.px.height);
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_resources, "no memory to scale {}x{} to {}x{}",
                from.px.width, from.px.height, to.width, to.height);
  }
}

bitmap upright(bitmap x, uint32_t orientation) {
  if (orientation < 2 || orientation > 8)
    return x;
  // One channel is turned at a time, so that no second image is needed.
  std::vector<uint8_t> plane(x.px.pixels());
  for (uint32_t c = 0; c < x.channels; ++c) {
    for (size_t i = 0; i < plane.size(); ++i)
      plane[i] = x.bytes[i * x.channels + c];
    for_each_place(x.px, orientation, [&](size_t to, size_t from) {
      x.bytes[to * x.channels + c] = plane[from];
    });
  }
  if (orientation >= 5)
    std::swap(x.px.width, x.px.height);
  return x;
}

bitmap opaque(bitmap x) {
  if (x.channels != 4)
    return x;
  const auto n = x.px.pixels();
  for (size_t i = 0; i < n; ++i) {
    const auto* const from = x.bytes.data() + 4 * i;
    const uint32_t alpha = from[3];
    for (size_t c = 0; c < 3; ++c) {
      const uint32_t sum = from[c] * alpha + 255 * (255 - alpha) + 128;
      x.bytes[3 * i + c] = static_cast<uint8_t>((sum + (sum >> 8)) >> 8);
    }
  }
  x.channels = 3;
  x.bytes.resize(3 * n);
  return x;
}

std::vector<uint8_t> binarize(const pixel_view& x) {
  std::vector<uint8_t> result(x.px.pixels());
  const auto* at = x.bytes.data();
  for (auto& out : result) {
    out = light_or_dark(at);
    at += x.channels;
  }
  return result;
}

bitmap binarized(bitmap x) {
  const auto n = x.px.pixels();
  const auto* at = x.bytes.data();
  for (size_t i = 0; i < n; ++i, at += x.channels)
    x.bytes[i] = light_or_dark(at);
  x.bytes.resize(n);
  x.channels = 1;
  return x;
}

} // namespace atelier::image
