// SPDX-License-Identifier: Apache-2.0
// Built with -ffp-contract=off, so that weights are the same everywhere.
#include <atelier/core/portable_math.hpp>
#include <atelier/image/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>
#include <utility>

namespace atelier::image {

namespace {

using core::ec;
using core::fail;

/// Lobes of the filter on each side.
constexpr double reach = 3;

/// Weights are whole multiples of 2^-22; with 8 bits of a pixel and a bit of
/// overshoot they fit 32.
constexpr int weight_bits = 22;

double sinc(double x) {
  if (x == 0)
    return 1;
  const double half = std::abs(x) / 2;
  const double angle = std::abs(x) * std::numbers::pi;
  return core::portable_turn(half - std::floor(half)).sine / angle;
}

double lanczos(double x) {
  return x >= -reach && x < reach ? sinc(x) * sinc(x / reach) : 0;
}

/// The pixels that one pixel of the result is made of.
struct window {
  uint32_t first = 0;
  std::vector<int32_t> weights;
};

/// Returns the windows of one side that goes from `from` pixels to `to`.
std::vector<window> windows_of(uint32_t from, uint32_t to) {
  const double scale = static_cast<double>(from) / to;
  const double wider = std::max(scale, 1.0);
  const double support = reach * wider;
  std::vector<window> all(to);
  std::vector<double> exact;
  for (uint32_t i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale;
    const auto begin = std::max(
      static_cast<int64_t>(std::floor(centre - support + 0.5)), int64_t{0});
    const auto end =
      std::min(static_cast<int64_t>(std::floor(centre + support + 0.5)),
               static_cast<int64_t>(from));
    exact.clear();
    double sum = 0;
    for (auto k = begin; k < end; ++k) {
      exact.push_back(
        lanczos((static_cast<double>(k) - centre + 0.5) * (1 / wider)));
      sum += exact.back();
    }
    all[i].first = static_cast<uint32_t>(begin);
    for (const double w : exact) {
      const double whole = w / (sum != 0 ? sum : 1) * (1 << weight_bits);
      all[i].weights.push_back(
        static_cast<int32_t>(whole < 0 ? whole - 0.5 : whole + 0.5));
    }
  }
  return all;
}

uint8_t to_byte(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> weight_bits, 0, 255));
}

constexpr int32_t half = 1 << (weight_bits - 1);

/// Scales every row to `to` pixels.
template <size_t Channels>
void scale_rows(const uint8_t* from, core::extent px, uint32_t to,
                uint8_t* into) {
  const auto windows = windows_of(px.width, to);
  for (uint32_t y = 0; y < px.height; ++y) {
    const auto* row = from + size_t{y} * px.width * Channels;
    for (const auto& w : windows) {
      int32_t sums[Channels];
      std::fill_n(sums, Channels, half);
      const auto* at = row + size_t{w.first} * Channels;
      for (const auto weight : w.weights)
        for (size_t c = 0; c < Channels; ++c)
          sums[c] += *at++ * weight;
      for (size_t c = 0; c < Channels; ++c)
        *into++ = to_byte(sums[c]);
    }
  }
}

/// Scales every column to `to` pixels, row by row of the result, so that memory
/// is read in its order. Rows are of `stride` bytes.
void scale_columns(const uint8_t* from, uint32_t height, size_t stride,
                   uint32_t to, uint8_t* into) {
  std::vector<int32_t> sums(stride);
  for (const auto& w : windows_of(height, to)) {
    std::fill(sums.begin(), sums.end(), half);
    const auto* row = from + size_t{w.first} * stride;
    for (const auto weight : w.weights) {
      for (size_t i = 0; i < stride; ++i)
        sums[i] += row[i] * weight;
      row += stride;
    }
    for (const auto sum : sums)
      *into++ = to_byte(sum);
  }
}

picture with_rows_scaled(const pixel_view& from, uint32_t to) {
  picture result{{to, from.px.height}, from.channels, {}};
  result.bytes.resize(bytes_of(result.px, from.channels));
  const auto scale = from.channels == 4 ? scale_rows<4> : scale_rows<3>;
  scale(from.bytes.data(), from.px, to, result.bytes.data());
  return result;
}

picture with_columns_scaled(const pixel_view& from, uint32_t to) {
  picture result{{from.px.width, to}, from.channels, {}};
  result.bytes.resize(bytes_of(result.px, from.channels));
  scale_columns(from.bytes.data(), from.px.height,
                size_t{from.px.width} * from.channels, to, result.bytes.data());
  return result;
}

picture scaled(const pixel_view& from, core::extent to) {
  const bool rows = to.width != from.px.width;
  const bool columns = to.height != from.px.height;
  // Between the passes stands a picture of whole bytes: their order shows.
  if (to.width > from.px.width && to.height < from.px.height)
    return with_rows_scaled(with_columns_scaled(from, to.height).view(),
                            to.width);
  if (rows && columns)
    return with_columns_scaled(with_rows_scaled(from, to.width).view(),
                               to.height);
  if (rows)
    return with_rows_scaled(from, to.width);
  if (columns)
    return with_columns_scaled(from, to.height);
  return {to, from.channels, {from.bytes.begin(), from.bytes.end()}};
}

} // namespace

core::result<picture> resize(const pixel_view& from, core::extent to) {
  const auto shaped = (from.channels == 3 || from.channels == 4)
                   && from.px.pixels() > 0
                   && from.bytes.size() == bytes_of(from.px, from.channels);
  if (!shaped || to.pixels() == 0)
    return fail(ec::invalid_argument,
                "{} bytes of {} channels cannot be scaled from {}x{} to {}x{}",
                from.bytes.size(), from.channels, from.px.width, from.px.height,
                to.width, to.height);
  try {
    return scaled(from, to);
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_resources, "no memory to scale {}x{} to {}x{}",
                from.px.width, from.px.height, to.width, to.height);
  }
}

picture upright(picture x, uint32_t orientation) {
  if (orientation < 2 || orientation > 8)
    return x;
  const auto [width, height] = x.px;
  const bool turned = orientation >= 5;
  picture result{turned ? core::extent{height, width} : x.px, x.channels, {}};
  result.bytes.resize(x.bytes.size());
  // By the place that the first row and the first column have on the screen.
  const bool from_right = orientation == 2 || orientation == 3
                       || orientation == 7 || orientation == 8;
  const bool from_below = orientation == 3 || orientation == 4
                       || orientation == 6 || orientation == 7;
  auto* into = result.bytes.data();
  for (uint32_t row = 0; row < result.px.height; ++row)
    for (uint32_t column = 0; column < result.px.width; ++column) {
      const auto across = turned ? row : column;
      const auto down = turned ? column : row;
      const size_t left = from_right ? width - 1 - across : across;
      const size_t top = from_below ? height - 1 - down : down;
      const auto* at = x.bytes.data() + (top * width + left) * x.channels;
      into = std::copy_n(at, x.channels, into);
    }
  return result;
}

picture opaque(picture x) {
  if (x.channels != 4)
    return x;
  const auto n = x.px.pixels();
  for (size_t i = 0; i < n; ++i)
    std::copy_n(x.bytes.data() + 4 * i, 3, x.bytes.data() + 3 * i);
  x.channels = 3;
  x.bytes.resize(3 * n);
  return x;
}

std::vector<uint8_t> binarize(const pixel_view& x) {
  std::vector<uint8_t> result(x.px.pixels());
  const auto* at = x.bytes.data();
  for (auto& out : result) {
    const auto luma =
      (at[0] * 19595 + at[1] * 38470 + at[2] * 7471 + 0x8000) >> 16;
    out = luma >= 128 ? 255 : 0;
    at += x.channels;
  }
  return result;
}

} // namespace atelier::image
