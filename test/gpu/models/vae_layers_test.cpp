// SPDX-License-Identifier: Apache-2.0
#include "made_weights.hpp"
#include "support/each_instruction_set.hpp"
#include <atelier/gpu/models/layers/stripes.hpp>
#include <atelier/gpu/models/layers/upsample_conv.hpp>

#include <boost/test/unit_test.hpp>

#include <bit>
#include <cmath>
#include <limits>

using namespace atelier;
using namespace atelier::gpu;
using namespace atelier::gpu::detail;

BOOST_AUTO_TEST_SUITE(vae_layers)

namespace {

constexpr auto channels_last = at::MemoryFormat::ChannelsLast;
constexpr double eps = 1e-6;

torch::Tensor expected(const torch::Tensor& x, int64_t groups,
                       const torch::Tensor& weight, const torch::Tensor& bias,
                       after_scaling then) {
  const auto y =
    at::group_norm(x.to(torch::kFloat64), groups, weight.to(torch::kFloat64),
                   bias.to(torch::kFloat64), eps);
  return then == after_scaling::silu ? at::silu(y) : y;
}

double distance(const torch::Tensor& x, const torch::Tensor& truth) {
  return ((x.to(torch::kFloat64) - truth).abs().max() / truth.abs().max())
    .item<double>();
}

conv_layer layer(const torch::Tensor& weight, const torch::Tensor& bias,
                 torch::Dtype type) {
  return {[=] { return weight.to(type); }, [] {}, bias.to(type), weight.sizes(),
          placement{torch::kCPU, type}};
}

} // namespace

BOOST_AUTO_TEST_CASE(norms_equal_torchs_in_every_layout_and_type) {
  const c10::InferenceMode guard;

  struct shape {
    int64_t n, groups, channels, height, width;
  };

  for (const auto& s : {shape{1, 32, 128, 33, 17}, shape{3, 4, 12, 5, 7},
                        shape{2, 1, 3, 1, 2}, shape{1, 8, 320, 70, 3},
                        shape{2, 16, 16, 1, 200}, shape{1, 3, 129, 2, 2}})
    for (const auto type : {torch::kFloat32, torch::kBFloat16, torch::kFloat16})
      for (const auto then : {after_scaling::nothing, after_scaling::silu}) {
        // The values are far from zero, where sums of squares lose digits.
        const auto x =
          (torch::randn({s.n, s.channels, s.height, s.width}) * 3 + 50)
            .to(type);
        const auto weight = torch::randn({s.channels}).to(type);
        const auto bias = torch::randn({s.channels}).to(type);
        const auto truth = expected(x, s.groups, weight, bias, then);
        const auto bound = type == torch::kFloat32 ? 1e-4 : 1e-2;
        for (const auto& laid :
             {x, x.contiguous(channels_last),
              x.transpose(2, 3).contiguous().transpose(2, 3)}) {
          const auto y =
            normalise_groups(laid, s.groups, weight, bias, eps, then);
          BOOST_TEST(distance(y, truth) < bound);
          BOOST_CHECK(y.scalar_type() == type);
        }
      }
}

BOOST_AUTO_TEST_CASE(a_row_is_normalised_as_alone) {
  const c10::InferenceMode guard;
  const auto x = torch::randn({3, 64, 40, 40}).contiguous(channels_last);
  const auto weight = torch::randn({64});
  const auto bias = torch::randn({64});
  const auto norm = [&](const torch::Tensor& y) {
    return normalise_groups(y, 8, weight, bias, eps, after_scaling::silu);
  };
  const auto all = norm(x);
  for (int64_t i = 0; i < 3; ++i)
    BOOST_CHECK(norm(x.narrow(0, i, 1)).equal(all.narrow(0, i, 1)));
}

BOOST_AUTO_TEST_CASE(silu_stands_at_the_ends_of_its_range) {
  const std::vector<float> x{0.0f,
                             -0.0f,
                             88.0f,
                             -88.0f,
                             1000.0f,
                             -1000.0f,
                             1e-30f,
                             std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity()};
  std::vector<float> y(x.size());
  scale_alike(x.data(), y.data(), x.size(), 1, 0, after_scaling::silu);
  BOOST_TEST(y[0] == 0.0f);
  BOOST_TEST(y[1] == 0.0f);
  BOOST_TEST(y[2] == 88.0f);
  BOOST_TEST(std::abs(y[3]) < 1e-30f);
  BOOST_TEST(y[4] == 1000.0f);
  BOOST_TEST(std::abs(y[5]) < 1e-30f);
  BOOST_TEST(y[6] == 5e-31f, boost::test_tools::tolerance(1e-5f));
  BOOST_CHECK(std::isnan(y[7]));
  BOOST_TEST(y[8] == x[8]);
  std::vector<bfloat16_bits> in;
  for (const auto each : x)
    in.push_back({static_cast<uint16_t>(std::bit_cast<uint32_t>(each) >> 16)});
  scale_alike(in.data(), in.data(), in.size(), 1, 0, after_scaling::nothing);
  for (size_t i = 0; i < x.size(); ++i)
    BOOST_TEST((in[i].value & 0x7fbf)
               == ((std::bit_cast<uint32_t>(x[i]) >> 16) & 0x7fbf));
}

BOOST_AUTO_TEST_CASE(convolutions_equal_torchs_with_each_instruction_set) {
  const c10::InferenceMode guard;

  struct shape {
    int64_t n, in, out, height, width, kernel, stride;
    conv_border border;
  };

  const auto check = [](const shape& s, torch::Dtype type) {
    const auto x = torch::randn({s.n, s.in, s.height, s.width}).to(type);
    const auto kernel =
      (torch::randn({s.out, s.in, s.kernel, s.kernel})
       / std::sqrt(static_cast<double>(s.in * s.kernel * s.kernel)))
        .to(type);
    const auto offset = torch::randn({s.out}).to(type);
    const auto conv = layer(kernel, offset, type);
    const auto truth = at::conv2d(
      x.to(torch::kFloat64), kernel.to(torch::kFloat64),
      offset.to(torch::kFloat64), s.stride, {s.border.rows, s.border.columns});
    const auto bound = type == torch::kFloat32 ? 1e-5 : 1e-2;
    BOOST_TEST_CONTEXT("kernel " << s.kernel << ", " << s.in << " to " << s.out
                                 << " channels, " << type) {
      const auto made = conv(x, s.border, s.stride);
      BOOST_REQUIRE(made.sizes() == truth.sizes());
      BOOST_CHECK(made.scalar_type() == type);
      BOOST_CHECK(made.is_contiguous(channels_last));
      BOOST_TEST(distance(made, truth) < bound);
      // Prepared anew, and the same each time.
      const auto other = layer(kernel, offset, type);
      other.prepare();
      BOOST_CHECK(other(x, s.border, s.stride).equal(made));
      if (s.stride != 1)
        return;
      const auto sum =
        torch::randn(truth.sizes()).to(type).contiguous(channels_last);
      const auto both = truth + sum.to(torch::kFloat64);
      conv.add_to(sum, x, s.border);
      BOOST_TEST(distance(sum, both) < bound);
    }
  };

  atelier::test::on_each_instruction_set([&] {
    for (const auto type : {torch::kFloat32, torch::kBFloat16})
      for (const auto& s : {shape{1, 3, 70, 9, 13, 3, 1, {1, 1}},
                            shape{2, 4, 3, 6, 5, 3, 1, {0, 1}},
                            shape{1, 34, 64, 11, 12, 3, 2, {0, 0}},
                            shape{1, 16, 256, 7, 9, 2, 1, {0, 1}},
                            shape{3, 5, 130, 1, 6, 1, 1, {0, 0}}})
        check(s, type);
  });
}

BOOST_AUTO_TEST_CASE(a_convolution_refuses_other_channels) {
  const auto conv =
    layer(torch::randn({4, 6, 3, 3}), torch::randn({4}), torch::kFloat32);
  BOOST_CHECK_THROW(conv(torch::randn({1, 5, 8, 8}), {1, 1}), c10::Error);
  BOOST_CHECK_THROW(
    conv.add_to(torch::zeros({1, 4, 8, 8}), torch::randn({1, 7, 8, 8}), {1, 1}),
    c10::Error);
}

BOOST_AUTO_TEST_CASE(stripes_make_what_the_whole_makes) {
  const c10::InferenceMode guard;
  // The width makes a stripe have the fewest lines, with a remainder.
  const auto x = torch::randn({1, 512, 21, 1100}).contiguous(channels_last);
  const auto weight = torch::randn({512});
  const auto bias = torch::randn({512});
  const auto kernel = torch::randn({4, 512, 3, 3}) / 64;
  const auto offset = torch::randn({4});
  BOOST_TEST(stripe_lines(1100 * 512 * 4) < 21);
  BOOST_REQUIRE(can_stripe(x));
  const auto folded = fold_group_norm(x, 32, weight, bias, eps);
  const auto conv = layer(kernel, offset, torch::kFloat32);
  const auto normed = at::silu(at::group_norm(x, 32, weight, bias, eps));
  const auto truth = at::conv2d(normed, kernel, offset, 1, 1);
  const auto made = conv_of_normed(x, folded, conv);
  BOOST_TEST(distance(made, truth.to(torch::kFloat64)) < 1e-5);
  const auto sum = torch::randn_like(truth).contiguous(channels_last);
  const auto both = (truth + sum).to(torch::kFloat64);
  add_conv_of_normed(sum, x, folded, conv);
  BOOST_TEST(distance(sum, both) < 1e-5);
}

BOOST_AUTO_TEST_CASE(corners_make_what_repeated_elements_make) {
  const c10::InferenceMode guard;
  for (const auto type : {torch::kFloat32, torch::kBFloat16})
    for (const auto channels : {int64_t{4}, int64_t{96}})
      for (const auto& [height, width] : {std::pair<int64_t, int64_t>{1, 1},
                                          {1, 6},
                                          {5, 1},
                                          {7, 9},
                                          {16, 400}}) {
        auto tensors = std::make_shared<test::made_weights>();
        tensors->add_layer("up", {channels, channels, 3, 3});
        weights from{tensors, {torch::kCPU, type}};
        const auto conv = upsample_conv::take(from, "up", channels);
        const auto x = torch::randn({2, channels, height, width}).to(type);
        const auto weight =
          from.take("up.weight", {channels, channels, 3, 3}, torch::kFloat64);
        const auto bias = from.take("up.bias", {channels}, torch::kFloat64);
        const auto wide = at::upsample_nearest2d(x.to(torch::kFloat64),
                                                 {2 * height, 2 * width});
        const auto truth = at::conv2d(wide, weight, bias, 1, 1);
        const auto made = conv(x);
        BOOST_REQUIRE(made.sizes() == truth.sizes());
        BOOST_TEST(distance(made, truth)
                   < (type == torch::kFloat32 ? 1e-5 : 2e-2));
      }
}

BOOST_AUTO_TEST_SUITE_END()
