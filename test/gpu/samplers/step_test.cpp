// SPDX-License-Identifier: Apache-2.0
#include "configs.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/samplers/detail/step_ops.hpp>
#include <atelier/gpu/samplers/detail/step_values.hpp>
#include <atelier/gpu/samplers/step.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;
using core::sampler;

namespace {

step_numbers kept;

torch::Tensor normals(core::philox& random, torch::IntArrayRef shape) {
  auto out = torch::empty(shape);
  const std::span values{out.data_ptr<float>(),
                         static_cast<size_t>(out.numel())};
  for (float& x : values)
    x = static_cast<float>(random.normal());
  return out;
}

bool same_bits(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::equal(a.contiguous().view(torch::kInt32),
                      b.contiguous().view(torch::kInt32));
}

/// Returns steps of different samplers, at different places of their runs.
std::vector<step_rule> unlike_rules() {
  auto clipped = test::stable_diffusion();
  clipped.clip_sample = true;
  auto noisy = test::run_of(sampler::ddim, 11);
  noisy.eta = 0.7f;
  const auto config = test::stable_diffusion();
  return {
    test::planned(config, test::run_of(sampler::ddim, 50)).steps[3],
    test::planned(config, test::run_of(sampler::euler, 20)).steps[0],
    test::planned(config, test::run_of(sampler::euler_ancestral, 7)).steps[2],
    test::planned(config, test::run_of(sampler::dpmpp_2m, 25)).steps[9],
    test::planned(config, test::run_of(sampler::lcm, 4)).steps[1],
    test::planned(clipped, noisy).steps[5],
    test::planned(config, test::run_of(sampler::dpmpp_2m, 25)).steps[24],
    test::planned(clipped, test::run_of(sampler::ddim, 5)).steps[4],
  };
}

struct batch {
  explicit batch(torch::IntArrayRef row = {4, 9, 7}) {
    core::philox random{test::seed(), core::purpose::test};
    std::vector<int64_t> shape{static_cast<int64_t>(rules.size())};
    shape.insert(shape.end(), row.begin(), row.end());
    x = normals(random, shape) * 3;
    out = normals(random, shape);
    last = normals(random, shape);
    noise = normals(random, shape);
  }

  stepped_batch run() const {
    return step(x, out, last, noise, rules);
  }

  std::vector<step_rule> rules = unlike_rules();
  torch::Tensor x;
  torch::Tensor out;
  torch::Tensor last;
  torch::Tensor noise;
};

} // namespace

BOOST_AUTO_TEST_SUITE(step_test)

BOOST_AUTO_TEST_CASE(a_row_alone_has_the_bits_that_it_has_in_a_batch) {
  for (const auto& row :
       std::vector<std::vector<int64_t>>{{4, 9, 7}, {4, 64, 64}, {16, 1, 1}}) {
    const batch sut{row};
    const auto all = sut.run();
    const auto scaled = scale_input(sut.x, sut.rules);
    for (int64_t i = 0; i < sut.x.size(0); ++i) {
      const auto of = [i](const torch::Tensor& t) { return t.narrow(0, i, 1); };
      const std::vector one{sut.rules[static_cast<size_t>(i)]};
      const auto alone =
        step(of(sut.x), of(sut.out), of(sut.last), of(sut.noise), one);
      BOOST_TEST(same_bits(alone.next, of(all.next)));
      BOOST_TEST(same_bits(alone.x0, of(all.x0)));
      BOOST_TEST(same_bits(scale_input(of(sut.x), one), of(scaled)));
    }
  }
}

BOOST_AUTO_TEST_CASE(operations_of_libtorch_give_the_same_bits) {
  const batch sut;
  const auto fused = sut.run();
  const auto plain =
    step_by_ops(sut.x, sut.out, sut.last, sut.noise, sut.rules, kept);
  BOOST_TEST(same_bits(fused.next, plain.next));
  BOOST_TEST(same_bits(fused.x0, plain.x0));
}

BOOST_AUTO_TEST_CASE(the_layout_changes_no_bits) {
  const batch sut;
  const auto plain = sut.run();
  auto other = sut;
  other.x = sut.x.contiguous(at::MemoryFormat::ChannelsLast);
  other.out = sut.out.contiguous(at::MemoryFormat::ChannelsLast);
  const auto last = other.run();
  BOOST_TEST(last.next.is_contiguous(at::MemoryFormat::ChannelsLast));
  BOOST_TEST(same_bits(plain.next, last.next));
  BOOST_TEST(same_bits(plain.x0, last.x0));
}

BOOST_AUTO_TEST_CASE(a_prediction_of_half_the_width_is_widened) {
  auto sut = batch{};
  sut.out = sut.out.to(torch::kBFloat16);
  const auto narrow = sut.run();
  sut.out = sut.out.to(torch::kFloat32);
  BOOST_TEST(narrow.next.dtype() == torch::kFloat32);
  BOOST_TEST(same_bits(narrow.next, sut.run().next));
}

BOOST_AUTO_TEST_CASE(rows_do_not_read_what_they_have_no_share_of) {
  for (bool by_ops : {false, true}) {
    batch sut;
    const auto run = [&] {
      return by_ops
             ? step_by_ops(sut.x, sut.out, sut.last, sut.noise, sut.rules, kept)
             : sut.run();
    };
    const auto before = run();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (size_t i = 0; i < sut.rules.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (sut.rules[i].from_last == 0)
        sut.last[row].fill_(nan);
      if (sut.rules[i].from_noise == 0)
        sut.noise[row].fill_(nan);
    }
    BOOST_TEST(same_bits(before.next, run().next));
  }
}

BOOST_AUTO_TEST_CASE(last_and_noise_may_be_absent) {
  batch sut;
  for (auto& rule : sut.rules)
    rule.from_last = rule.from_noise = 0;
  const auto given = sut.run();
  const auto absent = step(sut.x, sut.out, {}, {}, sut.rules);
  const auto plain = step_by_ops(sut.x, sut.out, {}, {}, sut.rules, kept);
  BOOST_TEST(same_bits(given.next, absent.next));
  BOOST_TEST(same_bits(given.next, plain.next));
}

BOOST_AUTO_TEST_CASE(inputs_stay_as_they_are) {
  const batch sut;
  const auto x = sut.x.clone();
  const auto out = sut.out.clone();
  sut.run();
  scale_input(sut.x, sut.rules);
  BOOST_TEST(same_bits(x, sut.x));
  BOOST_TEST(same_bits(out, sut.out));
}

BOOST_AUTO_TEST_CASE(guidance_is_that_of_diffusers) {
  const batch sut;
  const std::vector<float> scales{1, 7.5f, 3, 0, 12, 5, 2, 9};
  const std::vector<float> rescales{0, 0, 0.7f, 0, 1, 0.3f, 0, 0};
  const auto mixed = guide(sut.x, sut.out, scales, rescales);
  for (int64_t i = 0; i < 8; ++i) {
    const auto at = static_cast<size_t>(i);
    const auto u = sut.x[i].to(torch::kFloat64);
    const auto g = sut.out[i].to(torch::kFloat64);
    auto expected = u + double{scales[at]} * (g - u);
    const auto rescaled = expected * (g.std() / expected.std());
    const double share = rescales[at];
    expected = share * rescaled + (1 - share) * expected;
    const auto apart =
      (mixed[i].to(torch::kFloat64) - expected).abs().max().item<double>();
    BOOST_TEST(apart < 1e-6 * expected.abs().max().item<double>());
  }
  const auto plain = guide_by_ops(sut.x, sut.out, scales, rescales, kept);
  BOOST_TEST(torch::allclose(mixed, plain, 1e-6, 1e-6));
  for (int64_t i : {0, 1, 3, 6, 7})
    BOOST_TEST(same_bits(mixed[i], plain[i]));
}

// The factor that the device computes is the one that the host computes.
BOOST_AUTO_TEST_CASE(a_rescale_on_the_device_has_the_bits_of_the_hosts) {
  const batch sut;
  const std::vector<float> scales{1, 7.5f, 3, 0, 12, 5, 2, 9};
  const std::vector<float> none(8, 0);
  const std::vector<float> rescales{0, 0.1f, 0.7f, 0, 1, 0.3f, 0.9f, 0};
  const auto mixed = guide_by_ops(sut.x, sut.out, scales, none, kept);
  auto expected = mixed.clone();
  const auto deviation = [](const torch::Tensor& of) {
    return of.to(torch::kFloat64).std().item<double>();
  };
  for (int64_t i = 0; i < 8; ++i)
    if (const float share = rescales[static_cast<size_t>(i)]; share != 0)
      expected[i].mul_(
        rescale_factor(deviation(sut.out[i]), deviation(mixed[i]), share));
  BOOST_TEST(
    same_bits(guide_by_ops(sut.x, sut.out, scales, rescales, kept), expected));
  const auto zeros = torch::zeros({1, 4, 8, 8});
  const std::vector<float> one{1};
  BOOST_TEST(same_bits(guide_by_ops(zeros, zeros, one, one, kept), zeros));
}

BOOST_AUTO_TEST_CASE(numbers_arrive_whatever_was_brought_before) {
  step_numbers sut;
  const std::vector<float> three{1, 2, 3};
  const std::vector<float> five{4, 5, 6, 7, 8};
  for (const auto* values : {&three, &five, &three}) {
    const auto brought = sut.bring(*values, torch::kCPU);
    BOOST_TEST(same_bits(brought, torch::tensor(*values)));
  }
}

BOOST_AUTO_TEST_CASE(a_guided_row_has_its_bits_in_any_batch) {
  const batch sut{{4, 128, 128}};
  const std::vector<float> scales{1, 7.5f, 3, 0, 12, 5, 2, 9};
  const std::vector<float> rescales{0, 0, 0.7f, 0, 1, 0.3f, 0, 0};
  const auto all = guide(sut.x, sut.out, scales, rescales);
  for (int64_t i = 0; i < 8; ++i) {
    const auto at = static_cast<size_t>(i);
    const auto alone = guide(sut.x.narrow(0, i, 1), sut.out.narrow(0, i, 1),
                             std::span{scales}.subspan(at, 1),
                             std::span{rescales}.subspan(at, 1));
    BOOST_TEST(same_bits(alone, all.narrow(0, i, 1)));
  }
}

BOOST_AUTO_TEST_CASE(a_prediction_without_deviation_is_not_rescaled) {
  const auto zeros = torch::zeros({1, 4, 8, 8});
  const std::vector<float> one{1};
  BOOST_TEST(same_bits(guide(zeros, zeros, one, one), zeros));
}

BOOST_AUTO_TEST_SUITE_END()
