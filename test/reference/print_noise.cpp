// SPDX-License-Identifier: Apache-2.0
// Reads lines "<seed> <n>" and writes, for each, the n float32 values that
// torch_randn draws, as they lie in memory.
#include <atelier/core/torch_noise.hpp>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <vector>

int main() {
  std::uint64_t seed = 0;
  std::size_t n = 0;
  while (std::cin >> seed >> n) {
    std::vector<float> noise(n);
    atelier::core::torch_randn(seed, noise);
    if (!noise.empty())
      std::fwrite(noise.data(), sizeof(float), noise.size(), stdout);
  }
}
