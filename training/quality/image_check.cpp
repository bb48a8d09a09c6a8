// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/training/quality/detail/background_fit.hpp>
#include <atelier/training/quality/detail/object_paint.hpp>
#include <atelier/training/quality/detail/segments.hpp>
#include <atelier/training/quality/detail/shape_match.hpp>
#include <atelier/training/quality/image_check.hpp>

#include <algorithm>
#include <numeric>

namespace atelier::gpu {

namespace {

using detail::segment;

// Areas of fewer pixels are specks, not objects; the smallest object has 330.
constexpr size_t least_pixels = 90;

// Objects have at least this contrast at the third quartile of their pixels,
// even if a network draws them too pale; an uneven background has less.
constexpr float least_seen_contrast = 21;

// Colours at a larger distance match none of the known colours.
constexpr float most_colour_distance = 30;

// Returns the lowest score at which an object has that shape. Thin shapes lose
// more of their overlap if a network's outlines waver. Half of all random blobs
// fit a circle with a score of 0.8.
constexpr float least_score(object_shape shape) {
  switch (shape) {
    case object_shape::star:
    case object_shape::ring:
    case object_shape::cross:
    case object_shape::crescent:
      return 0.72f;
    default:
      return 0.81f;
  }
}

// A fit with this score is so good that the object is not split.
constexpr float sure_shape_score = 0.95f;

struct looked_at {
  detail::planes lab_image;
  // Distance of each pixel from the background, in L*a*b*.
  std::vector<float> difference;
};

struct found_object {
  segment pixels;
  segment core;
  detail::shape_fit fit;
};

looked_at look(const detail::planes& rgb,
               const detail::background_planes& ground) {
  looked_at out;
  out.difference.resize(detail::check_pixels);
  for (auto& plane : out.lab_image)
    plane.resize(detail::check_pixels);
  for (auto y = 0; y < detail::check_side; ++y) {
    const auto behind = detail::background_row(ground, y);
    for (auto x = 0; x < detail::check_side; ++x) {
      const auto i = detail::pixel_at(x, y);
      const auto own = detail::fast_lab(rgb[0][i], rgb[1][i], rgb[2][i]);
      out.lab_image[0][i] = own.l;
      out.lab_image[1][i] = own.a;
      out.lab_image[2][i] = own.b;
      out.difference[i] = distance(own, behind[static_cast<size_t>(x)]);
    }
  }
  return out;
}

// Returns the quantile of the differences of some pixels at `share`.
float quantile(const segment& of, const std::vector<float>& difference,
               float share) {
  std::vector<float> values;
  values.reserve(of.size());
  for (const auto pixel : of)
    values.push_back(difference[pixel]);
  const auto at =
    values.begin()
    + static_cast<ptrdiff_t>(share * static_cast<float>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

// Returns a threshold between the background's own fluctuations and the least
// contrast of objects.
float threshold_of(const std::vector<float>& difference) {
  auto all = difference;
  const auto middle = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return std::clamp(3 * *middle, 11.f, 18.f);
}

found_object fitted(segment pixels, const looked_at& image) {
  found_object out;
  // The paler of a pattern's two colours sets the level of full coverage, and
  // so the contour of half coverage.
  const auto level =
    quantile(detail::core_of(pixels, 3), image.difference, 0.12f);
  out.fit =
    detail::match_shape(detail::coverage_of(pixels, image.difference, level));
  // The segment includes the blur around the object, so colours are measured
  // further inside.
  segment solid;
  for (const auto pixel : pixels)
    if (image.difference[pixel] > 0.6f * level)
      solid.push_back(pixel);
  out.core = detail::core_of(solid, 2);
  out.pixels = std::move(pixels);
  return out;
}

// Returns the mean score of parts, weighted by their numbers of pixels.
float mean_score(const std::vector<found_object>& parts) {
  auto sum = 0.f;
  auto pixels = 0.f;
  for (const auto& x : parts) {
    const auto own = static_cast<float>(x.pixels.size());
    sum += own * x.fit.score;
    pixels += own;
  }
  return sum / pixels;
}

// Separates objects that a blur has joined, by higher thresholds. Stripes also
// separate at these, so parts are kept only if their shapes fit better than the
// whole.
std::vector<found_object> separated(found_object whole,
                                    const looked_at& image) {
  auto most = whole.fit.score;
  std::vector<found_object> best;
  if (most < sure_shape_score) {
    const auto high = quantile(whole.core, image.difference, 0.7f);
    for (const auto share : {0.35f, 0.5f, 0.65f}) {
      const auto seeds = detail::connected(whole.pixels, image.difference,
                                           share * high, least_pixels);
      if (seeds.size() < 2 || seeds.size() > most_objects)
        continue;
      std::vector<found_object> parts;
      for (auto& part : detail::grown(seeds, whole.pixels))
        parts.push_back(fitted(std::move(part), image));
      const auto mean = mean_score(parts);
      if (mean > most) {
        most = mean;
        best = std::move(parts);
      }
    }
  }
  if (best.empty())
    best.push_back(std::move(whole));
  return best;
}

seen_object named(const found_object& x, const looked_at& image) {
  const auto paint = detail::paint_of(x.core, image.lab_image);
  seen_object out;
  if (x.fit.score >= least_score(x.fit.shape))
    out.shape = x.fit.shape;
  if (paint.distance <= most_colour_distance)
    out.colour = paint.colour;
  out.size =
    x.fit.radius < large_from ? object_size::small : object_size::large;
  out.texture = paint.texture;
  out.place = place_at(x.fit.centre);
  out.centre = x.fit.centre;
  out.radius = x.fit.radius;
  out.shape_score = x.fit.score;
  out.colour_distance = paint.distance;
  return out;
}

} // namespace

seen_image check_image(const image::pixel_view& rgb) {
  ATELIER_EXPECTS(rgb.channels == 3 && rgb.px.pixels() > 0
                    && rgb.bytes.size() == image::bytes_of(rgb.px, 3),
                  "an RGB8 image");
  auto channels = detail::rgb_planes(rgb);
  // More noise requires more smoothing, up to a Gaussian of sigma 1.2.
  const auto noise = detail::noise_of(channels[1]);
  const auto rounds = noise > 9 ? 3 : noise > 3 ? 2 : 1;
  for (auto& plane : channels)
    for (auto i = 0; i < rounds; ++i)
      detail::smooth(plane);
  const auto ground = detail::fit_background(channels);
  const auto image = look(channels, ground);

  seen_image out;
  out.background = detail::name_background(ground);
  segment all(detail::check_pixels);
  std::iota(all.begin(), all.end(), uint16_t{0});
  for (auto& part : detail::connected(
         all, image.difference, threshold_of(image.difference), least_pixels))
    for (const auto& x : separated(fitted(std::move(part), image), image))
      if (quantile(x.core, image.difference, 0.75f) >= least_seen_contrast)
        out.objects.push_back(named(x, image));
  std::ranges::sort(out.objects, std::ranges::greater{}, &seen_object::radius);
  return out;
}

} // namespace atelier::gpu
