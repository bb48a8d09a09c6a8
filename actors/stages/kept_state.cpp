// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/kept_state.hpp>
#include <atelier/gpu/state_format.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace atelier::actors {

namespace {

bool is_finite(std::span<const float> xs) {
  return std::all_of(xs.begin(), xs.end(),
                     [](float x) { return std::isfinite(x); });
}

} // namespace

core::result<void> check_state(std::span<const std::byte> state,
                               core::latent_shape latent, uint32_t steps) {
  using core::ec;
  const auto parts = gpu::parse_state(state);
  if (!parts)
    return parts.why();
  const auto& head = parts->head;
  if (core::latent_shape{head.channels, head.height, head.width} != latent)
    return core::fail(ec::bad_payload,
                      "a kept state's latent is [{}, {}, {}], not [{}, {}, {}]",
                      head.channels, head.height, head.width, latent.channels,
                      latent.height, latent.width);
  if (head.steps_done != steps)
    return core::fail(ec::bad_payload,
                      "a kept state stands after {} steps, not {}",
                      head.steps_done, steps);
  if (parts->history.size() % parts->latent.size_bytes() != 0)
    return core::fail(ec::bad_payload,
                      "a kept state's history of {} bytes is not of latents of "
                      "{}",
                      parts->history.size(), parts->latent.size_bytes());
  const std::span<const float> history{
    reinterpret_cast<const float*>(parts->history.data()),
    parts->history.size() / sizeof(float)};
  if (!is_finite(parts->latent) || !is_finite(history))
    return core::fail(ec::bad_payload,
                      "a kept state after {} steps is not finite", steps);
  return {};
}

core::result<uint32_t> make_keepable(std::vector<std::byte>& state,
                                     core::latent_shape latent) {
  const auto parts = gpu::parse_state(state);
  if (!parts)
    return parts.why();
  auto head = parts->head;
  head.preview_width = head.preview_height = 0;
  state.resize(state.size() - parts->preview.rgb.size());
  std::memcpy(state.data(), &head, sizeof head);
  if (const auto sound = check_state(state, latent, head.steps_done); !sound)
    return sound.why();
  return head.steps_done;
}

} // namespace atelier::actors
