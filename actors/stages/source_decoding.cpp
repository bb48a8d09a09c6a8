// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/source_decoding.hpp>
#include <atelier/core/image/geometry.hpp>

#include <utility>

namespace atelier::actors {

core::error source_error(std::string_view field, const core::error& why,
                         const image::decode_limits& most) {
  return most.stopped()
         ? core::fail(why.code, "{}: {} (limits.decode_ms)", field, why.text)
         : core::fail(why.code, "{}: {}", field, why.text);
}

core::result<image::picture> decode_upright_source(
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

core::result<image::picture> decode_source(std::string_view field,
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

} // namespace atelier::actors
