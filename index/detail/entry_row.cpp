// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/detail/entry_row.hpp>

#include <algorithm>

namespace atelier::index::detail {

const part_row* entry_row::part_of(uint32_t steps) const {
  const auto at = std::ranges::find(parts, steps, &part_row::steps);
  return at == parts.end() ? nullptr : &*at;
}

held_parts entry_row::holds() const {
  held_parts out;
  out.depth = held_parts::counted_depth(depth);
  for (const auto& x : parts) {
    out.last_steps = std::max(out.last_steps, x.steps);
    out.image = out.image || x.steps == 0;
  }
  return out;
}

uint64_t payload_bytes(const entry_row& row) {
  uint64_t out = 0;
  for (const auto& x : row.parts)
    out += x.bytes;
  return out;
}

uint64_t payload_bytes(const leftover& what) {
  uint64_t out = what.image.size();
  for (const auto& x : what.states)
    out += x.bytes.size();
  return out;
}

} // namespace atelier::index::detail
