// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/detail/box_muller.hpp>
#include <atelier/core/torch_noise.hpp>

#include <cmath>
#include <numbers>
#include <random>

namespace atelier::core {

namespace {

void fill_uniform(std::mt19937& twister, std::span<float> out) {
  for (float& x : out)
    x = static_cast<float>(twister() & 0xFFFFFFu) * 0x1p-24f;
}

double draw_double(std::mt19937& twister) {
  const uint64_t high = twister();
  const uint64_t bits = high << 32 | static_cast<uint32_t>(twister());
  return static_cast<double>(bits & ((1ull << 53) - 1)) * 0x1p-53;
}

/// Below one chunk PyTorch draws pairs in double precision.
void fill_few(std::mt19937& twister, std::span<float> out) {
  for (size_t i = 0; i < out.size(); i += 2) {
    const double u1 = draw_double(twister);
    const double u2 = draw_double(twister);
    const double radius = std::sqrt(-2.0 * std::log1p(-u2));
    const double theta = 2.0 * std::numbers::pi * u1;
    out[i] = static_cast<float>(radius * std::cos(theta));
    if (i + 1 < out.size())
      out[i + 1] = static_cast<float>(radius * std::sin(theta));
  }
}

} // namespace

void torch_randn(uint64_t seed, std::span<float> out) {
  constexpr size_t chunk = detail::box_muller_chunk;
  std::mt19937 twister{static_cast<uint32_t>(seed)};
  if (out.size() < chunk)
    return fill_few(twister, out);
  fill_uniform(twister, out);
  detail::box_muller(out);
  if (out.size() % chunk != 0) {
    // The last chunk is drawn afresh, over values already transformed.
    const auto last = out.last(chunk);
    fill_uniform(twister, last);
    detail::box_muller(last);
  }
}

} // namespace atelier::core
