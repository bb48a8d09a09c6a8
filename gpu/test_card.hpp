// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/gpu/source_format.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::gpu {

/// Replaces a latent by its successor: the test card's stand-in for a denoising
/// step. Every element of the result depends on its predecessor, on its place,
/// on `step`, on every field of `how` except seed and noise, on both prompts,
/// and on the source. A lost, repeated or swapped step is therefore visible in
/// the image. Uses integers only: the result is bit-identical on every machine
/// and compiler.
/// @param source the result of `test_card_sum` for the source; 0 without one
/// Units: results lie in [-4, 4), in multiples of 2^-21.
void test_card_step(std::span<float> latent, const core::recipe& how,
                    const core::prompt_pair& text, uint32_t step,
                    uint64_t source = 0);

/// Returns a checksum of a source, which is never 0.
uint64_t test_card_sum(const source_parts& source);

/// Returns the bytes of the image that `test_card_decode` draws.
constexpr size_t test_card_bytes(core::extent px) {
  return size_t{3} * px.width * px.height;
}

/// Draws the test card of `how.px`: colour bars, circle, grid, grey steps, the
/// prompt's first words, seed, steps and size as far as they fit, and a field
/// of patches, each coloured by the latent elements under it. With a source,
/// the card is drawn over it with an opacity given by the strength, never full,
/// and only where the mask, if any, is 255.
/// Shape: `rgb` is [height, width, 3].
/// @pre the latent has the state's shape, rgb has test_card_bytes(how.px), and
///      a source has the size how.px
void test_card_decode(std::span<const float> latent, core::latent_shape shape,
                      const core::recipe& how, const core::prompt_pair& text,
                      std::span<std::byte> rgb,
                      const source_parts* source = nullptr);

/// Returns a judge's score of the test card: a number in 0..1, evenly
/// distributed over seeds and determined by the seed.
double test_card_score(const core::recipe& how);

/// Draws a preview: each pixel shows the first three channels at one place of
/// the latent; with fewer channels, the last one is repeated.
/// Shape: `rgb` starts with [shape.height, shape.width, 3].
void test_card_preview(std::span<const float> latent, core::latent_shape shape,
                       std::span<std::byte> rgb);

} // namespace atelier::gpu
