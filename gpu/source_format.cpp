// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/source_format.hpp>

#include <algorithm>
#include <cstring>

namespace atelier::gpu {

uint64_t source_bytes(core::extent px, bool masked, core::extent kept) {
  return sizeof(source_head) + px.pixels() * (masked ? 4 : 3)
       + kept.pixels() * 4;
}

uint64_t drawn_bytes(core::extent px, core::extent kept) {
  return px.pixels() * 3 + kept.pixels() * 4;
}

core::result<kept_parts> parse_kept(std::span<const std::byte> drawn,
                                    core::extent px, core::extent scaled_to) {
  if (drawn.size() == drawn_bytes(px))
    return kept_parts{};
  if (scaled_to.pixels() == 0 || drawn.size() != drawn_bytes(px, scaled_to))
    return core::fail(core::ec::bad_payload,
                      "a drawn image of {}x{} does not have {} bytes", px.width,
                      px.height, drawn.size());
  const auto* const pixels =
    reinterpret_cast<const uint8_t*>(drawn.data()) + drawn_bytes(px);
  const auto n = scaled_to.pixels();
  return kept_parts{scaled_to, {pixels, 3 * n}, {pixels + 3 * n, n}};
}

core::result<source_buffers> begin_source(std::span<std::byte> into,
                                          core::extent px, bool masked,
                                          core::extent kept) {
  ATELIER_EXPECTS(masked || kept.pixels() == 0, "a mask says what is kept");
  const auto needed = source_bytes(px, masked, kept);
  if (needed > into.size())
    return core::fail(core::ec::out_of_resources,
                      "a source of {} bytes does not fit its slot of {} bytes",
                      needed, into.size());
  source_head head;
  head.width = px.width;
  head.height = px.height;
  head.masked = masked ? 1 : 0;
  head.kept_width = kept.width;
  head.kept_height = kept.height;
  std::memcpy(into.data(), &head, sizeof(head));
  auto* const pixels = reinterpret_cast<uint8_t*>(into.data() + sizeof(head));
  const auto n = px.pixels();
  auto* const kept_pixels = pixels + (masked ? 4 : 3) * n;
  const auto k = kept.pixels();
  return source_buffers{{pixels, 3 * n},
                        {pixels + 3 * n, masked ? n : 0},
                        {kept_pixels, 3 * k},
                        {kept_pixels + 3 * k, k}};
}

core::result<source_parts> parse_source(std::span<const std::byte> from) {
  source_head head;
  if (from.size() < sizeof(head))
    return core::fail(core::ec::bad_payload,
                      "a source of {} bytes is shorter than its head of {}",
                      from.size(), sizeof(head));
  std::memcpy(&head, from.data(), sizeof(head));
  if (head.magic != source_head::magic_value)
    return core::fail(core::ec::bad_payload,
                      "a source's magic is {:#010x}, not {:#010x}", head.magic,
                      source_head::magic_value);
  if (head.masked > 1)
    return core::fail(core::ec::bad_payload,
                      "a source's mask is said to be {}, not 0 or 1",
                      head.masked);
  source_parts parts;
  parts.px = {head.width, head.height};
  const bool masked = head.masked != 0;
  // The product of two 32-bit sides fits 64 bits; four times it may not.
  const auto n = parts.px.pixels();
  const uint64_t room = from.size() - sizeof(head);
  const core::extent kept{head.kept_width, head.kept_height};
  const auto k = kept.pixels();
  if (n == 0 || n > room || k > room || (k > 0 && !masked)
      || source_bytes(parts.px, masked, kept) != from.size())
    return core::fail(core::ec::bad_payload,
                      "a source of {}x{} {} a mask does not have {} bytes",
                      head.width, head.height, masked ? "with" : "without",
                      from.size());
  const auto* const pixels =
    reinterpret_cast<const uint8_t*>(from.data() + sizeof(head));
  parts.pixels = {pixels, 3 * n};
  parts.mask = {pixels + 3 * n, masked ? n : 0};
  if (k > 0) {
    const auto* const kept_pixels = pixels + 4 * n;
    parts.kept = {kept, {kept_pixels, 3 * k}, {kept_pixels + 3 * k, k}};
  }
  const auto neither = [](uint8_t x) { return x != 0 && x != 255; };
  for (const auto mask : {parts.mask, parts.kept.mask})
    if (const auto at = std::ranges::find_if(mask, neither); at != mask.end())
      return core::fail(core::ec::bad_payload,
                        "a source's mask has the value {} at {}, not 0 or 255",
                        *at, at - mask.begin());
  return parts;
}

} // namespace atelier::gpu
