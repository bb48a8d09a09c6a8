// SPDX-License-Identifier: Apache-2.0
// Networks whose results are no numbers, as an overflow in float16 leaves them.
#include "../models/tiny_model.hpp"
#include "model_bench.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace atelier;

namespace {

using limits = std::numeric_limits<float>;

/// Sets all numbers of a tensor.
void fill(test::tensor_box& of, const std::string& name, float with) {
  const auto shape = of[name].shape;
  size_t count = 1;
  for (const auto side : shape)
    count *= static_cast<size_t>(side);
  of.add(name, shape, std::vector<float>(count, with));
}

bool says(const core::error& x, const std::string& what) {
  return x.text.find(what) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(not_numbers_test)

BOOST_AUTO_TEST_CASE(an_image_of_values_that_are_not_numbers_is_a_failure) {
  for (const auto value :
       {limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) {
    test::tiny_folder model;
    fill(model.vae, "decoder.conv_out.bias", value);
    model.vae.write(model.path / "vae" / "diffusion_pytorch_model.safetensors");
    test::model_bench sut{model.path};
    const auto x = sut.job(test::recipe_of(core::sampler::euler));
    sut.device->open(x);
    sut.device->run({{x.ticket}, core::steps_to_run(x.recipe)});
    BOOST_TEST(sut.ran.take().rows.at(0).failure.text == "");
    sut.device->decode(x.ticket);
    const auto made = sut.decoded.take();
    BOOST_TEST((made.failure.code == core::ec::internal), value);
    BOOST_TEST(
      says(made.failure, "the image holds values that are not numbers"),
      made.failure.text);
  }
}

BOOST_AUTO_TEST_CASE(a_state_of_values_that_are_not_numbers_is_not_published) {
  test::tiny_folder model;
  fill(model.unet, "conv_out.bias", limits::quiet_NaN());
  model.write_unet(model.unet);
  test::model_bench sut{model.path};
  const auto x = sut.job(test::recipe_of(core::sampler::euler));
  sut.device->open(x);
  sut.device->run({{x.ticket}, core::steps_to_run(x.recipe)});
  const auto did = sut.ran.take();
  const auto& why = did.rows.at(0).failure;
  BOOST_TEST((why.code == core::ec::internal));
  BOOST_TEST(
    says(why, "the latent holds values that are not numbers after 1 steps"),
    why.text);
  BOOST_TEST(test::taken(sut.slots->published(x.state)) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
