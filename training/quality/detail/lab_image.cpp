// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/quality/detail/lab_image.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu::detail {

namespace {

// A function over [0, high] as a table with linear interpolation.
template <size_t Steps>
class tabulated {
public:
  template <class F>
  tabulated(float high, F f) : per_unit_(Steps / high) {
    for (auto i = size_t{0}; i < values_.size(); ++i)
      values_[i] = static_cast<float>(
        f(static_cast<double>(high) * static_cast<double>(i) / Steps));
  }

  float operator()(float x) const {
    const auto at =
      std::clamp(x * per_unit_, 0.f, static_cast<float>(Steps) - 0.001f);
    const auto i = static_cast<size_t>(at);
    const auto rest = at - static_cast<float>(i);
    return values_[i] + (values_[i + 1] - values_[i]) * rest;
  }

private:
  float per_unit_;
  std::array<float, Steps + 2> values_{};
};

// The weights of source pixels for one target pixel: an average over the pixels
// that it covers, or linear interpolation if it covers less than one.
struct window {
  size_t first = 0;
  std::vector<float> weights;
};

std::vector<window> windows(size_t source) {
  std::vector<window> out(check_side);
  const auto scale = static_cast<double>(source) / check_side;
  const auto half = std::max(scale, 1.0) / 2;
  for (auto i = size_t{0}; i < out.size(); ++i) {
    const auto middle = (static_cast<double>(i) + 0.5) * scale;
    const auto last = static_cast<double>(source - 1);
    const auto low = std::clamp(std::floor(middle - half), 0.0, last);
    const auto high = std::clamp(std::ceil(middle + half) - 1, low, last);
    out[i].first = static_cast<size_t>(low);
    auto sum = 0.0;
    std::vector<double> shares;
    for (auto at = low; at <= high; ++at) {
      const auto share =
        std::min(at + 1, middle + half) - std::max(at, middle - half);
      shares.push_back(std::max(share, 1e-6));
      sum += shares.back();
    }
    for (const auto share : shares)
      out[i].weights.push_back(static_cast<float>(share / sum));
  }
  return out;
}

} // namespace

planes rgb_planes(const image::pixel_view& from) {
  planes out;
  for (auto& plane : out)
    plane.resize(check_pixels);
  if (from.px == core::extent{check_side, check_side}) {
    for (auto i = size_t{0}; i < check_pixels; ++i)
      for (auto c = size_t{0}; c < 3; ++c)
        out[c][i] = from.bytes[i * from.channels + c];
    return out;
  }
  const auto columns = windows(from.px.width);
  const auto rows = windows(from.px.height);
  for (auto c = size_t{0}; c < 3; ++c)
    for (auto y = size_t{0}; y < check_side; ++y)
      for (auto x = size_t{0}; x < check_side; ++x) {
        auto sum = 0.f;
        for (auto j = size_t{0}; j < rows[y].weights.size(); ++j)
          for (auto i = size_t{0}; i < columns[x].weights.size(); ++i) {
            const auto at =
              (rows[y].first + j) * from.px.width + columns[x].first + i;
            sum += rows[y].weights[j] * columns[x].weights[i]
                 * static_cast<float>(from.bytes[at * from.channels + c]);
          }
        out[c][y * check_side + x] = sum;
      }
  return out;
}

float noise_of(const std::vector<float>& plane) {
  // The filter 1 -2 1 along both axes removes slopes and straight edges. The
  // squares of its weights sum to 36, and the median absolute value of a
  // standard normal variable is 0.6745.
  std::vector<float> residues;
  residues.reserve(check_pixels / 4);
  for (auto y = 1; y < check_side - 1; y += 2)
    for (auto x = 1; x < check_side - 1; x += 2) {
      const auto row = [&](int dy) {
        const auto* p = plane.data() + pixel_at(x, y + dy);
        return p[-1] - 2 * p[0] + p[1];
      };
      residues.push_back(std::abs(row(-1) - 2 * row(0) + row(1)));
    }
  const auto middle =
    residues.begin() + static_cast<ptrdiff_t>(residues.size() / 2);
  std::ranges::nth_element(residues, middle);
  return *middle / (6 * 0.6745f);
}

void smooth(std::vector<float>& plane) {
  std::vector<float> once(check_pixels);
  for (auto y = 0; y < check_side; ++y) {
    const auto* from = plane.data() + pixel_at(0, y);
    auto* to = once.data() + pixel_at(0, y);
    constexpr auto last = check_side - 1;
    to[0] = (3 * from[0] + from[1]) / 4;
    for (auto x = 1; x < last; ++x)
      to[x] = (from[x - 1] + 2 * from[x] + from[x + 1]) / 4;
    to[last] = (from[last - 1] + 3 * from[last]) / 4;
  }
  for (auto y = 0; y < check_side; ++y) {
    const auto* above = once.data() + pixel_at(0, std::max(y - 1, 0));
    const auto* from = once.data() + pixel_at(0, y);
    const auto* below =
      once.data() + pixel_at(0, std::min(y + 1, check_side - 1));
    auto* to = plane.data() + pixel_at(0, y);
    for (auto x = 0; x < check_side; ++x)
      to[x] = (above[x] + 2 * from[x] + below[x]) / 4;
  }
}

lab fast_lab(float r, float g, float b) {
  static const tabulated<1024> linear{
    255.f, [](double v) {
      const auto x = v / 255;
      return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
    }};
  static const tabulated<4096> curve{1.f, [](double t) {
                                       return t > 216.0 / 24389
                                              ? std::cbrt(t)
                                              : (24389.0 / 27 * t + 16) / 116;
                                     }};
  const auto lr = linear(r);
  const auto lg = linear(g);
  const auto lb = linear(b);
  const auto x = curve((0.4124f * lr + 0.3576f * lg + 0.1805f * lb) / 0.9505f);
  const auto y = curve(0.2126f * lr + 0.7152f * lg + 0.0722f * lb);
  const auto z = curve((0.0193f * lr + 0.1192f * lg + 0.9505f * lb) / 1.089f);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

} // namespace atelier::gpu::detail
