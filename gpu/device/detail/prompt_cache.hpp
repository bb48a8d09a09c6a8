// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/model.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

namespace atelier::gpu::detail {

/// The most recently encoded texts. Negative prompts are mostly the same, and
/// the images of one prompt arrive together.
/// Threads: one at a time.
class prompt_cache {
public:
  static constexpr size_t most_entries = 64;
  /// Bounds the memory of texts of many chunks; as many as 64 texts of the
  /// longest encoding of one chunk have.
  static constexpr int64_t most_tokens = 64 * 333;

  /// Returns the encoding of `asked` by `model`; encodes it if it is not held.
  /// It stays until other texts replace it. Throws the exceptions of the model.
  const condition& find(const std::shared_ptr<const gpu::model>& model,
                        const prompt_text& asked);

private:
  struct entry {
    /// The model; an expired one matches none.
    std::weak_ptr<const gpu::model> model;
    prompt_text text;
    gpu::condition condition;
  };

  /// Most recently used first.
  std::list<entry> entries_;
  /// The sum of the entries' tokens.
  int64_t tokens_ = 0;
};

} // namespace atelier::gpu::detail
