// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/prompt_classifier_net.hpp>

namespace atelier::gpu {

using namespace detail;

prompt_classifier_net::prompt_classifier_net(
  const prompt_classifier_config& config,
  std::optional<at::Generator> generator)
  : text_(std::make_shared<text_encoder_net>(config.text, generator)) {
  const first_weights from{std::move(generator)};
  for (const auto& part : text_->named_children())
    register_module(part.key(), part.value());
  classifier_ = make_layer<linear_net>(
    *this, "classifier", config.text.hidden_size, config.levels, from);
}

torch::Tensor prompt_classifier_net::forward(const torch::Tensor& ids) {
  return (*classifier_)(text_->forward(ids).pooled);
}

} // namespace atelier::gpu
