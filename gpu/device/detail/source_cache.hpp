// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/sha256.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/gpu/models/model.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>

namespace atelier::gpu::detail {

/// The most recently encoded source images. The images of one edit share their
/// source, and a client often edits one image again; only the draws from the
/// encoder's distribution differ.
/// Threads: one at a time.
class source_cache {
public:
  static constexpr size_t most_entries = 16;
  /// Bounds the memory of distributions: 16 of images of 2048x2048 pixels.
  static constexpr int64_t most_elements = int64_t{16} * 2 * 4 * 256 * 256;

  /// Returns the distribution of the image's latent for `model`'s autoencoder;
  /// encodes the image if it is not held. It stays until others replace it.
  /// Throws c10::Error.
  /// @param pixels shape: [height, width, 3], 0..255
  const latent_distribution& find(
    const std::shared_ptr<const gpu::model>& model, core::extent px,
    std::span<const uint8_t> pixels);

  /// Returns how many images were encoded.
  uint64_t encoded() const {
    return encoded_;
  }

private:
  struct entry {
    /// The model; an expired one matches none.
    std::weak_ptr<const gpu::model> model;
    core::extent px;
    core::sha256_digest pixels;
    latent_distribution said;

    int64_t elements() const {
      return said.mean.numel() + said.log_variance.numel();
    }
  };

  /// Most recently used first.
  std::list<entry> entries_;
  /// The sum of the entries' elements.
  int64_t elements_ = 0;
  uint64_t encoded_ = 0;
};

/// Returns an image's pixels on the device, [3, height, width], 0..255.
torch::Tensor pixels_on(torch::Device device, core::extent px,
                        std::span<const uint8_t> pixels);

} // namespace atelier::gpu::detail
