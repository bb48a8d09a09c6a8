// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/detail/box_muller.hpp>
#include <atelier/core/torch_generator.hpp>

#include <cmath>
#include <numbers>
#include <utility>

namespace atelier::core {

namespace {

constexpr size_t chunk = detail::box_muller_chunk;

} // namespace

torch_generator::torch_generator(uint64_t seed, uint64_t position,
                                 std::optional<double> spare)
  : twister_(static_cast<uint32_t>(seed)), position_(position), spare_(spare) {
  twister_.discard(position);
}

double torch_generator::uniform() {
  const uint64_t high = twister_();
  const uint64_t bits = high << 32 | static_cast<uint32_t>(twister_());
  position_ += 2;
  return static_cast<double>(bits & ((1ull << 53) - 1)) * 0x1p-53;
}

/// Returns a value for a call that requests fewer values than a chunk. PyTorch
/// draws these in pairs, in double precision, and keeps the second value of a
/// pair for the next request.
double torch_generator::few() {
  if (spare_)
    return *std::exchange(spare_, std::nullopt);
  const double u1 = uniform();
  const double u2 = uniform();
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double theta = 2.0 * std::numbers::pi * u1;
  spare_ = radius * std::sin(theta);
  return radius * std::cos(theta);
}

void torch_generator::fill_many(std::span<float> out) {
  for (float& x : out)
    x = static_cast<float>(twister_() & 0xFFFFFFu) * 0x1p-24f;
  position_ += out.size();
  detail::box_muller(out);
}

void torch_generator::fill(std::span<float> out) {
  if (out.size() < chunk) {
    for (float& x : out)
      x = static_cast<float>(few());
    return;
  }
  fill_many(out);
  // The last chunk is drawn again, over values that are already transformed.
  if (out.size() % chunk != 0)
    fill_many(out.last(chunk));
}

} // namespace atelier::core
