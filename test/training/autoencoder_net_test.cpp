// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/vae/autoencoder.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/networks/autoencoder_net.hpp>
#include <atelier/training/networks/initialise.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(trained_autoencoder)

namespace {

torch::Tensor some_pixels() {
  return torch::linspace(-1, 1, 2 * 3 * 32 * 32)
    .sin()
    .mul(7)
    .cos()
    .view({2, 3, 32, 32});
}

// Returns the serving network with the weights of the learning one.
std::unique_ptr<autoencoder> serving(const autoencoder_net& from) {
  component what;
  what.config = autoencoder_config_text();
  what.config_file = "config.json";
  what.class_name = "AutoencoderKL";
  what.weights = std::make_shared<module_state>(state_of(from));
  auto out = autoencoder::load(what, {});
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  return std::move(*out);
}

double difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

} // namespace

BOOST_AUTO_TEST_CASE(it_computes_what_the_serving_network_does) {
  const torch::NoGradGuard guard;
  autoencoder_net sut{family_autoencoder()};
  // No weight may be zero, so that an error in any layer shows.
  draw_parameters(sut, 3);
  const auto other = serving(sut);
  const auto pixels = some_pixels();
  const auto code = sut.encode(pixels);
  const auto expected = other->encode(pixels);
  BOOST_TEST(difference(code.mean, expected.mean) < 1e-4);
  BOOST_TEST(difference(code.log_variance, expected.log_variance) < 1e-4);
  BOOST_TEST(difference(sut.decode(code.mean), other->decode(code.mean))
             < 1e-4);
}

BOOST_AUTO_TEST_CASE(folding_scales_latents_and_changes_no_image) {
  const torch::NoGradGuard guard;
  autoencoder_net sut{family_autoencoder()};
  draw_parameters(sut, 4);
  const auto pixels = some_pixels();
  const auto before = sut.encode(pixels);
  const auto image = sut.decode(before.mean);
  const auto mean = before.mean.mean({0, 2, 3});
  const auto deviation = before.mean.transpose(0, 1).flatten(1).std(1);
  sut.fold(mean, deviation);
  const auto after = sut.encode(pixels);
  BOOST_TEST(difference(after.mean.mean({0, 2, 3}), torch::zeros({4})) < 1e-4);
  BOOST_TEST(
    difference(after.mean.transpose(0, 1).flatten(1).std(1), torch::ones({4}))
    < 1e-4);
  BOOST_TEST(
    difference((before.log_variance / 2).exp() / deviation.view({1, 4, 1, 1}),
               (after.log_variance / 2).exp())
    < 1e-4);
  BOOST_TEST(difference(sut.decode(after.mean), image) < 1e-4);
}

BOOST_AUTO_TEST_CASE(a_seed_draws_the_same_weights_again) {
  autoencoder_net a{family_autoencoder()}, b{family_autoencoder()};
  a.draw(5);
  b.draw(5);
  const auto x = state_of(a), y = state_of(b);
  for (const auto& [name, value] : x)
    BOOST_TEST(torch::equal(value, y.at(name)), name);
  b.draw(6);
  BOOST_TEST(!torch::equal(x.at("encoder.conv_in.weight"),
                           state_of(b).at("encoder.conv_in.weight")));
}

BOOST_AUTO_TEST_CASE(colours_come_through_before_anything_is_learned) {
  const torch::NoGradGuard guard;
  autoencoder_net sut{family_autoencoder()};
  sut.draw(7);
  const auto code_of = [&](double red) {
    auto x = torch::zeros({1, 3, 32, 32});
    // A norm over an image of one colour would leave nothing of it.
    x.narrow(3, 0, 16).select(1, 0).fill_(red);
    return sut.encode(x).mean;
  };
  BOOST_TEST(difference(code_of(-.8), code_of(.8)) > .1);
}

BOOST_AUTO_TEST_SUITE_END()
