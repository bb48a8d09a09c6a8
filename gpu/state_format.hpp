// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu {

/// The header of a published state, which holds everything needed to resume a
/// request. The latent follows as float32 [channels, height, width], then
/// `history_bytes` of the sampler's own data, then optionally a preview for
/// clients: RGB8 pixels [preview_height, preview_width, 3].
struct state_head {
  static constexpr uint32_t magic_value = 0x32545341; // "AST2"

  uint32_t magic = magic_value;
  uint32_t steps_done = 0;
  uint32_t channels = 0;
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t history_bytes = 0;
  /// 32-bit words drawn so far from the request's generator: the position at
  /// which the next step's draws begin.
  uint64_t generator_counter = 0;
  /// Both are 0 without a preview.
  uint32_t preview_width = 0;
  uint32_t preview_height = 0;
};

static_assert(sizeof(state_head) == 40);

/// A small image of a run's intermediate result.
struct state_preview {
  core::extent px;
  /// Shape: [height, width, 3]; empty if px is empty.
  std::span<const uint8_t> rgb;
};

/// A state's parts, as views of the bytes that hold it.
struct state_parts {
  state_head head;
  std::span<const float> latent;
  std::span<const std::byte> history;
  state_preview preview;
};

/// Returns the size of a state in bytes.
size_t state_bytes(core::latent_shape latent, size_t history_bytes,
                   core::extent preview = {});

/// Writes the header into `into` and returns the destination of the latent.
/// @pre `into` is aligned to 8 bytes
/// Errors: ec::out_of_resources if the state does not fit.
core::result<std::span<float>> begin_state(
  std::span<std::byte> into, core::latent_shape latent, uint32_t steps_done,
  uint64_t generator_counter, std::span<const std::byte> history = {},
  const state_preview& preview = {});

/// Returns the parts of a published state.
/// @pre `from` is aligned to 8 bytes
/// Errors: ec::bad_payload; the text names the part.
core::result<state_parts> parse_state(std::span<const std::byte> from);

/// Checks that a state is the one that was published as `seq`, which is the
/// number of its steps + 1.
/// Errors: ec::bad_payload; the text names both numbers.
core::result<void> is_of_publication(const state_head& head, uint64_t seq);

} // namespace atelier::gpu
