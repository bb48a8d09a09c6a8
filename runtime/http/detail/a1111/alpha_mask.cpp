// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/runtime/http/detail/a1111/alpha_mask.hpp>

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

/// A file's mask before it is encoded, and whether a pixel of it is white.
struct mask_pixels {
  image::bitmap mask;
  bool any_white = false;
};

/// Makes the pixels white where those of a file of four channels are
/// transparent; no pixels if the file has three channels.
core::result<mask_pixels> find_transparent(std::span<const uint8_t> file,
                                           const core::limits& within,
                                           const std::function<bool()>& stop) {
  image::decode_limits most;
  most.picture_px = within.source_px;
  most.stop = stop;
  const auto head = image::read_header(file);
  if (!head)
    return head.why();
  auto got = image::decode(file, most);
  if (!got)
    return got.why();
  mask_pixels out;
  if (got->channels != 4)
    return out;
  const auto whole = image::upright(std::move(*got), head->orientation);
  const auto factor = factor_for(whole.px, within.picture_px);
  const core::extent px{(whole.px.width + factor - 1) / factor,
                        (whole.px.height + factor - 1) / factor};
  out.mask = {px, 3, std::vector<uint8_t>(image::bytes_of(px, 3), 0)};
  const uint8_t* alpha = whole.bytes.data() + 3;
  for (uint32_t y = 0; y < whole.px.height; ++y)
    for (uint32_t x = 0; x < whole.px.width; ++x, alpha += 4)
      if (*alpha < 128) {
        const auto at = (size_t{y / factor} * px.width + x / factor) * 3;
        std::fill_n(out.mask.bytes.begin() + static_cast<ptrdiff_t>(at), 3,
                    255);
        out.any_white = true;
      }
  return out;
}

} // namespace

core::result<std::vector<uint8_t>> white_mask_of(
  std::span<const uint8_t> file, const core::limits& within,
  const std::function<bool()>& stop) {
  const auto found = find_transparent(file, within, stop);
  if (!found)
    return core::fail(found.why().code, "mask: {}", found.why().text);
  if (found->mask.bytes.empty())
    return core::fail(ec::bad_payload,
                      "mask has no transparency: it must be transparent where "
                      "the image is edited (send a mask that is white there "
                      "as mask_image)");
  return image::encode(found->mask.view(), {});
}

core::result<std::vector<uint8_t>> mask_within_image(
  std::span<const uint8_t> file, const core::limits& within,
  const std::function<bool()>& stop) {
  if (!image::may_be_transparent(file))
    return std::vector<uint8_t>{};
  const auto found = find_transparent(file, within, stop);
  if (!found)
    return core::fail(found.why().code, "image: {}", found.why().text);
  if (!found->any_white)
    return std::vector<uint8_t>{};
  return image::encode(found->mask.view(), {});
}

} // namespace atelier::runtime::http::detail
