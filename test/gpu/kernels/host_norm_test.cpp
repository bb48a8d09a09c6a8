// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/drawn_numbers.hpp"
#include "gpu/kernels/each_target.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/kernels/host_norm.hpp>
#include <atelier/gpu/models/layers/norm_kernels.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

using namespace atelier;
using namespace atelier::test;

namespace {

struct norm_sizes {
  int64_t rows = 1;
  int64_t pixels = 1;
  int64_t groups = 1;
  int64_t in_group = 1;
  /// Channels of the first part.
  int64_t first = 1;
  bool shifted = false;
  bool silu = false;

  int64_t channels() const {
    return groups * in_group;
  }
};

double silu(double x) {
  return x / (1 + std::exp(-x));
}

template <class Element>
struct norm {
  norm(const norm_sizes& x, drawing& from)
    : of(x),
      first(x.rows * x.pixels * x.first),
      second(x.rows * x.pixels * (x.channels() - x.first)),
      weight(x.channels()),
      bias(x.channels()),
      shift(x.shifted ? x.rows * x.channels() : 0),
      out(x.rows * x.pixels * x.channels()) {
    from.fill(first);
    from.fill(second);
    from.fill(weight);
    from.fill(bias);
    from.fill(shift);
  }

  bool is_right() {
    gpu::host::group_norm_job job;
    job.type = element_of<Element>();
    job.parts[0] = first.get();
    job.part_channels[0] = of.first;
    job.parts[1] = second.get();
    job.part_channels[1] = of.channels() - of.first;
    job.rows = of.rows;
    job.pixels = of.pixels;
    job.groups = of.groups;
    job.weight = weight.get();
    job.bias = bias.get();
    if (of.shifted)
      job.shift = shift.get();
    job.silu = of.silu;
    job.out = out.get();
    const guarded_array<float> sums{count_norm_sums(job)};
    const guarded_array<float> factors{count_norm_factors(job)};
    job.sums = sums.get();
    job.factors = factors.get();
    sum_blocks(job, 0, count_norm_tasks(job));
    find_factors(job, 0, job.rows);
    apply_factors(job, 0, count_norm_tasks(job));
    if (!out.intact() || !sums.intact() || !factors.intact())
      return false;
    for (int64_t row = 0; row < of.rows; ++row)
      for (int64_t group = 0; group < of.groups; ++group)
        if (!matches(row, group))
          return false;
    return true;
  }

  double input(int64_t row, int64_t pixel, int64_t channel) const {
    const auto at = row * of.pixels + pixel;
    const auto x =
      channel < of.first
        ? first[at * of.first + channel]
        : second[at * (of.channels() - of.first) + channel - of.first];
    return static_cast<double>(number_of(x))
         + (of.shifted ? static_cast<double>(
              number_of(shift[row * of.channels() + channel]))
                       : 0);
  }

  bool matches(int64_t row, int64_t group) const {
    const auto begin = group * of.in_group;
    const auto end = begin + of.in_group;
    const auto count = static_cast<double>(of.pixels * of.in_group);
    double mean = 0;
    double squares = 0;
    for (int64_t p = 0; p < of.pixels; ++p)
      for (auto c = begin; c < end; ++c)
        mean += input(row, p, c) / count;
    for (int64_t p = 0; p < of.pixels; ++p)
      for (auto c = begin; c < end; ++c)
        squares += std::pow(input(row, p, c) - mean, 2) / count;
    for (int64_t p = 0; p < of.pixels; ++p)
      for (auto c = begin; c < end; ++c) {
        const auto exact = (input(row, p, c) - mean) / std::sqrt(squares + 1e-5)
                           * static_cast<double>(number_of(weight[c]))
                         + static_cast<double>(number_of(bias[c]));
        if (!is_near(out[(row * of.pixels + p) * of.channels() + c],
                     of.silu ? silu(exact) : exact, 1e-3))
          return false;
      }
    return true;
  }

  norm_sizes of;
  guarded_array<Element> first;
  guarded_array<Element> second;
  guarded_array<Element> weight;
  guarded_array<Element> bias;
  guarded_array<Element> shift;
  guarded_array<Element> out;
};

} // namespace

BOOST_AUTO_TEST_SUITE(host_norm_test)

BOOST_AUTO_TEST_CASE(groups_of_any_size_are_normalised) {
  on_each_target([] {
    drawing from{atelier::test::seed()};
    for (size_t i = atelier::test::scaled(20'000); i > 0; --i) {
      norm_sizes x;
      x.rows = from.within(1, 3);
      x.pixels = from.coin() ? from.within(1, 30) : from.within(120, 270);
      x.groups = from.within(1, 6);
      x.in_group = from.within(1, 15);
      x.first = from.coin() ? x.channels() : from.within(1, x.channels());
      x.shifted = from.coin();
      x.silu = from.coin();
      const bool narrow = from.coin();
      BOOST_REQUIRE_MESSAGE((narrow ? norm<bfloat16>{x, from}.is_right()
                                    : norm<float>{x, from}.is_right()),
                            x.rows << " rows of " << x.pixels << " pixels, "
                                   << x.groups << " groups of " << x.in_group
                                   << " channels, the first part " << x.first
                                   << ", shifted " << x.shifted << ", SiLU "
                                   << x.silu << ", bfloat16 " << narrow);
    }
  });
}

BOOST_AUTO_TEST_CASE(silu_of_any_number_is_right) {
  on_each_target([] {
    std::vector<float> numbers{-1e30F, -1e4F, -150, 150, 1e4F, 1e30F};
    for (float x = -120; x <= 120; x += 0.0625F)
      numbers.push_back(x);
    const auto count = static_cast<int64_t>(numbers.size());
    const guarded_array<float> out{count};
    const guarded_array<float> factors{2};
    factors[0] = 1;
    factors[1] = 0;
    gpu::host::group_norm_job job;
    job.parts[0] = numbers.data();
    job.part_channels[0] = 1;
    job.rows = 1;
    job.pixels = count;
    job.silu = true;
    job.out = out.get();
    job.factors = factors.get();
    apply_factors(job, 0, count_norm_tasks(job));
    for (int64_t i = 0; i < count; ++i) {
      const auto x = static_cast<double>(numbers[static_cast<size_t>(i)]);
      // Below -88 e^-x overflows.
      BOOST_TEST_REQUIRE(is_near(out[i], x < -88 ? 0 : silu(x), 1e-6),
                         "SiLU of " << x << " is " << out[i]);
    }
  });
}

BOOST_AUTO_TEST_CASE(moments_and_scales_of_any_size_are_right) {
  namespace loops = gpu::detail;
  on_each_instruction_set([] {
    drawing from{atelier::test::seed()};
    for (size_t i = atelier::test::scaled(20'000); i > 0; --i) {
      const auto places = from.within(1, 20);
      const auto channels = from.within(1, 90);
      const guarded_array<float> x{places * channels};
      const guarded_array<float> out{places * channels};
      const guarded_array<float> factor{channels};
      const guarded_array<float> offset{channels};
      const guarded_array<double> sum{channels};
      const guarded_array<double> squares{channels};
      for (const auto* array : {&x, &factor, &offset})
        from.fill(*array);
      std::fill_n(sum.get(), channels, 0.0);
      std::fill_n(squares.get(), channels, 0.0);
      const auto n = static_cast<size_t>(places);
      const auto width = static_cast<size_t>(channels);
      loops::add_moments(x.get(), n, width, offset.get(), sum.get(),
                         squares.get());
      loops::scale(x.get(), out.get(), n, width, factor.get(), offset.get(),
                   loops::after_scaling::silu);
      BOOST_REQUIRE(out.intact() && sum.intact() && squares.intact());
      for (int64_t c = 0; c < channels; ++c) {
        double expected = 0;
        double expected_squares = 0;
        for (int64_t p = 0; p < places; ++p) {
          const auto at = p * channels + c;
          const auto off =
            static_cast<double>(x[at]) - static_cast<double>(offset[c]);
          expected += off;
          expected_squares += off * off;
          BOOST_REQUIRE(is_near(
            out[at],
            silu(static_cast<double>(x[at]) * static_cast<double>(factor[c])
                 + static_cast<double>(offset[c]))));
        }
        BOOST_REQUIRE(std::abs(sum[c] - expected) < 1e-4);
        BOOST_REQUIRE(std::abs(squares[c] - expected_squares) < 1e-4);
      }
      loops::scale_alike(x.get(), out.get(), n * width, 0.5F, 0.25F,
                         loops::after_scaling::nothing);
      for (int64_t j = 0; j < places * channels; ++j)
        BOOST_REQUIRE(is_near(out[j], static_cast<double>(x[j]) / 2 + 0.25));
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
