// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/state_format.hpp>

#include <cstring>

namespace atelier::gpu {

size_t state_bytes(core::latent_shape latent, size_t history_bytes) {
  return sizeof(state_head) + latent.elements() * sizeof(float) + history_bytes;
}

core::result<std::span<float>> begin_state(std::span<std::byte> into,
                                           core::latent_shape latent,
                                           uint32_t steps_done,
                                           uint64_t generator_counter,
                                           std::span<const std::byte> history) {
  const auto needed = state_bytes(latent, history.size());
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
  std::memcpy(into.data(), &head, sizeof(head));
  if (!history.empty())
    std::memcpy(into.data() + needed - history.size(), history.data(),
                history.size());
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
  // Sizes come from another process: nothing is multiplied before it is known
  // to be small.
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
  const auto history = room - elements * sizeof(float);
  if (head.history_bytes != history)
    return core::fail(core::ec::bad_payload,
                      "a state's history is said to have {} bytes, but has {}",
                      head.history_bytes, history);
  parts.latent = {reinterpret_cast<const float*>(from.data() + sizeof(head)),
                  elements};
  parts.history = from.last(history);
  return parts;
}

} // namespace atelier::gpu
