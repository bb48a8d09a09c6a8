// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/state_format.hpp>

#include <cstring>

namespace atelier::gpu {

size_t state_bytes(core::latent_shape latent, size_t history_bytes,
                   core::extent preview) {
  return sizeof(state_head) + latent.elements() * sizeof(float) + history_bytes
       + preview.pixels() * 3;
}

core::result<std::span<float>> begin_state(std::span<std::byte> into,
                                           core::latent_shape latent,
                                           uint32_t steps_done,
                                           uint64_t generator_counter,
                                           std::span<const std::byte> history,
                                           const state_preview& preview) {
  ATELIER_EXPECTS(preview.rgb.size() == preview.px.pixels() * 3,
                  "a preview's pixels are those of its size");
  const auto needed = state_bytes(latent, history.size(), preview.px);
  if (needed > into.size())
    return core::fail(core::ec::out_of_resources,
                      "a state of {} bytes does not fit its slot of {} bytes",
                      needed, into.size());
  state_head head;
  head.steps_done = steps_done;
  head.channels = latent.channels;
  head.height = latent.height;
  head.width = latent.width;
  head.history_bytes = static_cast<uint32_t>(history.size());
  head.generator_counter = generator_counter;
  head.preview_width = preview.px.width;
  head.preview_height = preview.px.height;
  std::memcpy(into.data(), &head, sizeof(head));
  auto* at = into.data() + state_bytes(latent, 0);
  if (!history.empty())
    std::memcpy(at, history.data(), history.size());
  if (!preview.rgb.empty())
    std::memcpy(at + history.size(), preview.rgb.data(), preview.rgb.size());
  return std::span<float>{reinterpret_cast<float*>(into.data() + sizeof(head)),
                          latent.elements()};
}

core::result<state_parts> parse_state(std::span<const std::byte> from) {
  state_parts parts;
  auto& head = parts.head;
  if (from.size() < sizeof(head))
    return core::fail(core::ec::bad_payload,
                      "a state of {} bytes is shorter than its head of {}",
                      from.size(), sizeof(head));
  std::memcpy(&head, from.data(), sizeof(head));
  if (head.magic != state_head::magic_value)
    return core::fail(core::ec::bad_payload,
                      "a state's magic is {:#010x}, not {:#010x}", head.magic,
                      state_head::magic_value);
  // Sizes are from another process, so no product is computed before its
  // factors are known to be small.
  const auto room = from.size() - sizeof(head);
  auto elements = uint64_t{1};
  for (const uint64_t side : {head.channels, head.height, head.width}) {
    elements *= side;
    if (side == 0 || elements > room / sizeof(float))
      return core::fail(core::ec::bad_payload,
                        "a state's latent [{}, {}, {}] does not fit its {} "
                        "bytes",
                        head.channels, head.height, head.width, room);
  }
  const auto rest = room - elements * sizeof(float);
  const core::extent px{head.preview_width, head.preview_height};
  if (px.pixels() > rest / 3 || head.history_bytes != rest - 3 * px.pixels())
    return core::fail(core::ec::bad_payload,
                      "a state's history of {} bytes and its preview of {}x{} "
                      "pixels are said to have {} bytes",
                      head.history_bytes, px.width, px.height, rest);
  parts.latent = {reinterpret_cast<const float*>(from.data() + sizeof(head)),
                  elements};
  parts.history = from.last(rest).first(head.history_bytes);
  const auto rgb = from.last(rest - head.history_bytes);
  parts.preview = {px,
                   {reinterpret_cast<const uint8_t*>(rgb.data()), rgb.size()}};
  return parts;
}

core::result<void> is_of_publication(const state_head& head, uint64_t seq) {
  if (uint64_t{head.steps_done} + 1 == seq)
    return {};
  return core::fail(core::ec::bad_payload,
                    "a state after {} steps is published as {}, not {}",
                    head.steps_done, seq, uint64_t{head.steps_done} + 1);
}

} // namespace atelier::gpu
