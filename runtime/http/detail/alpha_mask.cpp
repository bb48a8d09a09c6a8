// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/runtime/http/detail/alpha_mask.hpp>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

using core::ec;

/// The least factor that leaves no more than `most` pixels.
uint32_t factor_for(core::extent px, uint64_t most) {
  uint32_t factor = 1;
  while (core::extent{(px.width + factor - 1) / factor,
                      (px.height + factor - 1) / factor}
           .pixels()
         > most)
    ++factor;
  return factor;
}

} // namespace

core::result<std::vector<uint8_t>> white_mask_of(
  std::span<const uint8_t> file, const core::limits& within,
  const std::function<bool()>& stop) {
  image::decode_limits most;
  most.picture_px = within.source_px;
  most.stop = stop;
  const auto head = image::read_header(file);
  if (!head)
    return core::fail(head.why().code, "mask: {}", head.why().text);
  auto got = image::decode(file, most);
  if (!got)
    return core::fail(got.why().code, "mask: {}", got.why().text);
  if (got->channels != 4)
    return core::fail(ec::bad_payload,
                      "mask has no transparency: it must be transparent where "
                      "the image is edited (send a mask that is white there "
                      "as mask_image)");
  const auto mask = image::upright(std::move(*got), head->orientation);
  const auto factor = factor_for(mask.px, within.picture_px);
  const core::extent px{(mask.px.width + factor - 1) / factor,
                        (mask.px.height + factor - 1) / factor};
  std::vector<uint8_t> white(image::bytes_of(px, 3), 0);
  const uint8_t* alpha = mask.bytes.data() + 3;
  for (uint32_t y = 0; y < mask.px.height; ++y)
    for (uint32_t x = 0; x < mask.px.width; ++x, alpha += 4)
      if (*alpha < 128) {
        const auto at = (size_t{y / factor} * px.width + x / factor) * 3;
        std::fill_n(white.begin() + static_cast<ptrdiff_t>(at), 3, 255);
      }
  return image::encode({px, 3, white}, {});
}

} // namespace atelier::runtime::http::detail
