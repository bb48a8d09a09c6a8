// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/core/philox_noise.hpp>
#include <atelier/core/torch_generator.hpp>
#include <atelier/core/torch_noise.hpp>

#include <boost/test/unit_test.hpp>

#include <bit>
#include <span>
#include <vector>

using namespace atelier::core;

namespace {

template <class Generator>
std::vector<float> next(Generator& from, size_t n) {
  std::vector<float> out(n);
  from.fill(out);
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(torch_generator_test)

BOOST_AUTO_TEST_CASE(first_call_draws_what_torch_randn_does) {
  for (size_t n : {0u, 1u, 2u, 15u, 16u, 17u, 31u, 32u, 1000u}) {
    std::vector<float> expected(n);
    torch_randn(42, expected);
    torch_generator sut{42};
    BOOST_TEST((next(sut, n) == expected));
  }
}

// Source: torch.Generator("cpu").manual_seed(7) of PyTorch 2.13.0, with randn
// of 3, 20 and 4 values in turn.
BOOST_AUTO_TEST_CASE(later_calls_draw_what_pytorch_does) {
  torch_generator sut{7};
  const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  const auto first = next(sut, 3);
  const auto many = next(sut, 20);
  const auto last = next(sut, 4);
  BOOST_TEST(bits(first[0]) == 0xbe165174u);
  BOOST_TEST(bits(first[2]) == 0x3f7262e7u);
  BOOST_TEST(bits(many[0]) == 0xbe34ac25u);
  BOOST_TEST(bits(many[19]) == 0xbf87416du);
  BOOST_TEST(bits(last[0]) == 0xbf8ea2d3u);
  BOOST_TEST(bits(last[3]) == 0x3fa3d30cu);
}

BOOST_AUTO_TEST_CASE(position_counts_words) {
  torch_generator sut{1};
  next(sut, 32);
  BOOST_TEST(sut.position() == 32u);
  next(sut, 33);
  BOOST_TEST(sut.position() == 32u + 33 + 16);
  next(sut, 3);
  BOOST_TEST(sut.position() == 81u + 8);
  BOOST_TEST(sut.spare().has_value());
  next(sut, 1);
  BOOST_TEST(sut.position() == 81u + 8);
  BOOST_TEST(!sut.spare().has_value());
}

BOOST_AUTO_TEST_CASE(generator_continues_anywhere) {
  philox random{atelier::test::seed(), purpose::test};
  for (size_t i = 0; i < atelier::test::scaled(5000); ++i) {
    const uint64_t seed = random.next_u64();
    torch_generator whole{seed};
    philox_generator other{seed};
    for (size_t calls = 0; calls < 6; ++calls) {
      torch_generator sut{seed, whole.position(), whole.spare()};
      philox_generator counter{seed, other.position()};
      const size_t n =
        random.below(2) == 0 ? random.below(20) : random.below(3000);
      BOOST_TEST((next(sut, n) == next(whole, n)));
      BOOST_TEST((next(counter, n) == next(other, n)));
      BOOST_TEST(sut.position() == whole.position());
      BOOST_TEST(counter.position() == other.position());
    }
  }
}

BOOST_AUTO_TEST_CASE(counter_based_calls_go_on_in_one_stream) {
  philox_generator sut{9};
  std::vector<float> all(64);
  philox_randn(9, all);
  const auto part = [&](size_t first, size_t n) {
    const auto span = std::span{all}.subspan(first, n);
    return std::vector<float>{span.begin(), span.end()};
  };
  BOOST_TEST((next(sut, 32) == part(0, 32)));
  BOOST_TEST((next(sut, 5) == part(32, 5)));
  BOOST_TEST((next(sut, 16) == part(48, 16)));
  BOOST_TEST(sut.position() == 64u);
}

BOOST_AUTO_TEST_SUITE_END()
