// SPDX-License-Identifier: Apache-2.0
#include "support/seed.hpp"

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

namespace atelier::test {

namespace {

std::uint64_t choose_seed() {
  const char* variable = std::getenv("ATELIER_TEST_SEED");
  const std::string_view text = variable == nullptr ? "" : variable;
  std::uint64_t value = 0;
  if (text.empty()) {
    std::random_device device;
    value = (std::uint64_t{device()} << 32) | device();
  } else {
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error != std::errc{} || end != last) {
      std::fprintf(stderr,
                   "ATELIER_TEST_SEED is '%s', not an unsigned 64-bit number\n",
                   variable);
      std::exit(2);
    }
  }
  std::fprintf(stderr, "ATELIER_TEST_SEED=%" PRIu64 "\n", value);
  return value;
}

} // namespace

std::uint64_t seed() {
  static const std::uint64_t chosen = choose_seed();
  return chosen;
}

} // namespace atelier::test
