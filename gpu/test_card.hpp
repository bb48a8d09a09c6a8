// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/gpu/source_format.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::gpu {

/// Replace a latent by its successor: the test card's stand-in for a denoising
/// step. Every element of the result depends on its predecessor, on its place,
/// on `step`, on every choice of `how` but seed and noise, on both prompts, and
/// on the source; so a step that is lost, repeated or swapped shows in the
/// picture.
/// @param source what `test_card_sum` returns for the source; 0: there is none
/// Whole numbers only: bit-identical on every machine and compiler.
/// Units: results lie in [-4, 4), multiples of 2^-21.
void test_card_step(std::span<float> latent, const core::recipe& how,
                    const core::prompt_pair& text, uint32_t step,
                    uint64_t source = 0);

/// Return a number, not 0, that tells one source from another.
uint64_t test_card_sum(const source_parts& source);

/// Return the bytes of the picture that `test_card_decode` draws.
constexpr size_t test_card_bytes(core::extent px) {
  return size_t{3} * px.width * px.height;
}

/// Draw the test card of `how.px`: colour bars, circle, grid, grey steps, the
/// prompt's first words, seed, steps and size as far as they fit, and a field
/// of patches, each coloured by the latent elements that lie under it. Where
/// there is a source, the card lies over it: as opaque as the strength, never
/// wholly, and only where the mask, if there is one, is 255.
/// Shape: `rgb` is [height, width, 3].
/// @pre the latent is of the state's shape, rgb has test_card_bytes(how.px),
/// and
///      a source is of how.px
void test_card_decode(std::span<const float> latent, core::latent_shape shape,
                      const core::recipe& how, const core::prompt_pair& text,
                      std::span<std::byte> rgb,
                      const source_parts* source = nullptr);

/// Return what a judge says of the test card: a number in 0..1, evenly spread
/// over seeds, the same for the same seed.
double test_card_score(const core::recipe& how);

/// Draw a preview: each pixel is what one place of the latent holds in its
/// first three channels, the last one again where there are fewer.
/// Shape: `rgb` starts with [shape.height, shape.width, 3].
void test_card_preview(std::span<const float> latent, core::latent_shape shape,
                       std::span<std::byte> rgb);

} // namespace atelier::gpu
