// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/source_decoding.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/image/native_fit.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

core::error source_error(std::string_view field, const core::error& why,
                         const image::decode_limits& most) {
  return most.stopped()
         ? core::fail(why.code, "{}: {} (limits.decode_ms)", field, why.text)
         : core::fail(why.code, "{}: {}", field, why.text);
}

core::result<image::bitmap> decode_upright_source(
  std::string_view field, std::span<const uint8_t> file,
  const image::decode_limits& most) {
  const auto head = image::read_header(file);
  if (!head)
    return core::fail(head.why().code, "{}: {}", field, head.why().text);
  auto pixels = image::decode_colours(file, most);
  if (!pixels)
    return source_error(field, pixels.why(), most);
  return image::upright(*std::move(pixels), head->orientation);
}

core::result<image::bitmap> decode_source(std::string_view field,
                                          std::span<const uint8_t> file,
                                          const image::decode_limits& most,
                                          core::extent px, core::extent& was) {
  auto whole = decode_upright_source(field, file, most);
  if (!whole)
    return whole.why();
  was = whole->px;
  if (was == px)
    return whole;
  auto scaled = image::resize(whole->view(), px, most.stop);
  if (!scaled)
    return source_error(field, scaled.why(), most);
  return scaled;
}

core::result<void> put_source(const image::bitmap& x, core::extent drawn,
                              const gpu::source_buffers& into) {
  std::copy_n(x.bytes.begin(), into.kept_pixels.size(),
              into.kept_pixels.begin());
  if (x.px == drawn) {
    std::copy(x.bytes.begin(), x.bytes.end(), into.pixels.begin());
    return {};
  }
  const auto smaller = image::uncover(x.view(), drawn);
  if (!smaller)
    return smaller.why();
  std::copy(smaller->bytes.begin(), smaller->bytes.end(), into.pixels.begin());
  return {};
}

core::result<uint64_t> write_drawn_source(const drawn_source& from,
                                          std::span<const std::byte> pixels,
                                          const image::decode_limits& most,
                                          std::span<std::byte> buffer) {
  const auto into = gpu::begin_source(buffer, from.into_px, false);
  if (!into)
    return into.why();
  const auto bytes = gpu::drawn_bytes(from.px);
  if (pixels.size() < bytes)
    return core::fail(core::ec::bad_payload,
                      "an image of {} bytes for {}x{} pixels", pixels.size(),
                      from.px.width, from.px.height);
  const auto* const first = reinterpret_cast<const uint8_t*>(pixels.data());
  image::bitmap whole{from.px, 3, {first, first + bytes}};
  if (from.scaled_to != core::extent{}) {
    auto covered = image::cover(whole.view(), from.scaled_to);
    if (!covered)
      return covered.why();
    whole = std::move(*covered);
  }
  if (whole.px != from.answered) {
    auto scaled = image::resize(whole.view(), from.answered, most.stop);
    if (!scaled)
      return source_error("image", scaled.why(), most);
    whole = std::move(*scaled);
  }
  if (auto done = put_source(whole, from.into_px, *into); !done)
    return done.why();
  return gpu::source_bytes(from.into_px, false);
}

} // namespace atelier::actors
