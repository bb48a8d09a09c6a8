// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox_noise.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/torch_generator.hpp>

#include <cstdint>
#include <span>
#include <variant>

namespace atelier::gpu::detail {

/// A request's own generator, of the requested kind, which can continue from
/// the position of an earlier attempt.
class row_noise {
public:
  row_noise(core::noise_source kind, uint64_t seed, uint64_t position = 0)
    : from_(make(kind, seed, position)) {}

  /// Fills `out` with the next standard normal values.
  void draw(std::span<float> out) {
    std::visit([&](auto& g) { g.fill(out); }, from_);
  }

  /// Returns the position from which another generator of this seed continues.
  uint64_t position() const {
    return std::visit([](const auto& g) { return g.position(); }, from_);
  }

private:
  using any = std::variant<core::torch_generator, core::philox_generator>;

  static any make(core::noise_source kind, uint64_t seed, uint64_t position) {
    if (kind == core::noise_source::torch_cpu)
      return core::torch_generator{seed, position};
    return core::philox_generator{seed, position};
  }

  any from_;
};

} // namespace atelier::gpu::detail
