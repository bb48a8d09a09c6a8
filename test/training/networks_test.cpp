// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/clip/clip_text.hpp>
#include <atelier/gpu/models/judge/discriminator_net.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_net.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>
#include <atelier/gpu/models/judge/text_encoder_net.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/unet/unet.hpp>
#include <atelier/gpu/models/vae/autoencoder.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/networks/tiny_decoder_net.hpp>
#include <atelier/training/networks/unet_net.hpp>

#include <ATen/autocast_mode.h>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(networks_test)

namespace {

at::Generator generator(uint64_t seed) {
  return at::make_generator<at::CPUGeneratorImpl>(seed);
}

// Makes the weights look trained: none stays 0 or 1.
void spread(torch::nn::Module& network, uint64_t seed) {
  const torch::NoGradGuard guard;
  auto from = generator(seed);
  for (auto& x : network.parameters())
    if (x.dim() <= 1)
      x.add_(torch::randn(x.sizes(), from) * 0.1);
}

component component_of(const torch::nn::Module& network, std::string config,
                       std::string class_name) {
  component out;
  out.config = std::move(config);
  out.config_file = "config.json";
  out.class_name = std::move(class_name);
  out.weights = std::make_shared<module_state>(state_of(network));
  return out;
}

// Returns the network, or ends the test with the error.
template <class T>
T loaded(core::result<T> x) {
  if (!x)
    BOOST_FAIL(core::to_string(x.why()));
  return std::move(*x);
}

double relative_difference(const torch::Tensor& x, const torch::Tensor& from) {
  return (x - from).abs().max().item<double>()
       / from.abs().max().item<double>();
}

void expect_gradients(const torch::nn::Module& of) {
  for (const auto& x : of.named_parameters()) {
    const auto& gradient = x.value().grad();
    BOOST_REQUIRE_MESSAGE(gradient.defined(), x.key() << " has no gradient");
    const auto sum = gradient.abs().sum().item<double>();
    BOOST_TEST(std::isfinite(sum), x.key());
    BOOST_TEST(sum > 0, x.key());
  }
}

torch::Tensor some_ids(int64_t rows) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < rows; ++i)
    for (const auto id :
         encode_caption(i % 2 == 0 ? "a large red circle on a white background"
                                   : "star, small heart, grey background",
                        family_tokens)
           .ids)
      all.push_back(id);
  return torch::tensor(all).view({rows, family_tokens});
}

constexpr family_member members[] = {family_member::base, family_member::small,
                                     family_member::tiny, family_member::turbo};

} // namespace

BOOST_AUTO_TEST_CASE(a_denoiser_in_training_is_the_one_that_serves) {
  auto from = generator(5);
  for (const auto member : members) {
    unet_net network{family_unet(member), generator(1)};
    spread(network, 2);
    const auto served = loaded(unet::load(
      component_of(network, unet_config_text(member), "UNet2DConditionModel"),
      {}));
    const auto latents = torch::randn({2, 4, 16, 16}, from);
    const auto times = torch::tensor({999.f, 40.f});
    const auto context = torch::randn({2, family_tokens, 128}, from);
    const torch::NoGradGuard guard;
    const auto expected = network.forward(latents, times, context);
    unet_input in;
    in.sample = latents;
    in.timestep = times;
    in.context = context;
    const auto found = served->forward(in);
    BOOST_TEST(relative_difference(found, expected) < 1e-4, to_string(member));
    BOOST_TEST(expected.std().item<double>() > 0.01);
  }
}

BOOST_AUTO_TEST_CASE(gradients_reach_every_parameter_of_text_and_denoiser) {
  auto from = generator(6);
  for (const auto member : members) {
    unet_net network{family_unet(member), generator(1)};
    text_encoder_net words{family_text_encoder(), generator(2)};
    const auto text = words.forward(some_ids(4));
    const auto out = network.forward(
      torch::randn({4, 4, 16, 16}, from),
      torch::tensor({1, 300, 700, 999}, torch::kInt64), text.states);
    (out - torch::randn(out.sizes(), from)).square().mean().backward();
    expect_gradients(network);
    expect_gradients(words);
  }
}

BOOST_AUTO_TEST_CASE(the_text_encoder_in_training_is_the_one_that_serves) {
  text_encoder_net network{family_text_encoder(), generator(3)};
  spread(network, 4);
  const auto served = loaded(clip_text::load(
    component_of(network, text_encoder_config_text(), "CLIPTextModel"), {}));
  const auto ids = some_ids(3);
  const torch::NoGradGuard guard;
  const auto expected = network.forward(ids);
  const auto found = served->forward(ids);
  BOOST_TEST(relative_difference(found.last, expected.states) < 1e-4);
  BOOST_TEST(relative_difference(found.pooled, expected.pooled) < 1e-4);
  BOOST_TEST(relative_difference(expected.pooled[0], expected.pooled[1])
             > 0.01);
}

BOOST_AUTO_TEST_CASE(the_preview_decoder_in_training_is_the_one_that_serves) {
  tiny_autoencoder_net network{family_tiny_autoencoder(), generator(3)};
  const auto pixels = torch::rand({2, 3, 64, 64}, generator(1)) * 2 - 1;
  const auto latents = network.encode(pixels);
  const auto back = network.decode(latents);
  BOOST_TEST(latents.sizes() == torch::IntArrayRef({2, 4, 8, 8}));
  back.square().mean().backward();
  expect_gradients(network);
  const auto served = loaded(autoencoder::load(
    component_of(network, tiny_autoencoder_config_text(), "AutoencoderTiny"),
    {}));
  BOOST_TEST(relative_difference(served->encode(pixels).mean, latents.detach())
             < 1e-4);
  BOOST_TEST(
    relative_difference(served->decode(latents.detach()), back.detach())
    < 1e-4);
}

BOOST_AUTO_TEST_CASE(gradients_reach_every_parameter_of_the_judges) {
  auto from = generator(8);
  const auto pixels = torch::rand({4, 3, 128, 128}, from) * 2 - 1;
  scorer_net scorer{family_scorer(), generator(1)};
  const auto images = scorer.embed_images(pixels);
  const auto texts = scorer.embed_texts(some_ids(4));
  scorer.contrastive_loss(images, texts).backward();
  expect_gradients(scorer);
  BOOST_TEST(std::abs(images.norm(2, -1).sum().item<double>() - 4) < 1e-4);
  const auto seen = scorer.look(pixels);
  BOOST_TEST(torch::equal(scorer.project(seen.pooled), images));
  BOOST_TEST(seen.patches.sizes()
             == torch::IntArrayRef({4, 64, family_scorer().width}));
  BOOST_TEST(scorer.contrastive_loss(images, images).item<double>()
             < scorer.contrastive_loss(images, images.flip(0)).item<double>());

  // Pairs that are neither right nor wrong do not count.
  const auto own = torch::eye(4, torch::kBool);
  BOOST_TEST(std::abs(scorer
                        .contrastive_loss(
                          images, torch::stack({texts, texts}, 1).flatten(0, 1),
                          torch::stack(
                            {torch::zeros_like(own), torch::ones_like(own)}, 2)
                            .flatten(1))
                        .item<double>()
                      - scorer.contrastive_loss(images, texts).item<double>())
             < 1e-5);

  discriminator_net judge{family_discriminator(), generator(2)};
  const auto evidence = judge.evidence(pixels, some_ids(4)).detach();
  BOOST_TEST(evidence.sizes()
             == torch::IntArrayRef({4, judge.evidence_size()}));
  const auto verdicts = judge.judge(evidence);
  BOOST_TEST(verdicts.sizes() == torch::IntArrayRef({4}));
  BOOST_TEST(torch::equal(judge.forward(pixels, some_ids(4)), verdicts));
  // The first value of the evidence is the scorer's product.
  BOOST_TEST(torch::allclose(evidence.select(1, 0),
                             (judge.towers().embed_images(pixels)
                              * judge.towers().embed_texts(some_ids(4)))
                                 .sum(1)
                               * std::sqrt(128.0),
                             1e-4, 1e-4));
  verdicts.square().sum().backward();
  for (const auto& x : judge.named_parameters())
    if (!x.key().starts_with("towers."))
      BOOST_TEST(x.value().grad().abs().max().item<double>() > 0, x.key());

  prompt_classifier_net reader{family_prompt_classifier(), generator(3)};
  const auto classes = reader.forward(some_ids(4));
  BOOST_TEST(classes.sizes() == torch::IntArrayRef({4, 5}));
  torch::nn::functional::cross_entropy(
    classes, torch::tensor({0, 1, 2, 0}, torch::kInt64))
    .backward();
  expect_gradients(reader);
}

BOOST_AUTO_TEST_CASE(first_weights_follow_the_generator_alone) {
  const auto all = [](at::Generator from) {
    unet_net network{family_unet(family_member::tiny), std::move(from)};
    return torch::nn::utils::parameters_to_vector(network.parameters());
  };
  BOOST_TEST(torch::equal(all(generator(1)), all(generator(1))));
  BOOST_TEST(!torch::equal(all(generator(1)), all(generator(2))));
}

BOOST_AUTO_TEST_CASE(half_the_precision_gives_nearly_the_same_gradient) {
  auto from = generator(7);
  unet_net network{family_unet(family_member::tiny), generator(1)};
  const auto latents = torch::randn({4, 4, 16, 16}, from);
  const auto times = torch::tensor({1.f, 300.f, 700.f, 999.f});
  const auto context = torch::randn({4, family_tokens, 128}, from);
  const auto gradient = [&] {
    network.zero_grad();
    network.forward(latents, times, context)
      .to(torch::kFloat32)
      .square()
      .mean()
      .backward();
    std::vector<torch::Tensor> all;
    for (const auto& x : network.parameters())
      all.push_back(x.grad().to(torch::kFloat32).flatten());
    return torch::cat(all);
  };
  const auto cosine = [](const torch::Tensor& x, const torch::Tensor& y) {
    return torch::cosine_similarity(x, y, 0).item<double>();
  };
  const auto whole = gradient();
  at::autocast::set_autocast_enabled(torch::kCPU, true);
  at::autocast::set_autocast_dtype(torch::kCPU, torch::kBFloat16);
  const auto mixed = gradient();
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(torch::kCPU, false);
  BOOST_TEST(cosine(whole, mixed) > 0.99);
  network.to(torch::kBFloat16);
  BOOST_TEST((network
                .forward(latents.to(torch::kBFloat16), times,
                         context.to(torch::kBFloat16))
                .scalar_type()
              == torch::kBFloat16));
}

BOOST_AUTO_TEST_CASE(a_state_comes_back_from_a_copy) {
  unet_net one{family_unet(family_member::tiny), generator(1)};
  unet_net other{family_unet(family_member::tiny), generator(2)};
  const module_state copy{state_of(one)};
  const auto first = torch::nn::utils::parameters_to_vector(one.parameters());
  {
    const torch::NoGradGuard guard;
    for (auto& x : one.parameters())
      x.zero_();
  }
  load_state(other, copy);
  BOOST_TEST(torch::equal(
    first, torch::nn::utils::parameters_to_vector(other.parameters())));
  text_encoder_net words{family_text_encoder(), generator(2)};
  BOOST_CHECK_THROW(load_state(words, copy), model_error);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_trained_is_refused_by_name) {
  auto config = family_unet(family_member::tiny);
  config.time_cond_proj_dim = 32;
  BOOST_CHECK_EXCEPTION(
    unet_net{config}, model_error, [](const model_error& x) {
      return x.why().text.find("time_cond_proj_dim") != std::string::npos;
    });
  BOOST_CHECK_THROW(tiny_autoencoder_net{family_autoencoder()}, model_error);
}

BOOST_AUTO_TEST_SUITE_END()
