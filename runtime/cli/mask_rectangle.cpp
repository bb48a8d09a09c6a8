// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/runtime/cli/mask_rectangle.hpp>

#include <algorithm>
#include <charconv>

namespace atelier::runtime::cli {

using core::ec;
using core::fail;

std::optional<rectangle> parse_rectangle(std::string_view text) {
  rectangle out;
  const auto* at = text.data();
  const auto* const end = at + text.size();

  struct field {
    uint32_t& into;
    char behind;
  };

  for (const auto& x : {field{out.width, 'x'}, field{out.height, '+'},
                        field{out.left, '+'}, field{out.top, '\0'}}) {
    const auto [stop, error] = std::from_chars(at, end, x.into);
    const bool last = x.behind == '\0';
    if (error != std::errc{}
        || (last ? stop != end : stop == end || *stop != x.behind))
      return std::nullopt;
    at = last ? stop : stop + 1;
  }
  return out;
}

core::result<std::vector<uint8_t>> mask_of(const rectangle& part,
                                           std::span<const uint8_t> image) {
  const auto head = image::read_header(image);
  if (!head)
    return head.why();
  const auto px = head->upright_px();
  const image::decode_limits within;
  if (std::max(px.width, px.height) > within.side_px
      || px.pixels() > within.picture_px)
    return fail(ec::invalid_argument,
                "--mask: an image of {}x{} is too large to be edited", px.width,
                px.height);
  const auto fits = [](uint32_t from, uint32_t length, uint32_t all) {
    return length > 0 && length <= all && from <= all - length;
  };
  if (!fits(part.left, part.width, px.width)
      || !fits(part.top, part.height, px.height))
    return fail(ec::invalid_argument,
                "--mask: {}x{}+{}+{} is not a part of the image, which has "
                "{}x{} pixels",
                part.width, part.height, part.left, part.top, px.width,
                px.height);
  constexpr size_t channels = 3;
  std::vector<uint8_t> pixels(channels * px.pixels());
  for (size_t y = part.top; y < size_t{part.top} + part.height; ++y) {
    const auto begin = channels * (y * px.width + part.left);
    std::fill_n(pixels.begin() + static_cast<std::ptrdiff_t>(begin),
                channels * part.width, uint8_t{255});
  }
  return image::encode({px, channels, pixels}, {});
}

} // namespace atelier::runtime::cli
