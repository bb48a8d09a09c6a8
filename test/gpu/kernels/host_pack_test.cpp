// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/each_target.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/kernels/host_dense.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <random>
#include <vector>

using namespace atelier::gpu;

namespace {

struct free_aligned {
  void operator()(std::byte* x) const {
    ::operator delete[](x, std::align_val_t{64});
  }
};

/// The weights of one panel, and their destination.
struct panel {
  host::dense_source from;
  int64_t columns;
  int64_t at;
};

/// Packs numbers that encode their positions, and compares with the definition.
/// Returns whether all are correct and nothing else was changed.
template <class Element>
bool is_right(host::element type, panel x, std::mt19937_64& random) {
  constexpr int64_t pair = sizeof(Element) == 4 ? 1 : 2;
  const auto& from = x.from;
  const auto last = (x.columns - 1) * from.column_stride
                  + (from.pieces - 1) * from.piece_stride
                  + (from.channels - 1) * from.channel_stride;
  std::vector<Element> source(static_cast<size_t>(last + 1));
  for (auto& number : source)
    number = static_cast<Element>(random() % 60000);
  const auto size =
    static_cast<size_t>(from.pieces * host::packed_elements(from.channels));
  const std::unique_ptr<std::byte[], free_aligned> room{
    new (std::align_val_t{64}) std::byte[size * sizeof(Element)]};
  auto* const to = reinterpret_cast<Element*>(room.get());
  const auto untouched = static_cast<Element>(60001);
  std::fill(to, to + size, untouched);
  std::vector<Element> expected(size, untouched);
  for (int64_t p = 0; p < from.pieces; ++p)
    for (int64_t c = 0; c < from.channels; ++c)
      for (int64_t j = 0; j < x.columns; ++j)
        expected[static_cast<size_t>(
          p * host::packed_elements(from.channels)
          + (c / pair * host::panel_width + x.at + j) * pair + c % pair)] =
          source[static_cast<size_t>(j * from.column_stride
                                     + p * from.piece_stride
                                     + c * from.channel_stride)];
  x.from.weights = source.data();
  host::pack_dense(type, x.from, x.columns, x.at, to);
  return std::equal(expected.begin(), expected.end(), to);
}

} // namespace

BOOST_AUTO_TEST_SUITE(host_pack_test)

BOOST_AUTO_TEST_CASE(every_weight_goes_to_its_place) {
  atelier::test::on_each_target([] {
    std::mt19937_64 random{atelier::test::seed()};
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    for (size_t i = atelier::test::scaled(30'000); i > 0; --i) {
      panel x;
      const bool wide = below(2) == 0;
      // The number of channels is even for bfloat16.
      x.from.channels = wide ? 1 + below(100) : 2 * (1 + below(60));
      x.from.pieces = below(2) == 0 ? 1 : 1 + below(below(4) == 0 ? 30 : 9);
      x.columns = below(3) == 0 ? host::panel_width : 1 + below(64);
      x.at = below(host::panel_width - x.columns + 1);
      // The strides are those of a convolution, of a part of a wider matrix, or
      // arbitrary.
      x.from.channel_stride = x.from.pieces;
      x.from.piece_stride = x.from.pieces == 1 ? below(3) : 1;
      x.from.column_stride = x.from.channels * x.from.pieces + below(3);
      if (below(4) == 0) {
        x.from.piece_stride = 1 + below(3);
        x.from.channel_stride = x.from.pieces * x.from.piece_stride + below(3);
        x.from.column_stride = x.from.channels * x.from.channel_stride;
      }
      BOOST_REQUIRE_MESSAGE(
        (wide ? is_right<float>(host::element::float32, x, random)
              : is_right<uint16_t>(host::element::bfloat16, x, random)),
        x.from.channels << " channels, " << x.from.pieces << " pieces, "
                        << x.columns << " columns at " << x.at << ", strides "
                        << x.from.column_stride << ' ' << x.from.piece_stride
                        << ' ' << x.from.channel_stride);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
