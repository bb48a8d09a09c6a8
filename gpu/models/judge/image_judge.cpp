// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/image_judge.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/judge_folder.hpp>
#include <atelier/gpu/models/judge/judge_input.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <utility>

namespace atelier::gpu {

core::result<std::shared_ptr<image_judge>> image_judge::load(
  const std::filesystem::path& folder, torch::Device where) {
  auto parts =
    open_family_judge(folder, discriminator_config_text(), "discriminator");
  if (!parts)
    return parts.why();
  return with_model_border("a judge of images", [&] {
    auto network = std::make_shared<discriminator_net>(family_discriminator());
    load_state(*network, *parts->weights);
    network->to(where);
    network->eval();
    return std::shared_ptr<image_judge>{
      new image_judge{std::move(parts->words), std::move(network), where}};
  });
}

image_judge::image_judge(std::shared_ptr<const tokenizer> words,
                         std::shared_ptr<discriminator_net> network,
                         torch::Device where)
  : words_(std::move(words)), network_(std::move(network)), where_(where) {}

double image_judge::score(const torch::Tensor& pixels,
                          std::string_view prompt) const {
  const torch::NoGradGuard guard;
  const auto x =
    judge_pixels(pixels, where_, family_discriminator().towers.side);
  const auto ids = judge_tokens(*words_, prompt, family_tokens);
  return network_->forward(x, ids.to(where_)).sigmoid().item<double>();
}

} // namespace atelier::gpu
