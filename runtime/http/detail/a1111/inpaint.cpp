// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/runtime/http/detail/a1111/inpaint.hpp>

#ifdef __GLIBC__
#  include <malloc.h>
#endif

#include <algorithm>
#include <cmath>
#include <string_view>

namespace atelier::runtime::http::detail {

namespace {

core::error at(std::string_view field, const core::error& why) {
  return core::fail(why.code, "{}: {}", field, why.text);
}

core::result<image::bitmap> decode(std::string_view field,
                                   const std::vector<uint8_t>& file,
                                   uint64_t most_px, const stop_predicate& stop,
                                   bool colours_only) {
  image::decode_limits most;
  most.picture_px = most_px;
  most.stop = stop;
  const auto head = image::read_header(file);
  if (!head)
    return at(field, head.why());
  auto got = colours_only ? image::decode_colours(file, most)
                          : image::decode(file, most);
  if (!got)
    return at(field, got.why());
  return image::upright(std::move(*got), head->orientation);
}

core::result<soft_mask> decode_mask(const std::vector<uint8_t>& file,
                                    uint64_t most_px,
                                    const stop_predicate& stop) {
  auto mask = decode("mask", file, most_px, stop, false);
  if (!mask)
    return mask.why();
  return mask_of(std::move(*mask));
}

/// The image that is painted on, and where.
struct easel {
  image::bitmap canvas;
  soft_mask mask;
  region part;
  core::extent px;
};

core::result<easel> set_up(const inpaint_plan& how, const core::limits& within,
                           const stop_predicate& stop) {
#ifdef __GLIBC__
  // What the last image left to the allocator would come on top of this one.
  malloc_trim(0);
#endif
  const bool masked = !how.mask.empty();
  const auto image_px = masked && how.only_masked
                        ? std::min(within.source_px, 4 * within.picture_px)
                        : within.source_px;
  auto image = decode("image", how.image, image_px, stop, true);
  if (!image)
    return image.why();
  easel x;
  x.canvas = std::move(*image);
  x.px = how.px == core::extent{} ? own_size(x.canvas.px, within) : how.px;
  if (masked) {
    auto mask = decode_mask(how.mask, within.source_px, stop);
    if (!mask)
      return mask.why();
    auto scaled =
      resize_mask(resize_mode::stretch, std::move(*mask), x.canvas.px, stop);
    if (!scaled)
      return at("mask", scaled.why());
    x.mask = std::move(*scaled);
    if (how.invert)
      invert(x.mask);
    if (how.only_masked) {
      blur(x.mask, how.blur_x, how.blur_y);
      if (const auto part = region_of(x.mask, how.padding, x.px)) {
        x.part = *part;
        return x;
      }
      // Nothing is repainted: as with the whole image.
    }
  }
  auto canvas = resize_as(how.resize, std::move(x.canvas), x.px, stop);
  if (!canvas)
    return at("image", canvas.why());
  x.canvas = std::move(*canvas);
  x.part = {0, 0, x.px};
  if (!masked)
    return x;
  auto mask = resize_mask(how.resize, std::move(x.mask), x.px, stop);
  if (!mask)
    return at("mask", mask.why());
  x.mask = std::move(*mask);
  blur(x.mask, how.blur_x, how.blur_y);
  return x;
}

} // namespace

core::extent own_size(core::extent px, const core::limits& within) {
  const auto scale = std::min(
    {1.0, static_cast<double>(within.side_px) / std::max(px.width, px.height),
     std::sqrt(static_cast<double>(within.picture_px)
               / static_cast<double>(px.pixels()))});
  const auto on_grid = [&](uint32_t side) {
    const auto whole = static_cast<uint32_t>(side * scale);
    return std::max(whole / core::grid_px * core::grid_px, core::grid_px);
  };
  return {on_grid(px.width), on_grid(px.height)};
}

core::result<core::extent> prepare(const inpaint_plan& how,
                                   const core::limits& within, generation& into,
                                   const stop_predicate& stop) {
  auto x = set_up(how, within, stop);
  if (!x)
    return x.why();
  const auto answer = how.mask.empty() ? x->px : x->canvas.px;
  into.width = x->px.width;
  into.height = x->px.height;
  auto source = resize_as(resize_mode::stretch,
                          cut(std::move(x->canvas), x->part), x->px, stop);
  if (!source)
    return at("image", source.why());
  if (!how.mask.empty()) {
    const auto mask = resize_mask(
      resize_mode::stretch, cut(std::move(x->mask), x->part), x->px, stop);
    if (!mask)
      return at("mask", mask.why());
    if (!how.keeps_original)
      fill_masked(*source, *mask);
    auto file = image::encode(image_of(*mask).view(), {});
    if (!file)
      return file.why();
    into.mask = std::move(*file);
  }
  auto file = image::encode(source->view(), {});
  if (!file)
    return file.why();
  into.image = std::move(*file);
  return answer;
}

core::result<std::vector<uint8_t>> paste_back(const inpaint_plan& how,
                                              const core::limits& within,
                                              const generated_image& made,
                                              uint32_t quality,
                                              const stop_predicate& stop) {
  auto x = set_up(how, within, stop);
  if (!x)
    return x.why();
  auto drawn = image::decode_colours(made.bytes);
  if (!drawn)
    return drawn.why();
  {
    auto fitting =
      resize_as(resize_mode::stretch, std::move(*drawn), x->part.px, stop);
    if (!fitting)
      return at("image", fitting.why());
    blend(x->canvas, *fitting, x->part, x->mask);
    x->mask = {};
  }
  core::encoding format;
  format.format =
    core::parse_image_format(made.format).value_or(core::image_format::png);
  format.quality = quality;
  return image::encode(x->canvas.view(), format,
                       image::read_text(made.bytes).value_or(""));
}

} // namespace atelier::runtime::http::detail
