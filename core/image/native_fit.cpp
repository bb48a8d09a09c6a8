// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/detail/resample.hpp>
#include <atelier/core/image/native_fit.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace atelier::image {

namespace {

using core::ec;
using core::fail;

bool is_shaped(const pixel_view& x, core::extent other) {
  return (x.channels == 3 || x.channels == 4) && x.px.pixels() > 0
      && other.pixels() > 0 && x.bytes.size() == bytes_of(x.px, x.channels);
}

core::error shapeless(const pixel_view& x, core::extent to) {
  return fail(ec::invalid_argument,
              "{} bytes of {} channels cannot be scaled from {}x{} to {}x{}",
              x.bytes.size(), x.channels, x.px.width, x.px.height, to.width,
              to.height);
}

// Returns `a` times `b` divided by `c`, rounded.
uint32_t share(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>((uint64_t{a} * b + c / 2) / c);
}

std::vector<detail::window> part_of(std::vector<detail::window> all,
                                    uint32_t first, uint32_t count) {
  const auto begin = all.begin() + static_cast<ptrdiff_t>(first);
  all.erase(begin + static_cast<ptrdiff_t>(count), all.end());
  all.erase(all.begin(), begin);
  return all;
}

// Returns, for each pixel of a side of the requested size, the pixel of the
// native side.
std::vector<uint32_t> places_of(uint32_t asked, uint32_t offset,
                                uint32_t scaled, uint32_t native) {
  std::vector<uint32_t> out(asked);
  for (uint32_t i = 0; i < asked; ++i)
    out[i] = static_cast<uint32_t>(uint64_t{i + offset} * native / scaled);
  return out;
}

} // namespace

covering covering_of(core::extent native, core::extent asked) {
  covering x;
  if (uint64_t{asked.width} * native.height
      >= uint64_t{asked.height} * native.width)
    x.scaled = {
      asked.width,
      std::max(share(native.height, asked.width, native.width), asked.height)};
  else
    x.scaled = {
      std::max(share(native.width, asked.height, native.height), asked.width),
      asked.height};
  x.left = (x.scaled.width - asked.width) / 2;
  x.top = (x.scaled.height - asked.height) / 2;
  return x;
}

core::result<bitmap> cover(const pixel_view& from, core::extent asked) {
  if (!is_shaped(from, asked))
    return shapeless(from, asked);
  const auto how = covering_of(from.px, asked);
  try {
    const auto rows =
      part_of(detail::windows_of(from.px.width, how.scaled.width), how.left,
              asked.width);
    const auto columns =
      part_of(detail::windows_of(from.px.height, how.scaled.height), how.top,
              asked.height);
    return detail::scale_columns(detail::scale_rows(from, rows).view(),
                                 columns);
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_resources, "no memory to scale {}x{} to {}x{}",
                from.px.width, from.px.height, asked.width, asked.height);
  }
}

core::result<bitmap> uncover(const pixel_view& from, core::extent native) {
  if (!is_shaped(from, native))
    return shapeless(from, native);
  const auto how = covering_of(native, from.px);
  try {
    const auto rows =
      detail::folded(detail::windows_of(how.scaled.width, native.width),
                     how.left, from.px.width);
    const auto columns =
      detail::folded(detail::windows_of(how.scaled.height, native.height),
                     how.top, from.px.height);
    return detail::scale_columns(detail::scale_rows(from, rows).view(),
                                 columns);
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_resources, "no memory to scale {}x{} to {}x{}",
                from.px.width, from.px.height, native.width, native.height);
  }
}

std::vector<uint8_t> uncover_mask(std::span<const uint8_t> mask,
                                  core::extent px, core::extent native) {
  const auto how = covering_of(native, px);
  const auto across =
    places_of(px.width, how.left, how.scaled.width, native.width);
  const auto down =
    places_of(px.height, how.top, how.scaled.height, native.height);
  std::vector<uint8_t> out(native.pixels(), 0);
  const auto row = [&](uint32_t y) {
    return out.data() + size_t{y} * native.width;
  };
  for (uint32_t y = 0; y < px.height; ++y)
    for (uint32_t x = 0; x < px.width; ++x)
      if (mask[size_t{y} * px.width + x] != 0)
        row(down[y])[across[x]] = 255;
  // If the image is smaller than the native size, some pixels of the result
  // cover none of it. They repeat others.
  const auto fill = [](auto at, uint32_t count, const auto& places) {
    std::vector<uint8_t> seen(count, 0);
    for (const auto place : places)
      seen[place] = 1;
    uint32_t last = places.front();
    for (uint32_t i = 0; i < count; ++i)
      if (seen[i] != 0)
        last = i;
      else
        at(i, last);
  };
  fill(
    [&](uint32_t to, uint32_t from) {
      for (uint32_t y = 0; y < native.height; ++y)
        row(y)[to] = row(y)[from];
    },
    native.width, across);
  fill([&](uint32_t to,
           uint32_t from) { std::copy_n(row(from), native.width, row(to)); },
       native.height, down);
  return out;
}

void keep_unmasked(bitmap& drawn, std::span<const uint8_t> kept,
                   std::span<const uint8_t> mask) {
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i] == 0)
      std::copy_n(kept.data() + 3 * i, 3, drawn.bytes.data() + 3 * i);
}

} // namespace atelier::image
