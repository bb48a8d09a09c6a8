// SPDX-License-Identifier: Apache-2.0
#include "configs.hpp"
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/samplers/detail/sigma_curve.hpp>
#include <atelier/gpu/samplers/detail/timesteps.hpp>
#include <atelier/gpu/samplers/noise_schedule.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

namespace {

std::string digest(const std::vector<float>& values) {
  return core::sha256_hex(std::as_bytes(std::span{values}));
}

std::vector<float> products(const scheduler_config& config) {
  const auto out = alphas_cumprod(config, core::sampler::ddim);
  BOOST_REQUIRE(out);
  return std::vector<float>(out->begin(), out->end());
}

} // namespace

BOOST_AUTO_TEST_SUITE(noise_schedule_test)

// Source: torch.linspace(dtype=torch.float32) of PyTorch 2.13.0.
BOOST_AUTO_TEST_CASE(linspace_has_the_bits_of_pytorch) {
  BOOST_TEST(digest(linspace_f32(0.0001f, 0.02f, 1000))
             == "a455de8584c2913e90719b1668c1a4eb"
                "0d1e08d8614ad8edaefd5b5f8e5eb140");
  const auto first = static_cast<float>(std::sqrt(0.00085));
  const auto last = static_cast<float>(std::sqrt(0.012));
  BOOST_TEST(digest(linspace_f32(first, last, 37))
             == "5bb6dd206a90e6c770ecb4ca4d1ce0ec"
                "0156b84404a02e7665438ab86f3e03c9");
  BOOST_TEST((linspace_f32(3, 5, 1) == std::vector<float>{3}));
}

// Source: DDIMScheduler(...).alphas_cumprod of diffusers 0.42 on PyTorch
// 2.13.0.
BOOST_AUTO_TEST_CASE(products_have_the_bits_of_diffusers) {
  BOOST_TEST(digest(products(test::stable_diffusion()))
             == "b0c6833c866f3aae5d58606971a42979"
                "31251d8ed9c31d9a8b849e13ca14e3b6");
  BOOST_TEST(digest(products({}))
             == "b5555536933367c4ad73b4e972e1701b"
                "8cf631f368d370f1f05c23c5881f1994");
  scheduler_config cosine;
  cosine.betas = beta_schedule::squaredcos_cap_v2;
  const auto sut = products(cosine);
  // The cosine depends on the platform.
  const auto near = boost::test_tools::tolerance(1e-5f);
  BOOST_TEST(sut[0] == 0x1.fffa96p-1f, near);
  BOOST_TEST(sut[500] == 0x1.f81992p-2f, near);
  BOOST_TEST(sut[999] == 0x1.4dcd84p-29f, near);
}

BOOST_AUTO_TEST_CASE(rescaled_products_end_at_0_and_keep_their_first) {
  auto config = test::stable_diffusion();
  const auto plain = products(config);
  config.rescale_betas_zero_snr = true;
  const auto sut = products(config);
  BOOST_TEST(sut[999] == 0);
  BOOST_TEST(sut[0] == plain[0], boost::test_tools::tolerance(1e-6f));
  for (size_t i = 1; i < sut.size(); ++i)
    BOOST_REQUIRE(sut[i] < sut[i - 1]);
}

BOOST_AUTO_TEST_CASE(halves_are_rounded_as_numpy_rounds_them) {
  const auto sut = trailing_timesteps(1000, 48);
  BOOST_TEST(sut[3] == 936);
  BOOST_TEST(sut[9] == 811);
  BOOST_TEST(
    (leading_timesteps(250, 4, 0, 1) == std::vector<double>{751, 501, 251, 1}));
  BOOST_TEST((linspace_timesteps(10, 4) == std::vector<double>{9, 6, 3, 0}));
}

BOOST_AUTO_TEST_CASE(curve_is_read_in_both_directions) {
  const std::vector<double> alphas{0.9, 0.5, 0.2};
  const sigma_curve sut{alphas};
  BOOST_TEST(sut.at(1) == 1);
  BOOST_TEST(sut.at(-3) == sut.smallest());
  BOOST_TEST(sut.at(7) == sut.largest());
  BOOST_TEST(sut.at(1.5) == 1.5);
  BOOST_TEST(sut.timestep_of(1) == 1);
  BOOST_TEST(sut.timestep_of(std::sqrt(2.0)) == 1.5,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(sut.timestep_of(0) == 0);
  BOOST_TEST(sut.timestep_of(100) == 2);
}

BOOST_AUTO_TEST_CASE(no_signal_is_taken_as_sigma_4096) {
  const std::vector<double> alphas{0.9, 0};
  BOOST_TEST(sigma_curve{alphas}.largest() == 4096,
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_SUITE_END()
