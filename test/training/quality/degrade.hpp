// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/pixels.hpp>
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace atelier::test {

/// Returns the position of channel `c` of pixel (x, y) in an image of that
/// width.
inline size_t byte_at(long x, long y, int c, int width) {
  return (static_cast<size_t>(y) * static_cast<size_t>(width)
          + static_cast<size_t>(x))
         * 3
       + static_cast<size_t>(c);
}

/// Returns `from` smoothed by a Gaussian of `sigma` pixels.
inline image::bitmap blurred(const image::bitmap& from, double sigma) {
  const auto half = static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> by;
  auto sum = 0.0;
  for (auto i = -half; i <= half; ++i) {
    by.push_back(std::exp(-i * i / (2 * sigma * sigma)));
    sum += by.back();
  }
  const auto width = static_cast<int>(from.px.width);
  const auto height = static_cast<int>(from.px.height);
  std::vector<double> once(from.bytes.size());
  auto out = from;
  const auto at = [width](int x, int y, int c) {
    return byte_at(x, y, c, width);
  };
  const auto weight = [&](int i) {
    const int index = i + half;
    return by[static_cast<size_t>(index)] / sum;
  };
  for (auto y = 0; y < height; ++y)
    for (auto x = 0; x < width; ++x)
      for (auto c = 0; c < 3; ++c)
        for (auto i = -half; i <= half; ++i)
          once[at(x, y, c)] +=
            weight(i) * from.bytes[at(std::clamp(x + i, 0, width - 1), y, c)];
  for (auto y = 0; y < height; ++y)
    for (auto x = 0; x < width; ++x)
      for (auto c = 0; c < 3; ++c) {
        auto v = 0.5;
        for (auto i = -half; i <= half; ++i)
          v += weight(i) * once[at(x, std::clamp(y + i, 0, height - 1), c)];
        out.bytes[at(x, y, c)] = static_cast<uint8_t>(v);
      }
  return out;
}

/// Returns `from` with normal noise of `sigma` 255ths on every channel.
inline image::bitmap noisy(image::bitmap from, double sigma,
                           core::philox& draws) {
  for (auto& x : from.bytes)
    x = static_cast<uint8_t>(
      std::clamp(x + sigma * draws.normal() + 0.5, 0.0, 255.0));
  return from;
}

/// Returns `from` after a conversion to JPEG.
inline image::bitmap through_jpeg(const image::bitmap& from, uint32_t quality) {
  const auto file =
    image::encode(from.view(), {core::image_format::jpeg, quality});
  BOOST_REQUIRE(file);
  auto back = image::decode(*file);
  BOOST_REQUIRE(back);
  return *back;
}

/// Returns `from` averaged over squares of `factor` pixels, and scaled back to
/// its extent by linear interpolation.
inline image::bitmap coarse(const image::bitmap& from, int factor) {
  const auto side = static_cast<int>(from.px.width);
  const auto cells = side / factor;
  std::vector<double> small(byte_at(0, cells, 0, cells));
  for (auto y = 0; y < side; ++y)
    for (auto x = 0; x < side; ++x)
      for (auto c = 0; c < 3; ++c)
        small[byte_at(x / factor, y / factor, c, cells)] +=
          from.bytes[byte_at(x, y, c, side)] / double(factor * factor);
  auto out = from;
  for (auto y = 0; y < side; ++y)
    for (auto x = 0; x < side; ++x) {
      const auto u = std::clamp((x + 0.5) / factor - 0.5, 0.0, cells - 1.001);
      const auto v = std::clamp((y + 0.5) / factor - 0.5, 0.0, cells - 1.001);
      const auto i = static_cast<int>(u);
      const auto j = static_cast<int>(v);
      for (auto c = 0; c < 3; ++c) {
        const auto p = [&](int dx, int dy) {
          return small[byte_at(i + dx, j + dy, c, cells)];
        };
        const auto upper = p(0, 0) + (p(1, 0) - p(0, 0)) * (u - i);
        const auto lower = p(0, 1) + (p(1, 1) - p(0, 1)) * (u - i);
        out.bytes[byte_at(x, y, c, side)] = static_cast<uint8_t>(
          std::clamp(upper + (lower - upper) * (v - j) + 0.5, 0.0, 255.0));
      }
    }
  return out;
}

/// Smooth random values over the image, with standard deviation 1. They are
/// normal at the corners of squares of 16 pixels, and interpolated linearly
/// between them.
class slow_field {
public:
  explicit slow_field(core::philox& draws) {
    for (auto& x : corners_)
      x = draws.normal();
  }

  double at(double x, double y) const {
    const auto u = std::clamp(x / 16, 0.0, 8.999);
    const auto v = std::clamp(y / 16, 0.0, 8.999);
    const auto i = static_cast<size_t>(u);
    const auto j = static_cast<size_t>(v);
    const auto fx = u - static_cast<double>(i);
    const auto fy = v - static_cast<double>(j);
    const auto* p = corners_.data() + j * 10 + i;
    // Between corners the deviation would fall to two thirds.
    return 1.3
         * ((p[0] * (1 - fx) + p[1] * fx) * (1 - fy)
            + (p[10] * (1 - fx) + p[11] * fx) * fy);
  }

private:
  std::array<double, 100> corners_{};
};

/// Returns `from`, of 128 x 128 pixels, as a weak network might draw it.
/// Outlines are displaced by up to a pixel and a half, colours are off by 10
/// 255ths and vary by 5, and everything is smoothed.
inline image::bitmap wavering(const image::bitmap& from, core::philox& draws) {
  const slow_field dx{draws};
  const slow_field dy{draws};
  auto out = from;
  for (auto c = 0; c < 3; ++c) {
    const slow_field shade{draws};
    const auto off = 10 * draws.normal();
    for (auto y = 0; y < 128; ++y)
      for (auto x = 0; x < 128; ++x) {
        const auto u = std::clamp(std::lround(x + 1.5 * dx.at(x, y)), 0l, 127l);
        const auto v = std::clamp(std::lround(y + 1.5 * dy.at(x, y)), 0l, 127l);
        const auto i = byte_at(u, v, c, 128);
        out.bytes[byte_at(x, y, c, 128)] = static_cast<uint8_t>(std::clamp(
          from.bytes[i] + off + 5 * shade.at(x, y) + 0.5, 0.0, 255.0));
      }
  }
  return blurred(out, 1.2);
}

} // namespace atelier::test
