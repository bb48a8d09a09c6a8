// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/training/detail/layouts.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

namespace {

// Returns whether both fit. Neighbours in a row or column never do; diagonal
// neighbours do unless both are large.
bool fit(const slot_in_layout& a, const slot_in_layout& b) {
  const auto i = static_cast<int>(a.place);
  const auto j = static_cast<int>(b.place);
  const auto dx = i % 3 - j % 3;
  const auto dy = i / 3 - j / 3;
  const auto square = dx * dx + dy * dy;
  const auto both_large =
    a.size == object_size::large && b.size == object_size::large;
  return square > 1 && !(square == 2 && both_large);
}

// A layout's weight is the product of these over its objects. Few layouts have
// an object in the centre or large objects. The factors, found numerically for
// each number of objects, compensate for that.
struct factors {
  double edge = 1;
  double centre = 1;
  double large = 1;
};

constexpr factors factors_of[most_objects + 1] = {
  {},
  {},
  {1.46338044, 2.98555277, 1.39018408},
  {2.2292489, 8.81014383, 2.18379525},
};

double weight_of(const layout& x) {
  const auto& by = factors_of[x.count];
  auto weight = 1.0;
  for (auto i = size_t{0}; i < x.count; ++i) {
    const auto place = static_cast<size_t>(x.slots[i].place);
    if (x.slots[i].place == grid_place::centre)
      weight *= by.centre;
    else if (place % 2 == 1)
      weight *= by.edge;
    if (x.slots[i].size == object_size::large)
      weight *= by.large;
  }
  return weight;
}

} // namespace

layout_table::layout_table(size_t count) {
  ATELIER_EXPECTS(count >= 1 && count <= most_objects, "one to three objects");
  add_layouts({}, 0, count);
}

void layout_table::add_layouts(layout so_far, size_t first_place,
                               size_t count) {
  if (so_far.count == count) {
    const auto before = sums_.empty() ? 0 : sums_.back();
    layouts_.push_back(so_far);
    sums_.push_back(before + weight_of(so_far));
    return;
  }
  for (auto place = first_place; place < place_count; ++place)
    for (const auto size : {object_size::small, object_size::large}) {
      const slot_in_layout next{static_cast<grid_place>(place), size};
      const auto* begin = so_far.slots.data();
      const auto fits =
        std::all_of(begin, begin + so_far.count,
                    [&](const auto& x) { return fit(x, next); });
      if (!fits)
        continue;
      auto longer = so_far;
      longer.slots[longer.count++] = next;
      add_layouts(longer, place + 1, count);
    }
}

const layout& layout_table::draw(core::philox& from) const {
  const auto at = from.uniform() * sums_.back();
  const auto it = std::upper_bound(sums_.begin(), sums_.end() - 1, at);
  return layouts_[static_cast<size_t>(it - sums_.begin())];
}

} // namespace atelier::gpu::detail
