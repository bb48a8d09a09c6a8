// SPDX-License-Identifier: Apache-2.0

// Numbers that random ones hardly meet: long sums, large scores, outliers,
// infinity.

#include "gpu/kernels/drawn_numbers.hpp"
#include "gpu/kernels/each_target.hpp"
#include <atelier/gpu/kernels/host_activation.hpp>
#include <atelier/gpu/kernels/host_attention.hpp>
#include <atelier/gpu/kernels/host_dense.hpp>
#include <atelier/gpu/kernels/host_norm.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace atelier;
using namespace atelier::test;
using gpu::host::dense_end;
using gpu::host::panel_width;

namespace {

constexpr auto infinity = std::numeric_limits<float>::infinity();

/// Multiplies one row by columns of equal weights.
std::vector<float> multiply(const std::vector<float>& row, float weight,
                            int64_t columns, dense_end end) {
  const auto channels = static_cast<int64_t>(row.size());
  const guarded_array<float> packed{gpu::host::packed_elements(channels)};
  std::fill_n(packed.get(), packed.size(), weight);
  const guarded_array<float> bias{panel_width};
  std::fill_n(bias.get(), panel_width, 0.0F);
  const std::vector<float> zeros(row.size(), 0.0F);
  const gpu::host::dense_input input{.pixels = row.data(),
                                     .pixel_stride = channels};
  const gpu::host::dense_piece piece{.channels = channels};
  const auto outputs = end == dense_end::add ? columns : columns / 2;
  std::vector<float> out(static_cast<size_t>(outputs));
  gpu::host::dense_job job;
  job.inputs = &input;
  job.pieces = &piece;
  job.piece_count = 1;
  job.rows = 1;
  job.columns = columns;
  job.weights = packed.get();
  job.panel_elements = packed.size();
  job.bias = bias.get();
  job.zeros = zeros.data();
  job.end = end;
  job.out = out.data();
  job.out_stride = outputs;
  run_dense(job, 0, count_dense_tasks(job));
  return out;
}

/// Attends the query (1, 0) to keys (score, 0).
std::vector<float> attend(const std::vector<float>& scores,
                          const std::vector<float>& values) {
  constexpr int64_t width = 2;
  const auto count = static_cast<int64_t>(scores.size());
  std::vector<float> keys;
  for (const auto x : scores)
    keys.insert(keys.end(), {x, 0.0F});
  const std::vector<float> query{1, 0};
  std::vector<float> out(width);
  gpu::host::attention_job job;
  job.queries = {query.data(), width, width};
  job.keys = {keys.data(), count * width, width};
  job.values = {values.data(), count * width, width};
  job.rows = 1;
  job.heads = 1;
  job.head_width = width;
  job.query_tokens = 1;
  job.key_tokens = count;
  job.scale = 1;
  job.out = out.data();
  job.out_row_stride = width;
  job.out_token_stride = width;
  run_attention(job, 0, count_attention_tasks(job));
  return out;
}

/// Normalises one channel without weights.
std::vector<float> normalise(const std::vector<float>& pixels) {
  const std::vector<float> weight{1};
  const std::vector<float> bias{0};
  std::vector<float> out(pixels.size());
  gpu::host::group_norm_job job;
  job.parts[0] = pixels.data();
  job.part_channels[0] = 1;
  job.rows = 1;
  job.pixels = static_cast<int64_t>(pixels.size());
  job.weight = weight.data();
  job.bias = bias.data();
  job.out = out.data();
  std::vector<float> sums(static_cast<size_t>(count_norm_sums(job)));
  std::vector<float> factors(static_cast<size_t>(count_norm_factors(job)));
  job.sums = sums.data();
  job.factors = factors.data();
  sum_blocks(job, 0, count_norm_tasks(job));
  find_factors(job, 0, 1);
  apply_factors(job, 0, count_norm_tasks(job));
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(host_accuracy_test)

BOOST_AUTO_TEST_CASE(long_sums_of_a_product_are_exact_to_a_hundred_thousandth) {
  on_each_target([] {
    for (const size_t channels : {2'560U, 11'520U, 92'160U})
      for (const auto x : multiply(std::vector<float>(channels, 0.1F), 1.0F, 3,
                                   dense_end::add))
        BOOST_TEST(x / static_cast<float>(channels) == 0.1F,
                   boost::test_tools::tolerance(1e-5F));
  });
}

BOOST_AUTO_TEST_CASE(long_sums_of_values_are_exact_to_a_hundred_thousandth) {
  on_each_target([] {
    for (const size_t keys : {4'096U, 65'536U})
      for (const auto x : attend(std::vector<float>(keys, 0.0F),
                                 std::vector<float>(2 * keys, 0.1F)))
        BOOST_TEST(x == 0.1F, boost::test_tools::tolerance(1e-5F));
  });
}

BOOST_AUTO_TEST_CASE(near_scores_in_different_blocks_get_their_shares) {
  on_each_target([] {
    for (const auto height : {0.0F, 1e3F, 1e4F, 1e5F}) {
      // 512 keys are a block. The last key's share is 1 / (1 + e^-0.5).
      std::vector<float> scores(513, -infinity);
      std::vector<float> values(2 * scores.size(), 0.0F);
      scores.front() = height;
      scores.back() = height + 0.5F;
      values.back() = 1;
      const auto share = 1 / (1 + std::exp(-0.5F));
      BOOST_TEST(attend(scores, values).back() == share,
                 boost::test_tools::tolerance(2e-6F));
    }
  });
}

BOOST_AUTO_TEST_CASE(the_largest_score_takes_all_if_it_is_far_above) {
  on_each_target([] {
    for (const auto& [high, low] :
         {std::pair{1e20F, 0.0F}, std::pair{3e38F, -3e38F},
          std::pair{2.7e9F, 1.0F}, std::pair{0.0F, -infinity}}) {
      BOOST_TEST(
        (attend({low, high}, {1, 2, 3, 4}) == std::vector{3.0F, 4.0F}));
      BOOST_TEST(
        (attend({high, low}, {1, 2, 3, 4}) == std::vector{1.0F, 2.0F}));
    }
  });
}

BOOST_AUTO_TEST_CASE(infinity_is_its_own_activation) {
  on_each_target([] {
    const float in[] = {infinity, 3e38F, -3e38F};
    float out[3];
    for (const auto function :
         {gpu::host::activation::silu, gpu::host::activation::gelu_tanh}) {
      gpu::host::activation_job job;
      job.function = function;
      job.count = 3;
      job.in = in;
      job.out = out;
      run_activation(job, 0, count_activation_tasks(job));
      BOOST_TEST(out[0] == infinity);
      BOOST_TEST(out[1] == 3e38F);
      BOOST_TEST(out[2] == 0.0F);
    }
  });
}

BOOST_AUTO_TEST_CASE(a_large_gate_is_open) {
  on_each_target([] {
    // Value and gate are alike.
    const auto large =
      multiply({1e18F}, 10.0F, panel_width, dense_end::gelu_gate);
    BOOST_TEST(large.front() == 1e38F, boost::test_tools::tolerance(1e-6F));
    const auto closed =
      multiply({-3e19F}, 1.0F, panel_width, dense_end::gelu_gate);
    BOOST_TEST(closed.front() == 0.0F);
  });
}

BOOST_AUTO_TEST_CASE(a_pixel_far_from_the_others_costs_no_accuracy) {
  on_each_target([] {
    drawing from{7};
    for (const auto off : {100.0F, 1'000.0F})
      for (const size_t at : {size_t{0}, size_t{5'000}}) {
        std::vector<float> pixels(20'000);
        for (auto& x : pixels)
          x = from.number();
        pixels[at] = off;
        double mean = 0;
        double square = 0;
        const auto count = static_cast<double>(pixels.size());
        for (const auto x : pixels)
          mean += static_cast<double>(x) / count;
        for (const auto x : pixels)
          square += std::pow(static_cast<double>(x) - mean, 2) / count;
        const auto out = normalise(pixels);
        double most = 0;
        for (size_t i = 0; i < pixels.size(); ++i) {
          const auto exact =
            (static_cast<double>(pixels[i]) - mean) / std::sqrt(square + 1e-5);
          most = std::max(most, std::abs(static_cast<double>(out[i]) - exact)
                                  / (1 + std::abs(exact)));
        }
        BOOST_TEST(most < 2e-6);
      }
  });
}

BOOST_AUTO_TEST_SUITE_END()
