// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/judge_input.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/prompt_classifier.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_config.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_net.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <utility>

namespace atelier::gpu {

namespace {

constexpr auto work_of_all = "the prompt classifier";

class loaded_classifier final : public prompt_classifier {
public:
  loaded_classifier(std::vector<std::string> levels, uint32_t tokens,
                    std::shared_ptr<const tokenizer> words,
                    std::shared_ptr<prompt_classifier_net> network)
    : levels_(std::move(levels)),
      tokens_(tokens),
      words_(std::move(words)),
      network_(std::move(network)) {}

  const std::vector<std::string>& levels() const override {
    return levels_;
  }

  core::result<std::vector<float>> qualities(
    std::string_view prompt) const override {
    return with_model_border(work_of_all, [&] {
      const torch::NoGradGuard guard;
      const auto ids = judge_tokens(*words_, prompt, tokens_);
      const auto said = network_->forward(ids).sigmoid().contiguous();
      const auto* const first = said.const_data_ptr<float>();
      return std::vector<float>{first, first + said.numel()};
    });
  }

private:
  std::vector<std::string> levels_;
  uint32_t tokens_;
  std::shared_ptr<const tokenizer> words_;
  std::shared_ptr<prompt_classifier_net> network_;
};

} // namespace

core::result<std::shared_ptr<const prompt_classifier>> load_prompt_classifier(
  const std::filesystem::path& folder) {
  auto files = open_prompt_classifier(folder);
  if (!files)
    return files.why();
  auto& config = files->config;
  return with_model_border(
    work_of_all, [&]() -> std::shared_ptr<const prompt_classifier> {
      auto network = std::make_shared<prompt_classifier_net>(config.shape);
      load_state(*network, *files->weights);
      network->eval();
      return std::make_shared<loaded_classifier>(
        config.levels,
        static_cast<uint32_t>(config.shape.text.max_position_embeddings),
        std::move(files->words), std::move(network));
    });
}

} // namespace atelier::gpu
