// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/image_preparation.hpp>
#include <atelier/gpu/models/files/network_fields.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;

constexpr int64_t most_prepared_side = 1 << 14;
/// Bounds the memory of a scaled image.
constexpr uint64_t most_scaled_px = uint64_t{1} << 26;
constexpr uint32_t channels = 3;

/// Pillow's numbers of its filters.
image::scaling_filter filter_of(detail::network_fields& in) {
  constexpr int64_t lanczos = 1, bilinear = 2, bicubic = 3;
  switch (in.integer("resample", bicubic, lanczos, bicubic)) {
    case lanczos:
      return image::scaling_filter::lanczos;
    case bilinear:
      return image::scaling_filter::bilinear;
    default:
      return image::scaling_filter::bicubic;
  }
}

std::optional<uint32_t> side_in(const nlohmann::json& x) {
  const auto value = detail::as_integer(x);
  if (!value || *value < 1 || *value > most_prepared_side)
    return std::nullopt;
  return static_cast<uint32_t>(*value);
}

/// Returns the side of a square {"height": N, "width": N}.
std::optional<uint32_t> square_in(const nlohmann::json& x) {
  if (!x.is_object() || x.size() != 2 || !x.contains("height")
      || !x.contains("width") || x["height"] != x["width"])
    return std::nullopt;
  return side_in(x["height"]);
}

/// Reads how the image is scaled; returns the side to which it is scaled
/// exactly, if it is.
std::optional<uint32_t> read_size(detail::network_fields& in,
                                  image_preparation& out) {
  const auto* const x = in.take("size");
  if (x == nullptr || x->is_null())
    return std::nullopt;
  if (auto exact = square_in(*x)) {
    out.shortest.reset();
    return exact;
  }
  // The oldest files have a number.
  const bool named =
    x->is_object() && x->size() == 1 && x->contains("shortest_edge");
  out.shortest = side_in(named ? (*x)["shortest_edge"] : *x);
  if (!out.shortest) {
    in.refuse("size", fmt::format("{{\"shortest_edge\": N}} or {{\"height\": "
                                  "N, \"width\": N}} with N in 1..{}",
                                  most_prepared_side));
    out.shortest = out.side;
  }
  return std::nullopt;
}

void read_colours(detail::network_fields& in, std::string_view key,
                  std::array<double, channels>& into) {
  const auto values = in.numbers_or_null(key, channels);
  if (values.empty())
    return;
  const bool divides = key == "image_std";
  if (values.size() != channels
      || (divides
          && std::ranges::any_of(values, [](double x) { return x <= 0; })))
    return in.refuse(key, divides ? "three numbers above 0" : "three numbers");
  std::ranges::copy(values, into.begin());
}

} // namespace

core::result<image_preparation> read_image_preparation(std::string_view text,
                                                       const std::string& file,
                                                       uint32_t side) {
  detail::network_fields in{text, file};
  image_preparation out;
  out.side = side;
  in.expect("do_resize", true);
  out.filter = filter_of(in);
  const auto exact = read_size(in, out);
  const bool cuts = in.flag("do_center_crop", true);
  auto cut = std::optional{uint32_t{224}};
  if (const auto* const x = in.take("crop_size"); x != nullptr && !x->is_null())
    cut = x->is_object() ? square_in(*x) : side_in(*x);
  const auto tower = fmt::format("{}, the image_size of the tower", side);
  if (cuts && cut != side)
    in.refuse("crop_size", tower);
  else if (!cuts && !exact)
    in.refuse("do_center_crop", "true beside a size that keeps proportions");
  else if (exact && *exact != side)
    in.refuse("size", tower);
  else if (out.shortest && *out.shortest < side)
    in.refuse("size", "at least " + tower);
  in.expect("do_rescale", true);
  out.factor = in.number("rescale_factor", out.factor,
                         std::numeric_limits<double>::min(), 1e6);
  if (in.flag("do_normalize", true)) {
    read_colours(in, "image_mean", out.mean);
    read_colours(in, "image_std", out.deviation);
  } else {
    out.mean = {0, 0, 0};
    out.deviation = {1, 1, 1};
    in.ignore({"image_mean", "image_std"});
  }
  // An image has three channels here, and these are records.
  in.ignore({"_valid_processor_keys", "crop_pct", "data_format",
             "default_to_square", "device", "do_convert_rgb",
             "feature_extractor_type", "image_processor_type",
             "input_data_format", "processor_class", "return_tensors"});
  if (const auto fine = in.finish(); !fine)
    return fine.why();
  return out;
}

core::result<std::vector<float>> prepared(const image_preparation& by,
                                          const image::pixel_view& from) {
  const auto px = from.px;
  if (from.channels != channels || px.pixels() == 0
      || from.bytes.size() != image::bytes_of(px, channels))
    return fail(ec::invalid_argument, "{} bytes are no RGB image of {}x{}",
                from.bytes.size(), px.width, px.height);
  core::extent to{by.side, by.side};
  if (by.shortest) {
    const auto longer = [&](uint32_t one, uint32_t other) {
      return std::max(static_cast<uint64_t>(*by.shortest) * one / other,
                      static_cast<uint64_t>(*by.shortest));
    };
    const uint64_t width = longer(px.width, px.height);
    const uint64_t height = longer(px.height, px.width);
    if (width > most_scaled_px / height)
      return fail(ec::invalid_argument,
                  "an image of {}x{} with a shorter side of {} pixels has more "
                  "than {} pixels",
                  px.width, px.height, *by.shortest, most_scaled_px);
    to = {static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
  }
  const auto scaled = image::resize(from, to, {}, by.filter);
  if (!scaled)
    return scaled.why();
  const size_t left = (to.width - by.side) / 2;
  const size_t top = (to.height - by.side) / 2;
  std::vector<float> out;
  out.reserve(size_t{channels} * by.side * by.side);
  for (size_t c = 0; c < channels; ++c) {
    std::array<float, 256> value{};
    for (size_t i = 0; i < value.size(); ++i)
      value[i] = (static_cast<float>(static_cast<double>(i) * by.factor)
                  - static_cast<float>(by.mean[c]))
               / static_cast<float>(by.deviation[c]);
    for (size_t y = 0; y < by.side; ++y) {
      const auto* at =
        scaled->bytes.data() + ((top + y) * to.width + left) * channels + c;
      for (size_t x = 0; x < by.side; ++x, at += channels)
        out.push_back(value[*at]);
    }
  }
  return out;
}

} // namespace atelier::gpu
