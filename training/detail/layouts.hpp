// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/training/scene.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace atelier::gpu::detail {

struct slot_in_layout {
  grid_place place;
  object_size size;
};

/// Places and sizes of objects. Only the first `count` slots are in use.
struct layout {
  size_t count = 0;
  std::array<slot_in_layout, most_objects> slots{};
};

/// All layouts of `count` objects that fit. Their weights make all places
/// equally likely, and both sizes.
class layout_table {
public:
  /// @pre 1 <= count <= most_objects
  explicit layout_table(size_t count);

  const layout& draw(core::philox& from) const;

private:
  void add_layouts(layout so_far, size_t first_place, size_t count);

  std::vector<layout> layouts_;
  // Sums of the weights up to and including each layout.
  std::vector<double> sums_;
};

} // namespace atelier::gpu::detail
