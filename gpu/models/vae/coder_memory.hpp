// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <cstdint>

namespace atelier::gpu {

/// How an autoencoder is computed.
struct coder_placement {
  /// Bytes of an activation.
  uint64_t element_bytes = 4;
  /// On a CPU, normalised maps are computed in stripes and never stored.
  bool in_stripes = true;
};

/// Bytes of activations at the peak of a decoding, for each element of the
/// latent's area. Buffers of a fixed size are not counted.
uint64_t decode_bytes(const autoencoder_config& of, const coder_placement& how);

/// The same for an encoding.
uint64_t encode_bytes(const autoencoder_config& of, const coder_placement& how);

/// Bytes, for each pixel of a finished image, of its numbers and of the copies
/// that are made while it is written.
inline constexpr uint64_t image_bytes = 64;

} // namespace atelier::gpu
