// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/runtime/http/detail/a1111/mask_work.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

/// Divides by the width of a box and rounds, without a division. It is exact
/// for sums of bytes over widths below 2048.
class mean_of {
public:
  explicit mean_of(size_t width)
    : half_{width / 2}, inverse_{(uint64_t{1} << 32) / width + 1} {}

  uint8_t operator()(uint32_t sum) const {
    return static_cast<uint8_t>((sum + half_) * inverse_ >> 32);
  }

private:
  uint64_t half_;
  uint64_t inverse_;
};

/// Holds `lines` lines side by side: value i of line c is at
/// [(i + pad) * lines + c]. The `pad` places before and after each line repeat
/// its first and last value.
template <size_t lines>
class bundle {
public:
  bundle(size_t count, size_t pad)
    : count_{count}, pad_{pad}, values_((count + 2 * pad) * lines) {}

  uint8_t* at(size_t i) {
    return &values_[(i + pad_) * lines];
  }

  void go_on_at_both_ends() {
    for (size_t i = 0; i < pad_; ++i) {
      std::copy_n(at(0), lines, &values_[i * lines]);
      std::copy_n(at(count_ - 1), lines, at(count_ + i));
    }
  }

  /// Applies a box of width 2r + 1 along each line, from `from` into this.
  void box(bundle& from, size_t r) {
    from.go_on_at_both_ends();
    const mean_of mean{2 * r + 1};
    const auto* const all = from.at(0) - r * lines;
    std::array<uint32_t, lines> sums{};
    for (size_t i = 0; i < 2 * r + 1; ++i)
      for (size_t c = 0; c < lines; ++c)
        sums[c] += all[i * lines + c];
    for (size_t i = 0; i < count_; ++i) {
      const auto* const leaves = all + i * lines;
      const auto* const comes = leaves + (2 * r + 1) * lines;
      auto* const to = at(i);
      for (size_t c = 0; c < lines; ++c) {
        to[c] = mean(sums[c]);
        sums[c] += comes[c];
        sums[c] -= leaves[c];
      }
    }
  }

private:
  size_t count_;
  size_t pad_;
  std::vector<uint8_t> values_;
};

/// Returns the radii of three boxes whose variances sum to that of the curve.
/// Source: P. Kovesi, Fast Almost-Gaussian Filtering, 2010.
std::array<size_t, 3> boxes_for(double deviation) {
  const auto ideal = std::sqrt(12 * deviation * deviation / 3 + 1);
  auto low = static_cast<int>(std::floor(ideal));
  low -= low % 2 == 0 ? 1 : 0;
  const double l = low;
  const auto many_low = std::lround(
    (12 * deviation * deviation - 3 * l * l - 12 * l - 9) / (-4 * l - 4));
  std::array<size_t, 3> radii{};
  for (int i = 0; i < 3; ++i)
    radii[static_cast<size_t>(i)] =
      static_cast<size_t>((i < many_low ? low : low + 2) - 1) / 2;
  return radii;
}

/// An image of which some colours are known: four floats a pixel,
/// premultiplied.
struct level {
  core::extent px;
  std::vector<float> bytes;
};

level halved(const level& x) {
  level h{{(x.px.width + 1) / 2, (x.px.height + 1) / 2}, {}};
  h.bytes.assign(size_t{h.px.pixels()} * 4, 0.0f);
  for (uint32_t y = 0; y < x.px.height; ++y)
    for (uint32_t i = 0; i < x.px.width; ++i)
      for (size_t c = 0; c < 4; ++c)
        h.bytes[(size_t{y / 2} * h.px.width + i / 2) * 4 + c] +=
          x.bytes[(size_t{y} * x.px.width + i) * 4 + c];
  return h;
}

/// Fills the unknown pixels of a level from the next coarser level.
void fill_from(level& x, const level& coarse) {
  for (uint32_t y = 0; y < x.px.height; ++y)
    for (uint32_t i = 0; i < x.px.width; ++i) {
      auto* const here = &x.bytes[(size_t{y} * x.px.width + i) * 4];
      const auto* const above =
        &coarse.bytes[(size_t{y / 2} * coarse.px.width + i / 2) * 4];
      if (here[3] > 0 || above[3] <= 0)
        continue;
      for (size_t c = 0; c < 4; ++c)
        here[c] = above[c] / above[3];
    }
}

} // namespace

core::result<image::bitmap> resize_as(resize_mode how, image::bitmap from,
                                      core::extent to,
                                      const stop_predicate& stop) {
  if (from.px == to)
    return from;
  if (how == resize_mode::stretch)
    return image::resize(from.view(), to, stop);
  const auto wide = static_cast<double>(to.width) / from.px.width;
  const auto high = static_cast<double>(to.height) / from.px.height;
  const auto scale =
    how == resize_mode::crop ? std::max(wide, high) : std::min(wide, high);
  const auto side = [&](uint32_t x) {
    return std::max(1u, static_cast<uint32_t>(std::lround(x * scale)));
  };
  const core::extent px{side(from.px.width), side(from.px.height)};
  // Cut before scaling if the scaled image would be far larger than the result.
  if (px.pixels() > 4 * to.pixels() && how == resize_mode::crop) {
    const core::extent part{
      std::clamp<uint32_t>(static_cast<uint32_t>(std::lround(to.width / scale)),
                           1, from.px.width),
      std::clamp<uint32_t>(
        static_cast<uint32_t>(std::lround(to.height / scale)), 1,
        from.px.height)};
    const region middle{(from.px.width - part.width) / 2,
                        (from.px.height - part.height) / 2, part};
    return image::resize(cut(std::move(from), middle).view(), to, stop);
  }
  auto scaled = image::resize(from.view(), px, stop);
  if (!scaled)
    return scaled;
  image::bitmap out{to, from.channels, {}};
  out.bytes.resize(image::bytes_of(to, from.channels));
  const auto source = [](uint32_t at, uint32_t out_side, uint32_t in_side) {
    const auto offset =
      (static_cast<int64_t>(in_side) - static_cast<int64_t>(out_side)) / 2;
    return static_cast<size_t>(
      std::clamp<int64_t>(int64_t{at} + offset, 0, int64_t{in_side} - 1));
  };
  for (uint32_t y = 0; y < to.height; ++y)
    for (uint32_t x = 0; x < to.width; ++x)
      std::copy_n(&scaled->bytes[(source(y, to.height, px.height) * px.width
                                  + source(x, to.width, px.width))
                                 * from.channels],
                  from.channels,
                  &out.bytes[(size_t{y} * to.width + x) * from.channels]);
  return out;
}

core::result<soft_mask> resize_mask(resize_mode how, soft_mask from,
                                    core::extent to,
                                    const stop_predicate& stop) {
  auto scaled = resize_as(how, {from.px, 1, std::move(from.bytes)}, to, stop);
  if (!scaled)
    return scaled.why();
  for (auto& b : scaled->bytes)
    b = b >= 128 ? 255 : 0;
  return soft_mask{to, std::move(scaled->bytes)};
}

soft_mask mask_of(image::bitmap x) {
  const auto n = x.px.pixels();
  bool opaque = true;
  for (size_t i = 0; opaque && x.channels == 4 && i < n; ++i)
    opaque = x.bytes[i * 4 + 3] == 255;
  if (opaque) {
    auto light = image::binarized(std::move(x));
    return {light.px, std::move(light.bytes)};
  }
  for (size_t i = 0; i < n; ++i)
    x.bytes[i] = x.bytes[i * 4 + 3] > 128 ? 255 : 0;
  x.bytes.resize(n);
  return {x.px, std::move(x.bytes)};
}

void invert(soft_mask& x) {
  for (auto& b : x.bytes)
    b = static_cast<uint8_t>(255 - b);
}

void blur(soft_mask& x, double deviation_x, double deviation_y) {
  const auto width = size_t{x.px.width};
  const auto height = size_t{x.px.height};
  if (deviation_x > 0) {
    const auto radii = boxes_for(deviation_x);
    const auto pad = std::ranges::max(radii) + 1;
    bundle<1> here{width, pad};
    bundle<1> there{width, pad};
    for (size_t y = 0; y < height; ++y) {
      auto* const row = &x.bytes[y * width];
      std::copy_n(row, width, here.at(0));
      for (const auto r : radii) {
        there.box(here, r);
        std::swap(here, there);
      }
      std::copy_n(here.at(0), width, row);
    }
  }
  if (deviation_y > 0) {
    // A cache line holds this many columns, and one read loads them all.
    constexpr size_t columns = 64;
    const auto radii = boxes_for(deviation_y);
    const auto pad = std::ranges::max(radii) + 1;
    bundle<columns> here{height, pad};
    bundle<columns> there{height, pad};
    for (size_t i = 0; i < width; i += columns) {
      const auto many = std::min(columns, width - i);
      for (size_t y = 0; y < height; ++y)
        std::copy_n(&x.bytes[y * width + i], many, here.at(y));
      for (const auto r : radii) {
        there.box(here, r);
        std::swap(here, there);
      }
      for (size_t y = 0; y < height; ++y)
        std::copy_n(here.at(y), many, &x.bytes[y * width + i]);
    }
  }
}

std::optional<region> region_of(const soft_mask& x, uint32_t padding,
                                core::extent like) {
  uint32_t left = x.px.width, top = x.px.height, right = 0, bottom = 0;
  for (uint32_t y = 0; y < x.px.height; ++y)
    for (uint32_t i = 0; i < x.px.width; ++i)
      if (x.bytes[size_t{y} * x.px.width + i] != 0) {
        left = std::min(left, i);
        right = std::max(right, i + 1);
        top = std::min(top, y);
        bottom = y + 1;
      }
  if (right == 0)
    return std::nullopt;
  left -= std::min(left, padding);
  top -= std::min(top, padding);
  right += std::min(x.px.width - right, padding);
  bottom += std::min(x.px.height - bottom, padding);
  // Widens one side, equally in both directions while the image has room.
  const auto widen = [](uint32_t& from, uint32_t& to, uint32_t wanted,
                        uint32_t most) {
    wanted = std::clamp(wanted, to - from, most);
    const auto more = wanted - (to - from);
    const auto first = std::min(from, more / 2);
    const auto last = std::min(most - to, more - first);
    from -= std::min(from, more - last);
    to += last;
  };
  const double ratio = static_cast<double>(like.width) / like.height;
  const double width = right - left;
  const double height = bottom - top;
  if (width / height > ratio)
    widen(top, bottom, static_cast<uint32_t>(std::lround(width / ratio)),
          x.px.height);
  else
    widen(left, right, static_cast<uint32_t>(std::lround(height * ratio)),
          x.px.width);
  return region{left, top, {right - left, bottom - top}};
}

image::bitmap cut(image::bitmap from, const region& part) {
  const auto row = size_t{part.px.width} * from.channels;
  auto* to = from.bytes.data();
  for (uint32_t y = 0; y < part.px.height; ++y, to += row) {
    const auto at =
      (size_t{part.y + y} * from.px.width + part.x) * from.channels;
    // The copy never writes past the place that it reads.
    std::copy_n(from.bytes.data() + at, row, to);
  }
  from.px = part.px;
  from.bytes.resize(row * part.px.height);
  return from;
}

soft_mask cut(soft_mask from, const region& part) {
  auto x = cut(image::bitmap{from.px, 1, std::move(from.bytes)}, part);
  return {x.px, std::move(x.bytes)};
}

void fill_masked(image::bitmap& x, const soft_mask& mask) {
  std::vector<level> pyramid(1);
  auto& whole = pyramid.front();
  whole.px = x.px;
  whole.bytes.assign(size_t{x.px.pixels()} * 4, 0.0f);
  for (size_t i = 0; i < mask.bytes.size(); ++i) {
    if (mask.bytes[i] >= 128)
      continue;
    for (size_t c = 0; c < 3; ++c)
      whole.bytes[i * 4 + c] = x.bytes[i * 3 + c];
    whole.bytes[i * 4 + 3] = 1;
  }
  while (pyramid.back().px.pixels() > 1)
    pyramid.push_back(halved(pyramid.back()));
  for (size_t i = pyramid.size() - 1; i > 0; --i)
    fill_from(pyramid[i - 1], pyramid[i]);
  const auto& filled = pyramid.front().bytes;
  for (size_t i = 0; i < mask.bytes.size(); ++i)
    if (mask.bytes[i] >= 128 && filled[i * 4 + 3] > 0)
      for (size_t c = 0; c < 3; ++c)
        x.bytes[i * 3 + c] = static_cast<uint8_t>(
          std::lround(filled[i * 4 + c] / filled[i * 4 + 3]));
}

void blend(image::bitmap& to, const image::bitmap& made, const region& part,
           const soft_mask& mask) {
  ATELIER_EXPECTS(made.px == part.px && made.channels == 3 && to.channels == 3,
                  "the image to blend in fits its region");
  for (uint32_t y = 0; y < part.px.height; ++y)
    for (uint32_t x = 0; x < part.px.width; ++x) {
      const auto at = size_t{part.y + y} * to.px.width + part.x + x;
      const auto from = size_t{y} * part.px.width + x;
      const uint32_t much = mask.bytes[at];
      if (much == 0)
        continue;
      for (size_t c = 0; c < 3; ++c) {
        const auto sum =
          to.bytes[at * 3 + c] * (255 - much) + made.bytes[from * 3 + c] * much;
        to.bytes[at * 3 + c] = static_cast<uint8_t>((sum + 127) / 255);
      }
    }
}

image::bitmap image_of(const soft_mask& x) {
  image::bitmap p{x.px, 3, {}};
  p.bytes.reserve(x.bytes.size() * 3);
  for (const auto b : x.bytes)
    p.bytes.insert(p.bytes.end(), 3, b);
  return p;
}

} // namespace atelier::runtime::http::detail
