// SPDX-License-Identifier: Apache-2.0
#include "support/each_instruction_set.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/detail/box_muller.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/core/torch_noise.hpp>

#include <boost/test/unit_test.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

using namespace atelier::core;

namespace {

std::vector<float> randn(uint64_t seed, size_t n) {
  std::vector<float> out(n);
  torch_randn(seed, out);
  return out;
}

struct golden {
  uint64_t seed;
  size_t n;
  std::string_view sha256;
};

// Digests of torch.randn(n, generator=torch.Generator("cpu").manual_seed(seed))
// of PyTorch 2.13.0 on a CPU with AVX-512. With AVX2 they are the same.
constexpr golden goldens[] = {
  {0ull, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
  {0ull, 1, "3b8ea0dd3165a7600cce7539f943a28fb9addc8e69c31ae805e26b91a2862b93"},
  {42ull, 3,
   "1027da7e4b73a8a7f0431af4b65496918bd62abe96039b05d775289adb09ff01"},
  {42ull, 15,
   "8db9a5331024e1ef6641fb105e2cef40e44a0fc808368674795ee3b09096fe02"},
  {42ull, 16,
   "fc34b516db1204ac5504e9a714274f1068e6342fdddd0b2cde67221932271d34"},
  {42ull, 17,
   "2ae700cddb7c7bef2727381a13feed04c35ad67793a9695d51da507ac5c359f2"},
  {1ull, 100,
   "ffe07025178801668b8f240fad8e5037938730e24eacd8cba01c0cdc03805926"},
  {0ull, 4096,
   "a25207107225c7f610397660248fee8c2aac455439e6b113fdf5cfea11eff662"},
  {123456789ull, 16385,
   "611e9ae36f3d3d68ff45a569494ae9591ee2b754e5c48930e721116bcd071fc5"},
  {4294967301ull, 1000,
   "3c9134555a6f73c13af3c72b784d0ced9cd1d6a54a3d06a450749d6cb2cc35ae"},
  {18446744073709551615ull, 1000,
   "bd567f33f1ae5735d86c5ae80316417a2538e8396a7d645a422f118bfed33163"},
  {9223372036854775808ull, 31,
   "cc1d58695e923901dc919021e29d21d498584e19bf1ef18766f9b9fafe8ac0de"},
};

} // namespace

BOOST_AUTO_TEST_SUITE(torch_noise_test)

BOOST_AUTO_TEST_CASE(digests_are_those_of_pytorch) {
  for (const auto& [seed, n, sha256] : goldens) {
    const auto sut = randn(seed, n);
    BOOST_TEST_CONTEXT("seed " << seed << ", " << n << " values")
    BOOST_TEST(sha256_hex(std::as_bytes(std::span{sut})) == sha256);
  }
}

BOOST_AUTO_TEST_CASE(values_are_those_of_pytorch) {
  const uint32_t many[] = {0x3ff6a529, 0x3fbe5f53, 0x3f669567, 0xc006c0db,
                           0x3f2dacd5, 0xbf9e0591, 0xbd306786, 0xbfcd65ba,
                           0xbf408bf0, 0x3fd3095b, 0xbec8f2f6, 0xbfb3a966,
                           0xbf3a566e, 0xbf0f36d1, 0xbf44d2a0, 0x3f432f9f};
  const auto sut = randn(42, 16);
  for (size_t i = 0; i < 16; ++i)
    BOOST_TEST(std::bit_cast<uint32_t>(sut[i]) == many[i]);
  const uint32_t few[] = {0x3eac62ae, 0x3e03e69d, 0x3e7016e7, 0x3e6bdc6c,
                          0xbf8fb9c2};
  const auto short_one = randn(42, 5);
  for (size_t i = 0; i < 5; ++i)
    BOOST_TEST(std::bit_cast<uint32_t>(short_one[i]) == few[i]);
}

BOOST_AUTO_TEST_CASE(lower_half_of_the_seed_alone_counts) {
  BOOST_TEST((randn(5, 64) == randn((1ull << 32) + 5, 64)));
  BOOST_TEST((randn(5, 64) != randn(6, 64)));
}

BOOST_AUTO_TEST_CASE(every_instruction_set_draws_the_same_bits) {
  philox random{atelier::test::seed(), purpose::test};
  std::vector<float> drawn(16 + atelier::test::scaled(100'000'000) / 16 * 16);
  for (float& x : drawn)
    x = static_cast<float>(random.next_u32() >> 8) * 0x1p-24f;
  // These are the ends of the range, for the radius and the angle.
  drawn[0] = drawn[8] = 0;
  drawn[1] = drawn[9] = 1 - 0x1p-24f;
  std::vector<float> first;
  atelier::test::on_each_instruction_set([&] {
    auto sut = drawn;
    detail::box_muller(sut);
    if (first.empty())
      first = sut;
    const bool same =
      std::memcmp(sut.data(), first.data(), sut.size() * sizeof(float)) == 0;
    BOOST_TEST(same);
  });
}

BOOST_AUTO_TEST_CASE(noise_is_normal) {
  const auto sut = randn(1, 1 << 20);
  double sum = 0;
  double squares = 0;
  for (float x : sut) {
    BOOST_REQUIRE(std::isfinite(x));
    sum += x;
    squares += double{x} * x;
  }
  const auto n = static_cast<double>(sut.size());
  BOOST_TEST(std::abs(sum / n) < 0.01);
  BOOST_TEST(std::abs(squares / n - 1) < 0.01);
}

BOOST_AUTO_TEST_SUITE_END()
