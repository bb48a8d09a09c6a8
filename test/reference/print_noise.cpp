// SPDX-License-Identifier: Apache-2.0
// Reads lines "<seed> <n>..." and writes, for each, the float32 values that one
// generator draws in calls for n values each, in their binary form. A line with
// one call uses torch_randn.
#include <atelier/core/torch_generator.hpp>
#include <atelier/core/torch_noise.hpp>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

void print(const std::vector<float>& noise) {
  if (!noise.empty())
    std::fwrite(noise.data(), sizeof(float), noise.size(), stdout);
}

} // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in{line};
    std::uint64_t seed = 0;
    in >> seed;
    std::vector<std::size_t> calls;
    for (std::size_t n = 0; in >> n;)
      calls.push_back(n);
    atelier::core::torch_generator generator{seed};
    for (std::size_t n : calls) {
      std::vector<float> noise(n);
      if (calls.size() == 1)
        atelier::core::torch_randn(seed, noise);
      else
        generator.fill(noise);
      print(noise);
    }
  }
}
