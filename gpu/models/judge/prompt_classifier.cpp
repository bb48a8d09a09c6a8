// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/model_folder.hpp>
#include <atelier/gpu/models/files/detail/part_checks.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/prompt_classifier.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_net.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>
#include <atelier/gpu/models/weights.hpp>

#include <torch/torch.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;

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
      const auto read = words_->encode(prompt, tokens_);
      auto ids =
        torch::empty({1, static_cast<int64_t>(read.ids.size())}, torch::kInt64);
      std::ranges::copy(read.ids, ids.data_ptr<int64_t>());
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

/// Returns the bytes of all tensors.
double stored_bytes(const tensor_source& x) {
  double out = 0;
  for (const auto& name : x.names())
    out += static_cast<double>(x.find(name)->bytes.size());
  return out;
}

} // namespace

core::result<std::shared_ptr<const prompt_classifier>> load_prompt_classifier(
  const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  const auto text = detail::read_text(file, detail::most_config_bytes);
  if (!text)
    return text.why();
  const auto config = read_prompt_classifier_config(*text, file.string());
  if (!config)
    return config.why();
  const auto files = detail::find_tokenizer(folder);
  if (!files)
    return files.why();
  if (!*files)
    return fail(ec::not_found, "{}: there is no tokenizer", folder.string());
  auto words = detail::load_words(**files, &config->encoder);
  if (!words)
    return words.why();
  const auto weights = safetensors_file::open(folder / "model.safetensors");
  if (!weights)
    return weights.why();
  // Whoever writes a large number into a small file takes no memory by it.
  if (parameters_of(config->shape) > stored_bytes(**weights))
    return fail(ec::bad_payload, "{}: fewer bytes than {} has parameters",
                (*weights)->where(), config->encoder.config_file);
  return with_model_border(
    work_of_all, [&]() -> std::shared_ptr<const prompt_classifier> {
      auto network = std::make_shared<prompt_classifier_net>(config->shape);
      load_state(*network, **weights);
      network->eval();
      return std::make_shared<loaded_classifier>(
        config->levels,
        static_cast<uint32_t>(config->shape.text.max_position_embeddings),
        std::move(*words), std::move(network));
    });
}

} // namespace atelier::gpu
