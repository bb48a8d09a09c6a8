// SPDX-License-Identifier: Apache-2.0
// This file is built with -ffp-contract=off, so that weights are the same
// everywhere.
#include <atelier/core/image/detail/resample.hpp>
#include <atelier/core/portable_math.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace atelier::image::detail {

namespace {

/// Number of lobes of Lanczos' filter on each side.
constexpr double lobes = 3;

/// Weights are multiples of 2^-22. Their products with the 8 bits of a pixel
/// and a bit of overshoot fit 32 bits.
constexpr int weight_bits = 22;

double sinc(double x) {
  if (x == 0)
    return 1;
  const double half_of = std::abs(x) / 2;
  const double angle = std::abs(x) * std::numbers::pi;
  return core::portable_turn(half_of - std::floor(half_of)).sine / angle;
}

double lanczos(double x) {
  return x >= -lobes && x < lobes ? sinc(x) * sinc(x / lobes) : 0;
}

double bicubic(double x) {
  constexpr double a = -0.5;
  const double y = std::abs(x);
  if (y < 1)
    return ((a + 2) * y - (a + 3)) * y * y + 1;
  return y < 2 ? (((y - 5) * y + 8) * y - 4) * a : 0;
}

double bilinear(double x) {
  return std::max(1 - std::abs(x), 0.0);
}

struct filter_shape {
  double (*weight)(double);
  /// The filter is 0 further away than that.
  double reach;
};

filter_shape shape_of(scaling_filter by) {
  switch (by) {
    case scaling_filter::bicubic:
      return {bicubic, 2};
    case scaling_filter::bilinear:
      return {bilinear, 1};
    case scaling_filter::lanczos:
      break;
  }
  return {lanczos, lobes};
}

uint8_t to_byte(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> weight_bits, 0, 255));
}

constexpr int32_t half = 1 << (weight_bits - 1);

void go_on(const std::function<bool()>& stop) {
  if (stop && stop())
    throw given_up{};
}

template <size_t Channels>
void scale_rows_of(const uint8_t* from, core::extent px,
                   std::span<const window> windows, uint8_t* into,
                   const std::function<bool()>& stop) {
  for (uint32_t y = 0; y < px.height; ++y) {
    go_on(stop);
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

/// Scales row by row of the result, so that memory is read in order. A row has
/// `stride` bytes.
void scale_columns_of(const uint8_t* from, size_t stride,
                      std::span<const window> windows, uint8_t* into,
                      const std::function<bool()>& stop) {
  std::vector<int32_t> sums(stride);
  for (const auto& w : windows) {
    go_on(stop);
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

} // namespace

std::vector<window> windows_of(uint32_t from, uint32_t to, scaling_filter by) {
  const auto [weight_at, reach] = shape_of(by);
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
        weight_at((static_cast<double>(k) - centre + 0.5) * (1 / wider)));
      sum += exact.back();
    }
    all[i].first = static_cast<uint32_t>(begin);
    all[i].weights.reserve(exact.size());
    for (const double w : exact) {
      const double whole = w / (sum != 0 ? sum : 1) * (1 << weight_bits);
      all[i].weights.push_back(
        static_cast<int32_t>(whole < 0 ? whole - 0.5 : whole + 0.5));
    }
  }
  return all;
}

std::vector<window> folded(std::vector<window> x, uint32_t offset,
                           uint32_t size) {
  const auto last = int64_t{size} - 1;
  for (auto& w : x) {
    const auto begin = int64_t{w.first} - offset;
    const auto end = begin + static_cast<int64_t>(w.weights.size()) - 1;
    const auto first = std::clamp(begin, int64_t{0}, last);
    window inside{static_cast<uint32_t>(first), {}};
    inside.weights.resize(
      static_cast<size_t>(std::clamp(end, int64_t{0}, last) - first) + 1);
    for (size_t i = 0; i < w.weights.size(); ++i) {
      const auto at =
        std::clamp(begin + static_cast<int64_t>(i), int64_t{0}, last);
      inside.weights[static_cast<size_t>(at - first)] += w.weights[i];
    }
    w = std::move(inside);
  }
  return x;
}

bitmap scale_rows(const pixel_view& from, std::span<const window> windows,
                  const std::function<bool()>& stop) {
  bitmap result{
    {static_cast<uint32_t>(windows.size()), from.px.height}, from.channels, {}};
  result.bytes.resize(bytes_of(result.px, from.channels));
  const auto scale = from.channels == 4 ? scale_rows_of<4>
                   : from.channels == 3 ? scale_rows_of<3>
                                        : scale_rows_of<1>;
  scale(from.bytes.data(), from.px, windows, result.bytes.data(), stop);
  return result;
}

bitmap scale_columns(const pixel_view& from, std::span<const window> windows,
                     const std::function<bool()>& stop) {
  bitmap result{
    {from.px.width, static_cast<uint32_t>(windows.size())}, from.channels, {}};
  result.bytes.resize(bytes_of(result.px, from.channels));
  scale_columns_of(from.bytes.data(), size_t{from.px.width} * from.channels,
                   windows, result.bytes.data(), stop);
  return result;
}

} // namespace atelier::image::detail
