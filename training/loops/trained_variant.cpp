// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/denoiser_data.hpp>
#include <atelier/training/loops/denoiser_figures.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/loops/sampler_run.hpp>
#include <atelier/training/loops/shapes.hpp>
#include <atelier/training/loops/trained_variant.hpp>

#include <fstream>
#include <iterator>

namespace atelier::gpu {

bool is_trained(const training_config& config, training_part part) {
  std::error_code error;
  return std::filesystem::exists(config.folder / std::string{to_string(part)}
                                   / "weights.safetensors",
                                 error);
}

std::string weights_hash(const training_config& config, training_part part) {
  const auto file = trained_weights(config, part);
  std::ifstream in{file, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  if (!in)
    throw model_error{
      core::fail(core::ec::io_failed, "cannot read {}", file.string())};
  return core::sha256_hex(bytes);
}

std::shared_ptr<autoencoder_net> trained_autoencoder(
  const training_config& config, torch::Device where) {
  auto out = std::make_shared<autoencoder_net>(autoencoder_shape(config.scale));
  read_network(*out, trained_weights(config, training_part::vae));
  out->to(where);
  for (auto& x : out->parameters())
    x.set_requires_grad(false);
  return out;
}

torch::Tensor caption_ids(const std::vector<std::string>& captions) {
  std::vector<int64_t> ids;
  for (const auto& x : captions) {
    const auto row = encode_caption(x, family_tokens).ids;
    ids.insert(ids.end(), row.begin(), row.end());
  }
  return torch::tensor(ids, torch::kInt64).view({-1, int64_t{family_tokens}});
}

trained_variant::trained_variant(const training_config& config,
                                 training_part part, torch::Device where)
  : config_(config),
    part_(part),
    where_(where),
    text_(std::make_shared<text_encoder_net>(text_encoder_shape(config.scale))),
    unet_(std::make_shared<unet_net>(denoiser_shape(part, config.scale))) {
  const auto file = trained_weights(config, part);
  read_network(*text_, file, "text_encoder.");
  read_network(*unet_, file, "unet.");
  text_->to(where);
  unet_->to(where);
}

torch::Tensor trained_variant::states(const torch::Tensor& ids) const {
  const torch::NoGradGuard guard;
  const mixed_precision faster{where_};
  return text_->forward(ids).states;
}

torch::Tensor trained_variant::predict(const torch::Tensor& x,
                                       const torch::Tensor& t,
                                       const torch::Tensor& states) const {
  const torch::NoGradGuard guard;
  const mixed_precision faster{where_};
  return unet_->forward(x, t, states).to(torch::kFloat32);
}

std::vector<std::pair<std::string, torch::Tensor>> trained_variant::
  text_weights() const {
  std::vector<std::pair<std::string, torch::Tensor>> out;
  for (const auto& x : text_->named_parameters())
    out.emplace_back("text_encoder." + x.key(), x.value());
  return out;
}

std::shared_ptr<unet_net> trained_variant::copy_denoiser() const {
  auto out = std::make_shared<unet_net>(denoiser_shape(part_, config_.scale));
  read_network(*out, trained_weights(config_, part_), "unet.");
  out->to(where_);
  return out;
}

torch::Tensor trained_variant::draw(const torch::Tensor& ids,
                                    const torch::Tensor& noise, uint32_t steps,
                                    float guidance) const {
  const torch::NoGradGuard guard;
  const mixed_precision faster{where_};
  auto plan = plan_sampler(family_scheduler(),
                           {.sampler = core::sampler::ddim, .steps = steps});
  if (!plan)
    throw model_error{plan.why()};
  sampler_run run;
  run.plan = std::move(*plan);
  run.context = text_->forward(ids.to(where_)).states;
  if (guidance != 1)
    run.unsaid = text_->forward(caption_ids({""}).to(where_)).states;
  run.guidance = guidance;
  return run_sampler(
    [this](const torch::Tensor& x, const torch::Tensor& t,
           const torch::Tensor& context) {
      return unet_->forward(x, t, context);
    },
    noise.to(where_), run);
}

} // namespace atelier::gpu
