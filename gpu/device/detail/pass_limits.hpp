// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/batching/group_size.hpp>
#include <atelier/gpu/models/model.hpp>

#include <cstddef>
#include <list>
#include <memory>

namespace atelier::gpu::detail {

/// The sizes of passes that fit the device, by model and shape.
/// Threads: one at a time.
class pass_limits {
public:
  /// Shapes that are remembered at once.
  static constexpr size_t most_entries = 64;

  /// Returns the size for passes with that key; its places do not matter. It
  /// stays until other keys replace it.
  group_size& find(const std::shared_ptr<const model>& of, pass_key key);

private:
  struct entry {
    /// An expired model matches none.
    std::weak_ptr<const model> of;
    pass_key key;
    group_size size;
  };

  /// Most recently used first.
  std::list<entry> entries_;
};

} // namespace atelier::gpu::detail
