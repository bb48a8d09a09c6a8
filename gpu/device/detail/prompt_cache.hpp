// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/model.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <list>
#include <memory>
#include <string>

namespace atelier::gpu::detail {

/// The most recently encoded texts. Negative prompts are mostly the same, and
/// the images of one prompt arrive together.
/// Threads: one at a time.
class prompt_cache {
public:
  static constexpr size_t most_entries = 64;

  /// Returns the encoding of `text` by `model`; encodes it if it is not held.
  /// Throws the exceptions of the model.
  const condition& find(const std::shared_ptr<const gpu::model>& model,
                        const std::string& text, bool negative);

private:
  struct entry {
    /// The model; an expired one matches none.
    std::weak_ptr<const gpu::model> model;
    std::string text;
    bool negative = false;
    gpu::condition condition;
  };

  /// Most recently used first.
  std::list<entry> entries_;
};

} // namespace atelier::gpu::detail
