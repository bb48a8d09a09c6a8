// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/core/philox_noise.hpp>

#include <boost/test/unit_test.hpp>

#include <bit>
#include <cmath>
#include <set>
#include <vector>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(philox_test)

// Source: Random123 1.14, tests/kat_vectors, lines "philox4x32 10".
BOOST_AUTO_TEST_CASE(published_vectors_come_out) {
  BOOST_TEST((philox4x32({0, 0, 0, 0}, {0, 0})
              == philox_block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  BOOST_TEST((philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u})
              == philox_block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  BOOST_TEST((philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                         {0xa4093822, 0x299f31d0})
              == philox_block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

BOOST_AUTO_TEST_CASE(streams_never_change) {
  philox sut{42, purpose::routing, request_id{7}};
  const uint32_t words[] = {0x98a6f990, 0xedd6c6a4, 0x9854bfb6,
                            0xcde09718, 0x5c8702e0, 0xb5945817};
  for (uint32_t word : words)
    BOOST_TEST(sut.next_u32() == word);
  sut.seek(0);
  BOOST_TEST(std::bit_cast<uint64_t>(sut.uniform()) == 0x3fedbad8d49314dfull);
  BOOST_TEST(sut.below(1000) == 804u);
  BOOST_TEST(std::bit_cast<uint64_t>(sut.normal()) == 0x3ff200751a4f1a5full);
  BOOST_TEST(std::bit_cast<uint64_t>(sut.exponential(2.5))
             == 0x40169741908e0c9bull);
}

BOOST_AUTO_TEST_CASE(seed_purpose_and_request_make_streams) {
  std::set<uint64_t> firsts;
  const purpose all[] = {purpose::noise, purpose::routing,  purpose::simulation,
                         purpose::fault, purpose::sampling, purpose::test};
  size_t n = 0;
  for (uint64_t seed : {0ull, 1ull, 1ull << 32, ~0ull})
    for (purpose why : all)
      for (uint64_t request : {0ull, 1ull, 1ull << 32, ~0ull}) {
        firsts.insert(philox{seed, why, request_id{request}}.next_u64());
        ++n;
      }
  BOOST_TEST(firsts.size() == n);
}

BOOST_AUTO_TEST_CASE(any_word_can_be_sought) {
  philox in_order{atelier::test::seed(), purpose::test};
  std::vector<uint32_t> words(1000);
  for (auto& word : words)
    word = in_order.next_u32();
  philox sut{atelier::test::seed(), purpose::test};
  philox random{atelier::test::seed(), purpose::sampling};
  for (size_t i = 0; i < atelier::test::scaled(100'000); ++i) {
    const auto at = random.below(words.size());
    sut.seek(at);
    BOOST_REQUIRE(sut.next_u32() == words[at]);
  }
  sut.seek((1ull << 58) - 1);
  BOOST_TEST(sut.next_u32() != words[0]);
}

BOOST_AUTO_TEST_CASE(uniform_integers_are_in_range_and_even) {
  philox sut{atelier::test::seed(), purpose::test};
  BOOST_TEST(sut.below(0) == 0u);
  for (int i = 0; i < 100; ++i)
    BOOST_TEST(sut.below(1) == 0u);
  // With this bound, plain multiplication would favour some values by half.
  const uint64_t large = 3ull << 62;
  size_t low = 0;
  const size_t n = 10'000 + atelier::test::scaled(1'000'000);
  for (size_t i = 0; i < n; ++i) {
    const auto x = sut.below(large);
    BOOST_REQUIRE(x < large);
    low += x < large / 3 ? 1 : 0;
  }
  const double third = static_cast<double>(n) / 3;
  // The bound is six standard deviations.
  BOOST_TEST(std::abs(static_cast<double>(low) - third)
             < 6 * std::sqrt(third * 2 / 3));
}

BOOST_AUTO_TEST_CASE(distributions_have_their_moments) {
  philox sut{atelier::test::seed(), purpose::test};
  const size_t n = 100'000 + atelier::test::scaled(1'000'000);
  double uniform = 0;
  double normal = 0;
  double squares = 0;
  double exponential = 0;
  for (size_t i = 0; i < n; ++i) {
    const double u = sut.uniform();
    BOOST_REQUIRE((u >= 0 && u < 1));
    uniform += u;
    const double x = sut.normal();
    normal += x;
    squares += x * x;
    const double e = sut.exponential(3);
    BOOST_REQUIRE(e >= 0);
    exponential += e;
  }
  // The bound is six standard deviations of each mean.
  const double count = static_cast<double>(n);
  const double sigma = 1 / std::sqrt(count);
  BOOST_TEST(std::abs(uniform / count - 0.5) < 6 * sigma * 0.289);
  BOOST_TEST(std::abs(normal / count) < 6 * sigma);
  BOOST_TEST(std::abs(squares / count - 1) < 6 * sigma * 1.415);
  BOOST_TEST(std::abs(exponential / count - 3) < 6 * sigma * 3);
}

BOOST_AUTO_TEST_CASE(noise_of_a_longer_span_starts_the_same) {
  std::vector<float> whole(1000);
  philox_randn(5, whole);
  for (size_t n : {0u, 1u, 15u, 16u, 17u, 100u, 999u}) {
    std::vector<float> part(n);
    philox_randn(5, part);
    BOOST_TEST(std::equal(part.begin(), part.end(), whole.begin()));
  }
  std::vector<float> other(1000);
  philox_randn(6, other);
  BOOST_TEST((other != whole));
}

BOOST_AUTO_TEST_CASE(noise_never_changes) {
  std::vector<float> sut(18);
  philox_randn(42, sut);
  const uint32_t bits[] = {
    0x3e95a9c2, 0x3c2dce9b, 0xbf1cb1a1, 0x3d6d02b5, 0xbf779664, 0xbf6786e6,
    0xbf2e78e6, 0xbf1825e9, 0xbf8a3cc6, 0xbc90a5aa, 0xbf1e6f8c, 0xbe3b4fad,
    0x4005074d, 0x3fb37a86, 0x3eb6688d, 0xbf18057d, 0xc01a06f9, 0xbe04a661};
  size_t i = 0;
  for (uint32_t x : bits)
    BOOST_TEST(std::bit_cast<uint32_t>(sut[i++]) == x);
}

BOOST_AUTO_TEST_SUITE_END()
