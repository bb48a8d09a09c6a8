// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/latent_mask.hpp>

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace atelier;
using gpu::detail::latent_mask;

namespace {

/// Returns a mask of `side` x `side` pixels with a rectangle set.
torch::Tensor mask_of(int64_t side, const std::vector<int64_t>& from,
                      const std::vector<int64_t>& to) {
  auto out = torch::zeros({1, side, side});
  out.slice(1, from[0], to[0]).slice(2, from[1], to[1]).fill_(1);
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(latent_mask_test)

BOOST_AUTO_TEST_CASE(a_mask_is_that_of_diffusers_where_it_is_thick) {
  const auto mask = mask_of(64, {11, 5}, {45, 50});
  const auto sut = latent_mask(mask, 8, 8);
  BOOST_TEST(
    sut.equal(mask.slice(1, 0, 64, 8).slice(2, 0, 64, 8).contiguous()));
}

BOOST_AUTO_TEST_CASE(a_stroke_between_the_sampled_pixels_is_kept) {
  // Seven rows of pixels, of which none is the first of a cell.
  auto sut = latent_mask(mask_of(64, {17, 8}, {24, 56}), 8, 8);
  auto wanted = torch::zeros({1, 8, 8});
  wanted.select(1, 2).slice(1, 1, 7).fill_(1);
  BOOST_TEST(sut.equal(wanted));
  // A dot, and a thin line across all cells of the diagonal.
  sut = latent_mask(mask_of(64, {35, 35}, {36, 36}), 8, 8);
  BOOST_TEST(sut.sum().item<float>() == 1.0f);
  BOOST_TEST(sut[0][4][4].item<float>() == 1.0f);
  auto line = torch::zeros({1, 64, 64});
  for (int64_t i = 0; i < 61; ++i)
    line[0][i + 3][i] = 1;
  sut = latent_mask(line, 8, 8);
  for (int64_t i = 0; i < 8; ++i)
    BOOST_TEST(sut[0][i][i].item<float>() == 1.0f, i);
  // Nothing is added where nothing is masked.
  BOOST_TEST(latent_mask(torch::zeros({1, 64, 64}), 8, 8).sum().item<float>()
             == 0.0f);
}

BOOST_AUTO_TEST_SUITE_END()
