// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/models/files/float_types.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace atelier::gpu;
using namespace atelier::gpu::detail;

namespace {

/// Returns the nearest value of a type with that many fraction bits and that
/// least exponent. It is computed differently than in the tested code.
double nearest(double x, int fraction_bits, int least_exponent, double most) {
  if (x == 0 || std::isinf(x))
    return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const int step = std::max(exponent - 1, least_exponent) - fraction_bits;
  const double out = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
  return std::abs(out) > most ? std::copysign(INFINITY, x) : out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(float_types_test)

BOOST_AUTO_TEST_CASE(every_narrow_number_comes_back) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto x = static_cast<uint16_t>(bits);
    const float half = from_half_bits(x);
    const float wide = from_bfloat16_bits(x);
    if (std::isnan(half))
      BOOST_REQUIRE(std::isnan(from_half_bits(to_half_bits(half))));
    else
      BOOST_REQUIRE_EQUAL(to_half_bits(half), x);
    if (std::isnan(wide))
      BOOST_REQUIRE(std::isnan(from_bfloat16_bits(to_bfloat16_bits(wide))));
    else
      BOOST_REQUIRE_EQUAL(to_bfloat16_bits(wide), x);
  }
}

BOOST_AUTO_TEST_CASE(known_numbers_have_known_bits) {
  BOOST_TEST(to_half_bits(1.0f) == 0x3c00);
  BOOST_TEST(to_half_bits(-2.0f) == 0xc000);
  BOOST_TEST(to_half_bits(65504.0f) == 0x7bff);
  BOOST_TEST(to_half_bits(65519.996f) == 0x7bff);
  BOOST_TEST(to_half_bits(65520.0f) == 0x7c00);
  BOOST_TEST(to_half_bits(0x1p-24f) == 0x0001);
  BOOST_TEST(to_half_bits(0x1p-25f) == 0x0000);
  BOOST_TEST(to_half_bits(0x1.8p-25f) == 0x0001);
  BOOST_TEST(to_bfloat16_bits(1.0f) == 0x3f80);
  BOOST_TEST(to_bfloat16_bits(std::numeric_limits<float>::max()) == 0x7f80);
  BOOST_TEST(to_bfloat16_bits(-0.0f) == 0x8000);
}

BOOST_AUTO_TEST_CASE(numbers_are_rounded_to_the_nearest_even) {
  std::mt19937_64 random{atelier::test::seed()};
  for (size_t i = atelier::test::scaled(10'000'000); i > 0; --i) {
    const auto bits = static_cast<uint32_t>(random());
    const auto x = std::bit_cast<float>(bits);
    if (std::isnan(x))
      continue;
    const double half = nearest(x, 10, -14, 65504);
    BOOST_REQUIRE_EQUAL(from_half_bits(to_half_bits(x)), half);
    const double wide =
      nearest(x, 7, -126, from_bfloat16_bits(uint16_t{0x7f7f}));
    BOOST_REQUIRE_EQUAL(from_bfloat16_bits(to_bfloat16_bits(x)), wide);
  }
}

BOOST_AUTO_TEST_CASE(all_pairs_of_types_convert_at_any_address) {
  using enum tensor_type;
  const std::array<float, 4> numbers = {0.5f, -1.25f, 96.0f, 0.0f};
  for (const auto from : {float64, float32, float16, bfloat16})
    for (const auto to : {float64, float32, float16, bfloat16}) {
      std::vector<std::byte> a(1 + numbers.size() * bytes_of(from));
      std::vector<std::byte> b(1 + numbers.size() * bytes_of(to));
      std::vector<std::byte> c(numbers.size() * sizeof(float));
      convert(float32, std::as_bytes(std::span{numbers}), from,
              std::span{a}.subspan(1));
      convert(from, std::span{a}.subspan(1), to, std::span{b}.subspan(1));
      convert(to, std::span{b}.subspan(1), float32, c);
      BOOST_TEST(std::equal(c.begin(), c.end(),
                            std::as_bytes(std::span{numbers}).begin()));
    }
}

BOOST_AUTO_TEST_CASE(numbers_that_are_none_are_counted) {
  const std::array<float, 5> numbers = {1, INFINITY, 2, -INFINITY, NAN};
  for (const auto type : {tensor_type::float64, tensor_type::float32,
                          tensor_type::float16, tensor_type::bfloat16}) {
    std::vector<std::byte> bytes(numbers.size() * bytes_of(type));
    convert(tensor_type::float32, std::as_bytes(std::span{numbers}), type,
            bytes);
    BOOST_TEST(count_non_finite(type, bytes) == 3u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
