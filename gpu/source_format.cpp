// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/source_format.hpp>

#include <algorithm>
#include <cstring>

namespace atelier::gpu {

uint64_t source_bytes(core::extent px, bool masked) {
  return sizeof(source_head) + px.pixels() * (masked ? 4 : 3);
}

core::result<source_buffers> begin_source(std::span<std::byte> into,
                                          core::extent px, bool masked) {
  const auto needed = source_bytes(px, masked);
  if (needed > into.size())
    return core::fail(core::ec::out_of_resources,
                      "a source of {} bytes does not fit its slot of {} bytes",
                      needed, into.size());
  source_head head;
  head.width = px.width;
  head.height = px.height;
  head.masked = masked ? 1 : 0;
  std::memcpy(into.data(), &head, sizeof(head));
  auto* const pixels = reinterpret_cast<uint8_t*>(into.data() + sizeof(head));
  const auto n = px.pixels();
  return source_buffers{{pixels, 3 * n}, {pixels + 3 * n, masked ? n : 0}};
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
  if (n == 0 || n > room || source_bytes(parts.px, masked) != from.size())
    return core::fail(core::ec::bad_payload,
                      "a source of {}x{} {} a mask does not have {} bytes",
                      head.width, head.height, masked ? "with" : "without",
                      from.size());
  const auto* const pixels =
    reinterpret_cast<const uint8_t*>(from.data() + sizeof(head));
  parts.pixels = {pixels, 3 * n};
  parts.mask = {pixels + 3 * n, masked ? n : 0};
  const auto neither = [](uint8_t x) { return x != 0 && x != 255; };
  if (const auto at = std::ranges::find_if(parts.mask, neither);
      at != parts.mask.end())
    return core::fail(core::ec::bad_payload,
                      "a source's mask has the value {} at {}, not 0 or 255",
                      *at, at - parts.mask.begin());
  return parts;
}

} // namespace atelier::gpu
