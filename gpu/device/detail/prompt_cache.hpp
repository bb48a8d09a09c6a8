// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/models/model.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <list>
#include <memory>
#include <string>

namespace atelier::gpu::detail {

/// The last texts that were encoded: a negative prompt is mostly the same, and
/// the pictures of one prompt come together.
/// Threads: one at a time.
class prompt_cache {
public:
  static constexpr size_t most_entries = 64;

  /// Returns the encoding of `text` by `model`, made where it is not held.
  /// Throws what the model throws.
  const condition& find(const std::shared_ptr<const gpu::model>& model,
                        const std::string& text, bool negative);

private:
  struct entry {
    /// A model that is gone matches none.
    std::weak_ptr<const gpu::model> model;
    std::string text;
    bool negative = false;
    condition what;
  };

  /// The last used first.
  std::list<entry> entries_;
};

} // namespace atelier::gpu::detail
