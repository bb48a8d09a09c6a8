// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace atelier::ipc {

/// The contents of a slot.
enum class slot_kind : uint8_t {
  /// The state that resumes a request: latent, sampler history, generator
  /// counter, step, prompt embeddings. It has two buffers, published in turn.
  state,
  /// Pixels or encoded bytes. They are written once.
  image,
  /// A latent kept for a cache. It is written once.
  capture,
};

inline constexpr size_t slot_kinds = 3;

constexpr std::string_view to_string(slot_kind x) {
  switch (x) {
    case slot_kind::state:
      return "state";
    case slot_kind::image:
      return "image";
    case slot_kind::capture:
      return "capture";
  }
  return "unknown";
}

/// Identifies a slot for one grant. Messages carry it in place of the bytes.
/// Invariant: generation 0 identifies no slot.
struct slot_ref {
  /// The arena's epoch; a reference into another arena is refused.
  uint32_t arena = 0;
  /// Index among the slots of `kind`.
  uint32_t slot = 0;
  uint32_t generation = 0;
  slot_kind kind = slot_kind::state;

  constexpr explicit operator bool() const {
    return generation != 0;
  }

  friend constexpr auto operator<=>(const slot_ref&, const slot_ref&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, slot_ref& x) {
    return f(x.arena, x.slot, x.generation, x.kind);
  }
};

} // namespace atelier::ipc
