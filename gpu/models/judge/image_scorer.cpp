// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/image_scorer.hpp>
#include <atelier/gpu/models/judge/judge_folder.hpp>
#include <atelier/gpu/models/judge/judge_input.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <cmath>
#include <cstring>
#include <utility>

namespace atelier::gpu {

namespace {

constexpr std::string_view scorer_part = "the scorer of images";

class loaded_image_scorer final : public image_scorer {
public:
  loaded_image_scorer(std::shared_ptr<const tokenizer> words,
                      std::shared_ptr<scorer_net> network)
    : words_(std::move(words)), network_(std::move(network)) {}

  core::result<double> score(std::span<const uint8_t> rgb, core::extent px,
                             std::string_view prompt) const override {
    return with_model_border(scorer_part, [&] {
      const torch::NoGradGuard guard;
      const auto cosine = (look(rgb, px) * read(prompt)).sum().item<double>();
      TORCH_CHECK(std::isfinite(cosine), "the score is ", cosine);
      return cosine;
    });
  }

private:
  /// Returns the image's unit vector, [1, projection].
  torch::Tensor look(std::span<const uint8_t> rgb, core::extent px) const {
    auto bytes = torch::empty({px.height, px.width, 3}, torch::kUInt8);
    TORCH_CHECK(static_cast<size_t>(bytes.numel()) == rgb.size(),
                "an image of ", px.width, "x", px.height, " pixels has ",
                rgb.size(), " bytes");
    std::memcpy(bytes.data_ptr<uint8_t>(), rgb.data(), rgb.size());
    return network_->embed_images(judge_pixels(
      bytes.permute({2, 0, 1}), torch::kCPU, family_scorer().side));
  }

  /// Returns the prompt's unit vector, [1, projection].
  torch::Tensor read(std::string_view prompt) const {
    return network_->embed_texts(judge_tokens(*words_, prompt, family_tokens));
  }

  const std::shared_ptr<const tokenizer> words_;
  const std::shared_ptr<scorer_net> network_;
};

} // namespace

core::result<std::shared_ptr<const image_scorer>> load_image_scorer(
  const std::filesystem::path& folder) {
  auto parts = open_family_judge(folder, scorer_config_text(), "scorer");
  if (!parts)
    return parts.why();
  return with_model_border(scorer_part, [&] {
    auto network = std::make_shared<scorer_net>(family_scorer());
    load_state(*network, *parts->weights);
    network->eval();
    return std::shared_ptr<const image_scorer>{
      std::make_shared<loaded_image_scorer>(std::move(parts->words),
                                            std::move(network))};
  });
}

} // namespace atelier::gpu
