// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"
#include <atelier/gpu/models/files/tensor_collection.hpp>
#include <atelier/gpu/models/vae/latent_preview.hpp>

#include <boost/test/unit_test.hpp>
#include <torch/torch.h>

using namespace atelier;

namespace {

/// An autoencoder, and the numbers that its weights may be views of.
struct made_autoencoder {
  std::vector<torch::Tensor> numbers;
  std::unique_ptr<gpu::autoencoder> net;
};

/// Makes an autoencoder with small random weights.
made_autoencoder made(const std::string& class_name,
                      const std::string& config) {
  const auto box = test::tiny_tensors(class_name, config);
  auto weights = std::make_shared<gpu::detail::tensor_collection>("weights");
  made_autoencoder out;
  for (const auto& name : box.names()) {
    const auto& x = box[name];
    auto drawn = torch::empty(x.shape, torch::kFloat32);
    std::memcpy(drawn.data_ptr(), x.bytes.data(), x.bytes.size());
    if (x.shape.size() > 1)
      drawn.mul_(0.1);
    const auto* at = static_cast<const std::byte*>(drawn.data_ptr());
    out.numbers.push_back(drawn);
    weights->add(name, {x.type, x.shape, {at, x.bytes.size()}});
  }
  gpu::component part;
  part.class_name = class_name;
  part.config = config;
  part.config_file = "config.json";
  part.weights = weights;
  auto loaded = gpu::autoencoder::load(part, {torch::kCPU, torch::kFloat32});
  BOOST_REQUIRE_MESSAGE(loaded, (loaded ? "" : loaded.why().text));
  out.net = std::move(*loaded);
  return out;
}

/// Returns the decoded image as bytes, one pixel for each `factor` x `factor`.
torch::Tensor decoded(const gpu::autoencoder& from, const torch::Tensor& x0,
                      int64_t factor) {
  auto pixels = from.decode(x0.unsqueeze(0)).squeeze(0);
  if (factor > 1)
    pixels = torch::avg_pool2d(pixels, {factor, factor});
  return pixels.div(2).add(0.5).clamp(0, 1).mul(255).round().permute({1, 2, 0});
}

double correlation(const torch::Tensor& a, const torch::Tensor& b) {
  const auto both = torch::stack(
    {a.to(torch::kFloat64).flatten(), b.to(torch::kFloat64).flatten()});
  return torch::corrcoef(both)[0][1].item<double>();
}

} // namespace

BOOST_AUTO_TEST_SUITE(latent_preview_test)

BOOST_AUTO_TEST_CASE(a_slow_autoencoder_is_stood_in_for_by_a_linear_map) {
  const auto kept = made("AutoencoderKL", test::tiny_vae_config());
  const auto& vae = kept.net;
  const gpu::latent_preview sut{*vae};
  torch::manual_seed(1);
  // The latent is constant over some places, as in images.
  const auto x0 = torch::randn({4, 6, 5})
                    .repeat_interleave(4, 1)
                    .repeat_interleave(4, 2)
                    .contiguous();
  const auto drawn = sut.draw(x0, 10'000);
  BOOST_REQUIRE((drawn.sizes() == torch::IntArrayRef{24, 20, 3}));
  BOOST_CHECK(drawn.dtype() == torch::kUInt8);
  const auto alike = correlation(drawn, decoded(*vae, x0, 2));
  BOOST_TEST_MESSAGE("correlation with the decoded image " << alike);
  BOOST_TEST(alike > 0.5);
  // The same latent gives the same bytes, and another row's latent gives
  // others.
  BOOST_CHECK(sut.draw(x0, 10'000).equal(drawn));
  BOOST_CHECK(gpu::latent_preview{*vae}.draw(x0, 10'000).equal(drawn));
  BOOST_CHECK(!sut.draw(-x0, 10'000).equal(drawn));
  BOOST_CHECK(!sut.draw(x0, 24 * 20 - 1).defined());
}

BOOST_AUTO_TEST_CASE(a_tiny_autoencoder_decodes_and_is_made_to_fit) {
  const auto kept = made("AutoencoderTiny", R"({
    "encoder_block_out_channels": [8, 8], "decoder_block_out_channels": [8, 8],
    "num_encoder_blocks": [1, 1], "num_decoder_blocks": [1, 1]})");
  const auto& vae = kept.net;
  const gpu::latent_preview sut{*vae};
  torch::manual_seed(2);
  const auto x0 = torch::randn({4, 8, 6});
  const auto whole = sut.draw(x0, 16 * 12);
  BOOST_REQUIRE((whole.sizes() == torch::IntArrayRef{16, 12, 3}));
  BOOST_CHECK(whole.to(torch::kFloat32).equal(decoded(*vae, x0, 1)));
  const auto half = sut.draw(x0, 16 * 12 - 1);
  BOOST_REQUIRE((half.sizes() == torch::IntArrayRef{8, 6, 3}));
  BOOST_CHECK(half.to(torch::kFloat32).equal(decoded(*vae, x0, 2)));
  BOOST_CHECK(!sut.draw(x0, 0).defined());
}

BOOST_AUTO_TEST_SUITE_END()
